/*
 * result.h: turns a C library result of -1 into -errno.
 */
#ifndef GNOMON_RESULT_H
#define GNOMON_RESULT_H

#include <errno.h>

static inline long result_of(long result)
{
	return result == -1 ? -errno : result;
}

#endif
