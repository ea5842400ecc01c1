/*
 * last_part.h: the part of a path after its last slash, or the whole path
 * without one.
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
