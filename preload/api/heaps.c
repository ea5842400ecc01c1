/*
 * heaps.c: see heaps.h.
 *
 * The table is static data: unlike the area it survives in a forked child, as
 * do the numbers in the program's variables.
 *
 *	name[place]     copied by a thread before others can see it
 *	place[number]   0 ──▶ place, by compare-and-swap
 *
 * I1: numbers are assigned in order: after a number without a place, no number
 * has one. I2: a name is complete before it has a number, and constant then. So
 * a thread that loses the race for a number can compare the winner's name with
 * its own, and no thread waits. If they are equal, its own copy is unused and
 * lost. I3: a heap with a number is copied into the live mapping before the
 * caller uses the number: by that thread itself, with all heaps before it. Two
 * threads that copy one name write the same bytes to the same address.
 */
#include "preload/api/heaps.h"

#include <stdatomic.h>
#include <string.h>

#include "preload/ring/producer.h"

#define HEAPS_PLACES (2 * GL_HEAPS_MAX)	/* some are lost (I2) */

static _Atomic uint32_t heaps_places;		/* used so far */
static _Atomic uint32_t heaps_place[GL_HEAPS_MAX];	/* [0] is never used */
static char heaps_name[HEAPS_PLACES][GL_HEAP_NAME];	/* nor is this [0] */

static uint32_t heaps_room(const struct gl_shared *shared)
{
	/* pairs with the release of recorder_limit: the pages are there */
	return atomic_load_explicit(&shared->heap_limit, memory_order_acquire);
}

/* A new place with this name in it; 0: none is left. */
static uint32_t heaps_copy(const char *name)
{
	uint32_t place = atomic_load_explicit(&heaps_places,
					      memory_order_relaxed);

	do {
		if (place + 1 == HEAPS_PLACES)
			return 0;
	} while (!atomic_compare_exchange_weak_explicit(
		&heaps_places, &place, place + 1, memory_order_relaxed,
		memory_order_relaxed));
	DEBUG_ASSERT(place + 1 < HEAPS_PLACES);
	memcpy(heaps_name[place + 1], name,
	       base_min(strlen(name), HEAPS_NAME_MAX));
	return place + 1;
}

static uint32_t heaps_place_of(uint32_t heap)
{
	return atomic_load_explicit(&heaps_place[heap], memory_order_acquire);
}

/* Copies all heaps up to this one that the recorder does not know yet: a thread
 * that is about to copy them may be late (I3). */
static void heaps_report(uint32_t last)
{
	struct gl_shared *shared;
	uint32_t named, end, i;

	/* pairs with the fence of recorder_report: either this thread sees
	 * `shared`, or the thread that starts the recorder sees the number */
	atomic_thread_fence(memory_order_seq_cst);
	shared = producer ? producer->shared : NULL;
	if (!shared)
		return;
	DEBUG_ASSERT(heaps_place_of(last)); /* I1 */
	named = atomic_load_explicit(&shared->heaps_named,
				     memory_order_acquire);
	if (last <= named)
		return;
	if (last >= heaps_room(shared))
		recorder_want_heaps(shared, last + 1);
	end = base_min(last + 1, heaps_room(shared));
	for (i = named + 1; i < end; i++)
		memcpy(shared->heap_name[i], heaps_name[heaps_place_of(i)],
		       HEAPS_NAME_MAX);
	/* pairs with the acquire of emit_heap_flush */
	while (named + 1 < end && !atomic_compare_exchange_weak_explicit(
					  &shared->heaps_named, &named,
					  end - 1, memory_order_release,
					  memory_order_relaxed))
		;
}

void heaps_report_all(void)
{
	uint32_t last = 0;

	atomic_thread_fence(memory_order_seq_cst);
	while (last + 1 < GL_HEAPS_MAX && heaps_place_of(last + 1))
		last++;
	if (last)
		heaps_report(last);
}

static uint32_t heaps_number(const char *name)
{
	uint32_t i, own = 0, place;

	for (i = 1; i < GL_HEAPS_MAX; i++) {
		place = heaps_place_of(i);
		if (!place && !own && !(own = heaps_copy(name)))
			return 0;
		/* pairs with the acquire of heaps_place_of (I2) */
		if (!place && atomic_compare_exchange_strong_explicit(
				      &heaps_place[i], &place, own,
				      memory_order_acq_rel,
				      memory_order_acquire))
			return i;
		DEBUG_ASSERT(place);
		if (strncmp(heaps_name[place], name, HEAPS_NAME_MAX) == 0)
			return i;
	}
	return 0;
}

uint32_t heaps_create(const char *name)
{
	uint32_t heap = heaps_number(name);

	if (heap)
		heaps_report(heap);
	return heap;
}
