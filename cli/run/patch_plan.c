/*
 * patch_plan.c: see patch_plan.h.
 *
 *	path ─▶ (script: its interpreter) ─▶ the file, and each library it
 *	needs ─▶ patch_plan_image ─▶ bytes ─▶ text
 */
#include "cli/run/patch_plan.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/base/grow.h"
#include "cli/base/terminal/log.h"
#include "cli/run/patch_plan_file.h"
#include "cli/run/patch_plan_image.h"
#include "cli/run/patch_plan_libraries.h"

#define SCRIPT_LINE 256		/* bytes of "#! interpreter", as in Linux */
#define SCRIPTS_MAX 4		/* an interpreter may be a script */
#define ARGUMENTS_MAX 16	/* arguments checked */

/* The interpreter of a script, to be freed; NULL: not a script. */
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
	char *path = grow_copy(program, strlen(program)), *real;

	for (unsigned i = 0; i < SCRIPTS_MAX; i++) {
		char *interpreter = script_interpreter(path);

		if (interpreter == NULL)
			break;
		free(path);
		path = interpreter;
	}
	/* $ORIGIN is the file's directory, not that of a link to it */
	real = realpath(path, NULL);
	if (real == NULL)
		return path;
	free(path);
	return real;
}

/* Whether the file is the C library or the loader, whose allocator functions
 * are hooked, not patched. */
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

/* Plans a program and its libraries. Takes ownership of the path. */
static void patch_plan_program(struct buffer *plan, char *path, bool reports,
			       struct patch_plan_libraries *files)
{
	struct patch_plan_libraries libraries = { 0 };

	GROW(libraries.paths, libraries.path_count, libraries.path_capacity);
	libraries.paths[libraries.path_count++] = path;
	for (size_t i = 0; i < libraries.path_count; i++) {
		const char *at = libraries.paths[i];
		struct patch_plan_file file;

		if (i > 0 && is_system(at))
			continue;
		/* without a loader, our library is not preloaded */
		if (patch_plan_file_open(&file, at) &&
		    (i > 0 || file.interpreter != NULL)) {
			patch_plan_image(plan, &file, at, i == 0, reports);
			patch_plan_libraries_add(&libraries, &file, i);
		}
		patch_plan_file_close(&file);
	}
	patch_plan_libraries_move(&libraries, files);
}

static char *usable(char *path)
{
	struct stat status;
	char *real = stat(path, &status) == 0 && S_ISREG(status.st_mode) &&
		access(path, X_OK) == 0 ? realpath(path, NULL) : NULL;

	free(path);
	return real;
}

/* The path of a program of this name; NULL: none. */
static char *find_program(const char *name)
{
	const char *list = getenv("PATH");
	char *found = NULL;

	if (strchr(name, '/') != NULL)
		return usable(grow_copy(name, strlen(name)));
	while (found == NULL && list != NULL && *list != 0) {
		size_t length = strcspn(list, ":");

		found = usable(grow_format("%.*s/%s", (int)length, list,
					   name));
		list += length + (list[length] != 0);
	}
	return found;
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

static void put_check(struct buffer *plan)
{
	uint64_t check = patch_hash(plan->data, plan->size);

	buffer_add(plan, (const char *)&check, sizeof(check));
}

char *patch_plan_make(const char *program, char *const *arguments,
		      struct patch_plan_libraries *files)
{
	static const char version = PATCH_VERSION;
	char *text = NULL, *path = executed(program);
	struct buffer plan = { 0 };

	buffer_add(&plan, &version, 1);
	patch_plan_program(&plan, path, true, files);
	for (unsigned i = 0; i < ARGUMENTS_MAX && arguments[i] != NULL; i++) {
		char *other = find_program(arguments[i]);
		size_t before = plan.size;

		if (other == NULL)
			continue;
		patch_plan_program(&plan, other, false, files);
		/* the program to run has precedence over its arguments */
		if (plan.size >= PATCH_BYTES_MAX - PATCH_CHECK)
			plan.size = before;
	}
	if (plan.size > 1) {
		put_check(&plan);
		if (plan.size <= PATCH_BYTES_MAX)
			text = encode(&plan);
		else
			log_note("%s: has too many static allocators to "
				 "patch: their allocations are not "
				 "recorded", program);
	}
	buffer_free(&plan);
	return text;
}
