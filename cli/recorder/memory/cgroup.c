/*
 * cgroup.c: see cgroup.h.
 */
#include "cli/recorder/memory/cgroup.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "cli/recorder/base/pathname.h"
#include "cli/recorder/base/proc_file.h"

#define CGROUP_TEXT_MAX 1024
#define CGROUP_UNLIMITED (UINT64_C(1) << 60)	/* version 1 uses huge numbers
						 * for no limit */

static const char *cgroup_limit_file(const struct cgroup *cgroup)
{
	return cgroup->v1 ? "/memory.limit_in_bytes" : "/memory.max";
}

/* Reads a file in the directory named by the first n bytes of dir. */
static long cgroup_read(const struct cgroup *cgroup, size_t n,
			const char *name, char *to, size_t size)
{
	char path[GT_PATH_MAX + 32];
	bool fits = pathname_print(path, sizeof(path), "%.*s%s", (int)n,
				   cgroup->dir, name);

	return fits ? proc_file_read(path, to, size) : -1;
}

static bool cgroup_is_there(const struct cgroup *cgroup)
{
	char text[CGROUP_TEXT_MAX];

	return cgroup_read(cgroup, strlen(cgroup->dir), cgroup->v1 ?
			   "/memory.usage_in_bytes" : "/memory.current",
			   text, sizeof(text)) > 0;
}

/* Whether a list of controllers, separated by commas and ended by a colon, has
 * "memory". */
static bool cgroup_controls(const char *list)
{
	while (*list && *list != ':') {
		if (strncmp(list, "memory", 6) == 0 &&
		    (list[6] == ',' || list[6] == ':'))
			return true;
		list += strcspn(list, ",:");
		list += *list == ',';
	}
	return false;
}

/* The path in a line "4:memory:/a/b" of version 1, or "0::/a/b" of version 2;
 * NULL: the line is of another controller. */
static const char *cgroup_path(const char *line, bool *v1)
{
	const char *list = strchrnul(line, ':');
	const char *path = *list ? strchrnul(list + 1, ':') : list;

	if (!*path)
		return NULL;
	*v1 = path != list + 1;
	return !*v1 || cgroup_controls(list + 1) ? path + 1 : NULL;
}

/* Tries a mount point, with the path and without it. */
static bool cgroup_try(struct cgroup *cgroup, const char *root,
		       const char *mount, const char *path, size_t n)
{
	bool fits = pathname_print(cgroup->dir, sizeof(cgroup->dir), "%s%s%.*s",
				   root, mount, n > 1 ? (int)n : 0, path);

	cgroup->top = strlen(root) + strlen(mount);
	assert(cgroup->top < sizeof(cgroup->dir));
	if (fits && cgroup_is_there(cgroup))
		return true;
	cgroup->dir[cgroup->top] = '\0';
	return n > 1 && cgroup_is_there(cgroup);
}

bool cgroup_find(struct cgroup *cgroup, const char *root, const char *lines)
{
	for (; *lines; lines += *lines == '\n') {
		const char *path = cgroup_path(lines, &cgroup->v1);

		lines = strchrnul(lines, '\n');
		if (!path || path > lines)
			continue;
		if (cgroup_try(cgroup, root, cgroup->v1 ? "/memory" : "",
			       path, lines - path) ||
		    (!cgroup->v1 && cgroup_try(cgroup, root, "/unified", path,
					       lines - path)))
			return true;
	}
	cgroup->dir[0] = '\0';
	return false;
}

uint64_t cgroup_limit(const struct cgroup *cgroup)
{
	size_t n = strlen(cgroup->dir);
	uint64_t min = 0;

	while (n && n >= cgroup->top) {
		char text[CGROUP_TEXT_MAX];
		uint64_t limit = 0;

		if (cgroup_read(cgroup, n, cgroup_limit_file(cgroup), text,
				sizeof(text)) > 0)
			limit = strtoull(text, NULL, 10);	/* "max": 0 */
		if (limit && limit < CGROUP_UNLIMITED &&
		    (!min || limit < min))
			min = limit;
		do
			n--;
		while (n > cgroup->top && cgroup->dir[n] != '/');
	}
	return min;
}

bool cgroup_events(const struct cgroup *cgroup, uint64_t *count)
{
	char text[CGROUP_TEXT_MAX];
	const char *at = text;

	if (!cgroup->dir[0] ||
	    cgroup_read(cgroup, strlen(cgroup->dir), cgroup->v1 ?
			"/memory.failcnt" : "/memory.events", text,
			sizeof(text)) <= 0)
		return false;
	*count = 0;
	if (cgroup->v1) {
		*count = strtoull(text, NULL, 10);
		return true;
	}
	/* lines of a word and a number; "low" is no sign of pressure */
	while (*at) {
		bool counts = strncmp(at, "low ", 4) != 0;

		at = strchrnul(at, ' ');
		*count += counts ? strtoull(at, NULL, 10) : 0;
		at = strchrnul(at, '\n');
		at += *at == '\n';
	}
	return true;
}
