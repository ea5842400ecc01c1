/*
 * vector.c: see vector.h. Arrays grow by half of their size, at most by some
 * megabytes: the kernel moves page tables, not pages, so steps may be small.
 * The recorder only.
 */
#include "cli/recorder/base/vector.h"

#include <assert.h>

#include "cli/base/try_alloc.h"
#include "preload/base/base.h"

#define VECTOR_FIRST 4096
#define VECTOR_STEP (UINT64_C(4) << 20)

bool vector_more(struct vector *vector, uint64_t bytes)
{
	uint64_t step = base_min(vector->ready / 2, VECTOR_STEP);
	uint64_t to = base_max(vector->ready + step, VECTOR_FIRST);
	char *at;

	assert(vector->ready <= vector->max);
	assert((vector->at == NULL) == (vector->ready == 0));
	if (bytes > vector->max)
		return false;
	to = base_min(base_max(to, bytes), vector->max);
	at = try_alloc_pages(vector->at, vector->ready, to);
	if (!at)
		return false;
	vector->at = at;
	vector->ready = to;
	assert(vector->ready >= bytes && vector->ready <= vector->max);
	return true;
}
