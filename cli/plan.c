/*
 * plan.c: see plan.h.
 *
 *	path ─▶ (script: its interpreter) ─▶ the file, and each library it
 *	needs ─▶ plan_image ─▶ bytes ─▶ text
 */
#include "cli/plan.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/base/grow.h"
#include "cli/base/tell.h"
#include "cli/plan_file.h"
#include "cli/plan_image.h"
#include "cli/plan_libraries.h"

#define SCRIPT_LINE 256		/* bytes of "#! interpreter", as in Linux */
#define SCRIPTS_MAX 4		/* one may be run by another */

/* The interpreter of a script, to be freed; NULL: it is none. */
static char *script_interpreter(const char *path)
{
	char line[SCRIPT_LINE + 1];
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	ssize_t n = fd < 0 ? -1 : read(fd, line, SCRIPT_LINE);
	size_t start;

	if (fd >= 0)
		close(fd);
	if (n < 3 || line[0] != '#' || line[1] != '!')
		return NULL;
	line[n] = 0;
	start = 2 + strspn(line + 2, " \t");
	return grow_copy(line + start, strcspn(line + start, " \t\r\n"));
}

static char *executed(const char *program)
{
	char *path = grow_copy(program, strlen(program));

	for (unsigned i = 0; i < SCRIPTS_MAX; i++) {
		char *interpreter = script_interpreter(path);

		if (interpreter == NULL)
			break;
		free(path);
		path = interpreter;
	}
	return path;
}

/* The C library and the loader have functions of these names, and no other. */
static bool is_system(const char *path)
{
	const char *slash = strrchr(path, '/');
	const char *name = slash ? slash + 1 : path;

	return strncmp(name, "libc.", 5) == 0 ||
		strncmp(name, "libc-", 5) == 0 ||
		strncmp(name, "ld-", 3) == 0 ||
		strncmp(name, "ld.so", 5) == 0 ||
		strncmp(name, "ld64", 4) == 0;
}

static void plan_all(struct buffer *plan, struct plan_libraries *libraries)
{
	for (size_t i = 0; i < libraries->path_count; i++) {
		const char *path = libraries->paths[i];
		struct plan_file file;

		if (i > 0 && is_system(path))
			continue;
		/* without an interpreter nothing of ours gets into it */
		if (plan_file_open(&file, path) &&
		    (i > 0 || file.interpreter != NULL)) {
			plan_image(plan, &file, path, i == 0);
			plan_libraries_add(libraries, &file, i);
		}
		plan_file_close(&file);
	}
}

static char *encode(const struct buffer *plan)
{
	static const char digits[] = PATCH_DIGITS;
	struct buffer text = { 0 };
	unsigned bits = 0, count = 0;

	for (size_t i = 0; i < plan->size; i++) {
		bits = (bits << 8 | (unsigned char)plan->data[i]) & 0xffff;
		for (count += 8; count >= 6; count -= 6)
			buffer_add(&text, digits + (bits >> (count - 6) & 63),
				   1);
	}
	if (count > 0)
		buffer_add(&text, digits + (bits << (6 - count) & 63), 1);
	return text.data;
}

char *plan_make(const char *program)
{
	struct plan_libraries libraries = { 0 };
	static const char version = PATCH_VERSION, end = PATCH_END;
	struct buffer plan = { 0 };
	char *text = NULL, *path = executed(program);

	GROW(libraries.paths, libraries.path_count, libraries.path_capacity);
	libraries.paths[libraries.path_count++] = path;
	buffer_add(&plan, &version, 1);
	plan_all(&plan, &libraries);
	if (plan.size > 1) {
		buffer_add(&plan, &end, 1);
		if (plan.size <= PATCH_BYTES_MAX)
			text = encode(&plan);
		else
			tell_note("%s: has more allocators than can be "
				  "patched: their allocations are not "
				  "recorded", path);
	}
	buffer_free(&plan);
	plan_libraries_free(&libraries);
	return text;
}
