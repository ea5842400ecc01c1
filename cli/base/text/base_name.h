/*
 * base_name.h: the part of a path after its last slash, or the whole path
 * without one.
 */
#ifndef GNOMON_BASE_NAME_H
#define GNOMON_BASE_NAME_H

#include <string.h>

static inline const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash != NULL ? slash + 1 : path;
}

#endif
