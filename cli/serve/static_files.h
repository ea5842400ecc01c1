/*
 * static_files.h: the files of the web page (cli/serve/page/), which mk/page.mk
 * embeds in the command.
 */
#ifndef GNOMON_STATIC_FILES_H
#define GNOMON_STATIC_FILES_H

#include <stdbool.h>

struct static_file {
	const char *name;	/* "serve.js", as in its URL */
	const char *text;	/* NUL-terminated */
};

/* Whether the build includes the page. */
bool static_files_there(void);
/* By the name in its URL; "" is the page. NULL: no such file. */
const struct static_file *static_files_find(const char *name);
/* Its MIME type. */
const char *static_files_type(const struct static_file *file);

#endif
