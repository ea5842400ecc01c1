/*
 * vector.h: growable arrays with a size limit, for data that grows with the
 * recording. The recorder only.
 */
#ifndef GNOMON_VECTOR_H
#define GNOMON_VECTOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Starts zeroed, with `max` set. */
struct vector {
	char *at;		/* moves when the array grows */
	uint64_t ready;		/* usable bytes; zeroed at first */
	uint64_t max;		/* limit, in bytes */
};

/* Makes at least `bytes` of the array usable. False: over the limit, or no
 * memory; the array is unchanged. */
bool vector_more(struct vector *vector, uint64_t bytes);

static inline bool vector_reach(struct vector *vector, uint64_t bytes)
{
	return bytes <= vector->ready || vector_more(vector, bytes);
}

#endif
