/*
 * profiler_ranges.c: see profiler_ranges.h. The target's ranges are untrusted:
 * they only mark mappings in the trace.
 */
#include "cli/recorder/memory/profiler_ranges.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "preload/base/base.h"
#include "unwind/base/assertion.h"

static int profiler_ranges_order(const void *a, const void *b)
{
	const struct gl_range *x = (const struct gl_range *)a;
	const struct gl_range *y = (const struct gl_range *)b;

	return (x->start > y->start) - (x->start < y->start);
}

static void profiler_ranges_join(struct profiler_ranges *own)
{
	unsigned i, last = 0;

	for (i = 1; i < own->count; i++) {
		struct gl_range *to = &own->range[last];
		const struct gl_range *range = &own->range[i];

		if (range->start > to->end)
			own->range[++last] = *range;
		else if (range->end > to->end)
			to->end = range->end;
	}
	if (own->count)
		own->count = last + 1;
}

#ifdef GNOMON_DEBUG_ASSERTS
bool profiler_ranges_is_valid(const struct profiler_ranges *own)
{
	unsigned i;

	for (i = 0; i < own->count && i <= GL_OWN; i++)
		if (own->range[i].start >= own->range[i].end ||
		    (i && own->range[i].start <= own->range[i - 1].end))
			return false;
	return own->count <= GL_OWN + 1;
}
#endif

static void profiler_ranges_sort(struct profiler_ranges *own)
{
	qsort((void *)own->range, own->count, sizeof(*own->range),
	      profiler_ranges_order);
	profiler_ranges_join(own);
	DEBUG_ASSERT(profiler_ranges_is_valid(own));
}

void profiler_ranges_find(struct profiler_ranges *own,
			  const struct gl_shared *shared)
{
	unsigned i;

	own->count = 0;
	for (i = 0; i < GL_OWN; i++) {
		/* pairs with the release of gl_own_put */
		uint64_t size = atomic_load_explicit(&shared->own[i].size,
						     memory_order_acquire);
		uint64_t at = atomic_load_explicit(&shared->own[i].at,
						   memory_order_relaxed);

		if (size && at + size > at)
			own->range[own->count++] = (struct gl_range){
				at, at + size
			};
	}
	DEBUG_ASSERT(own->count <= GL_OWN);
	profiler_ranges_sort(own);
}

void profiler_ranges_put(struct profiler_ranges *own, struct gl_range range)
{
	if (range.start >= range.end || own->count > GL_OWN)
		return;
	own->range[own->count++] = range;
	profiler_ranges_sort(own);
}

bool profiler_ranges_cut(const struct profiler_ranges *own, uint64_t start,
			 uint64_t *end)
{
	unsigned i;

	for (i = 0; i < own->count; i++) {
		const struct gl_range *range = &own->range[i];

		if (range->end <= start)
			continue;
		if (range->start <= start) {
			*end = base_min(*end, range->end);
			return true;
		}
		*end = base_min(*end, range->start);
		return false;
	}
	return false;
}

bool profiler_ranges_have(const struct profiler_ranges *own, uint64_t start,
			  uint64_t end)
{
	unsigned i;

	for (i = 0; i < own->count; i++)
		if (start >= own->range[i].start && end <= own->range[i].end)
			return true;
	return false;
}
