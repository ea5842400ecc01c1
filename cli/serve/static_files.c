/*
 * static_files.c: see static_files.h. The table static_files.def is made by
 * mk/page.mk. No state.
 */
#include "cli/serve/static_files.h"

#include <string.h>

#include "cli/command/page.h"

#define PAGE "serve.html"

#define STATIC_FILE(number, file)					\
	PAGE_FILE(static_file_##number, file);				\
	extern const char static_file_##number[];
#include <static_files.def>
#undef STATIC_FILE

static const struct static_file files[] = {
#define STATIC_FILE(number, file) { file, static_file_##number },
#include <static_files.def>
#undef STATIC_FILE
	{ NULL, NULL }
};

static const struct {
	const char *end, *type;
} types[] = {
	{ ".html", "text/html; charset=utf-8" },
	{ ".css", "text/css; charset=utf-8" },
	{ ".js", "text/javascript; charset=utf-8" },
	{ ".svg", "image/svg+xml" },
	{ NULL, "text/plain; charset=utf-8" },
};

bool static_files_there(void)
{
	return files[0].name != NULL;
}

const struct static_file *static_files_find(const char *name)
{
	if (name[0] == 0)
		name = PAGE;
	for (const struct static_file *file = files; file->name; file++)
		if (strcmp(file->name, name) == 0)
			return file;
	return NULL;
}

const char *static_files_type(const struct static_file *file)
{
	const char *end = strrchr(file->name, '.');
	size_t i = 0;

	while (types[i].end != NULL &&
	       (end == NULL || strcmp(types[i].end, end) != 0))
		i++;
	return types[i].type;
}
