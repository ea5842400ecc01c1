/*
 * static_files.h: the files of the page (cli/serve/page/), which mk/page.mk put
 * into the command.
 */
#ifndef GNOMON_STATIC_FILES_H
#define GNOMON_STATIC_FILES_H

#include <stdbool.h>

struct static_file {
	const char *name;	/* "serve.js", as in its URL */
	const char *text;	/* ends with a NUL */
};

/* Whether there is a page: without one, it was left out of the build. */
bool static_files_there(void);
/* By the name in its URL; "" is the page itself. NULL: there is none. */
const struct static_file *static_files_find(const char *name);
/* Its type, as HTTP has it. */
const char *static_files_type(const struct static_file *file);

#endif
