/*
 * last_part.h: what is behind the last slash of a path; all of it, if it has
 * none.
 */
#ifndef GNOMON_LAST_PART_H
#define GNOMON_LAST_PART_H

#include <string.h>

static inline const char *last_part(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash != NULL ? slash + 1 : path;
}

#endif
