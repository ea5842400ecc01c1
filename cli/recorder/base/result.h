/*
 * result.h: what a function of the C library returned, as functions of the
 * recorder say it: -errno in case of failure.
 */
#ifndef GNOMON_RESULT_H
#define GNOMON_RESULT_H

#include <errno.h>

static inline long result_of(long result)
{
	return result == -1 ? -errno : result;
}

#endif
