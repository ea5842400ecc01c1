/*
 * embed_glob.c: see the header. A pattern is matched name by name. A name
 * without a special character is only appended, so that its directory must be
 * searchable, but not readable, as in a shell.
 *
 * I1: glob->path ends with a NUL, and each function restores it before it
 * returns.
 */
#include "cli/recorder/embed/embed_glob.h"

#include <dirent.h>
#include <string.h>
#include <unistd.h>

#include "unwind/base/assertion.h"

#define EMBED_GLOB_DEPTH 16	/* names with special characters in a pattern */
#define EMBED_GLOB_ENDS "/,"	/* ends of a name in a pattern */

static bool embed_glob_ends(char c)
{
	return c == '\0' || c == '/' || c == ',';
}

/* Matches c against a set [a-z!…]; p is after the opening bracket. *end: after
 * the set; NULL: it has no end. */
static bool embed_glob_set(const char *p, char c, const char **end)
{
	bool not = *p == '!' || *p == '^', in = false;
	const char *first;

	p += not;
	for (first = p; *p != ']' || p == first; p++) {
		char low = *p, high = *p;

		if (embed_glob_ends(*p)) {
			*end = NULL;
			return false;
		}
		if (p[1] == '-' && p[2] != ']' && !embed_glob_ends(p[2])) {
			high = p[2];
			p += 2;
		}
		in |= (unsigned char)c >= (unsigned char)low &&
		      (unsigned char)c <= (unsigned char)high;
	}
	*end = p + 1;
	return in != not;
}

/* Whether one character matches the pattern at *p; moves *p past that. */
static bool embed_glob_one(const char **p, char c)
{
	const char *end;
	bool in;

	if (**p == '?') {
		(*p)++;
		return true;
	}
	if (**p == '[') {
		in = embed_glob_set(*p + 1, c, &end);
		if (end) {
			*p = end;
			return in;
		}
	}
	if (**p == '\\' && !embed_glob_ends((*p)[1]))
		(*p)++;
	return *(*p)++ == c;
}

bool embed_glob_matches(const char *pattern, const char *name)
{
	const char *star = NULL, *back = NULL;

	if (*name == '.' && *pattern != '.')
		return false;
	while (*name) {
		if (*pattern == '*') {
			star = ++pattern;
			back = name;
		} else if (!embed_glob_ends(*pattern) &&
			   embed_glob_one(&pattern, *name)) {
			name++;
		} else if (star) {
			pattern = star;
			name = ++back;
		} else {
			return false;
		}
	}
	while (*pattern == '*')
		pattern++;
	return embed_glob_ends(*pattern);
}

static bool embed_glob_exists(const char *path)
{
	return access(path, F_OK) == 0;
}

static void embed_glob_found(struct embed_glob *glob, size_t n)
{
	if (n + 1 > EMBED_GLOB_BYTES - glob->used) {
		glob->full = true;
		return;
	}
	memcpy(glob->found + glob->used, glob->path, n + 1);
	glob->used += n + 1;
	DEBUG_ASSERT(glob->used <= EMBED_GLOB_BYTES);
}

static bool embed_glob_append(struct embed_glob *glob, size_t *n,
			      const char *from, size_t size)
{
	if (size >= sizeof(glob->path) - *n)
		return false;
	memcpy(glob->path + *n, from, size);
	*n += size;
	glob->path[*n] = '\0';
	return true;
}

static void embed_glob_walk(struct embed_glob *glob, const char *pattern,
			    size_t n, unsigned depth);

static void embed_glob_list(struct embed_glob *glob, DIR *directory,
			    const char *pattern, size_t n, unsigned depth)
{
	const char *rest = pattern + strcspn(pattern, EMBED_GLOB_ENDS);
	const struct dirent *entry;

	while (!glob->full && (entry = readdir(directory)) != NULL) {
		size_t end = n;

		if (glob->looks++ == EMBED_GLOB_LOOKS)
			glob->full = true;
		if (glob->full)
			return;
		if (embed_glob_matches(pattern, entry->d_name) &&
		    embed_glob_append(glob, &end, entry->d_name,
				      strlen(entry->d_name)))
			embed_glob_walk(glob, rest, end, depth + 1);
		glob->path[n] = '\0';
	}
}

static void embed_glob_open(struct embed_glob *glob, const char *pattern,
			    size_t n, unsigned depth)
{
	DIR *directory = opendir(glob->path);

	if (!directory)
		return;
	embed_glob_list(glob, directory, pattern, n, depth);
	closedir(directory);
}

static bool embed_glob_special(const char *pattern)
{
	return strcspn(pattern, "*?[\\") < strcspn(pattern, EMBED_GLOB_ENDS);
}

/* Matches the rest of a pattern below glob->path, which has n bytes. */
static void embed_glob_walk(struct embed_glob *glob, const char *pattern,
			    size_t n, unsigned depth)
{
	size_t before = n, size;
	bool fits = true;

	for (;;) {
		bool slash = *pattern == '/';

		while (*pattern == '/')
			pattern++;
		fits = !slash || embed_glob_append(glob, &n, "/", 1);
		if (!fits || embed_glob_ends(*pattern) ||
		    embed_glob_special(pattern))
			break;
		size = strcspn(pattern, EMBED_GLOB_ENDS);
		fits = embed_glob_append(glob, &n, pattern, size);
		if (!fits)
			break;
		pattern += size;
	}
	if (fits && embed_glob_ends(*pattern)) {
		/* a full name is passed on even if missing, so that this is
		 * reported */
		if (!depth || embed_glob_exists(glob->path))
			embed_glob_found(glob, n);
	} else if (fits && depth < EMBED_GLOB_DEPTH) {
		embed_glob_open(glob, pattern, n, depth);
	}
	DEBUG_ASSERT(before <= n && n < sizeof(glob->path));
	glob->path[before] = '\0';
}

void embed_glob_all(struct embed_glob *glob, const char *patterns)
{
	glob->looks = glob->used = 0;
	glob->full = false;
	while (*patterns) {
		size_t n = 0;

		glob->path[0] = '\0';
		if (*patterns != '/' &&
		    getcwd(glob->path, sizeof(glob->path) - 1) &&
		    glob->path[0] == '/') {
			n = strlen(glob->path);
			embed_glob_append(glob, &n, "/", glob->path[n - 1] != '/');
		}
		if (*patterns != ',')
			embed_glob_walk(glob, patterns, n, 0);
		patterns += strcspn(patterns, ",");
		patterns += *patterns == ',';
	}
}
