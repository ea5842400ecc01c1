/*
 * under_root.c: resolves a path component by component.
 *
 *	root   /srv/board
 *	done   /usr/lib			below the root, without links
 *	rest   libc.so.6/...		what is yet to be resolved
 */
#include "cli/symbol/files/under_root.h"

#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/base/grow.h"
#include "cli/base/text/buffer.h"

#define LINKS_MAX 40		/* as in the kernel */

/* One level up; the root stays the root. */
static void go_up(struct buffer *done)
{
	const char *slash = done->size ? strrchr(done->data, '/') : NULL;

	if (slash == NULL)
		return;
	done->size = (size_t)(slash - done->data);
	done->data[done->size] = 0;
}

/* The target of a link; the caller frees it. NULL: not a link. */
static char *read_link(const char *root, size_t root_size,
		       const struct buffer *done, const char *name, size_t size)
{
	char *path = grow_format("%.*s%s/%.*s", (int)root_size, root,
				 done->size ? done->data : "", (int)size, name);
	char target[PATH_MAX];
	ssize_t length = readlink(path, target, sizeof(target));

	free(path);
	return length <= 0 || (size_t)length == sizeof(target) ? NULL :
		grow_copy(target, (size_t)length);
}

/* Resolve the next component of `rest`. False: too many links. */
static bool step(const char *root, size_t root_size, struct buffer *done,
		 char **rest, unsigned *links)
{
	char *name = *rest + strspn(*rest, "/"), *link, *joined;
	size_t size = strcspn(name, "/");

	if (size == 2 && memcmp(name, "..", 2) == 0) {
		go_up(done);
	} else if (size > 1 || (size == 1 && name[0] != '.')) {
		link = read_link(root, root_size, done, name, size);
		if (link != NULL) {
			if (link[0] == '/')
				buffer_clear(done);
			joined = grow_format("%s/%s", link, name + size);
			free(link);
			free(*rest);
			*rest = joined;
			return ++*links <= LINKS_MAX;
		}
		buffer_string(done, "/");
		buffer_add(done, name, size);
	}
	memmove(*rest, name + size, strlen(name + size) + 1);
	return true;
}

char *under_root(const char *root, const char *path)
{
	char *rest = grow_copy(path, strlen(path)), *result = NULL;
	struct buffer done = { 0 };
	unsigned links = 0;
	bool whole = true;
	size_t size;

	if (root == NULL)
		return rest;
	for (size = strlen(root); size > 0 && root[size - 1] == '/'; size--)
		;
	while (whole && rest[strspn(rest, "/")] != 0)
		whole = step(root, size, &done, &rest, &links);
	if (whole)
		result = grow_format("%.*s%s", (int)size, root,
				     done.size ? done.data : "/");
	buffer_free(&done);
	free(rest);
	return result;
}
