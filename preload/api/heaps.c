/*
 * heaps.c: see heaps.h.
 *
 * The table is a mapping of its own, made for the first heap: unlike the area
 * it stays in a forked child, as do the numbers in the program's variables.
 *
 *	name[place]     copied by who needs a number, before anybody sees it
 *	place[number]   0 ──▶ place, by compare-and-swap
 *
 * I1: numbers are given in order: behind one without a place there are only
 *     such.
 * I2: a name is complete before it has a number, and constant then. So who
 *     finds a number taken in the last moment knows whether it is by the same
 *     name, and nobody waits for anybody. What it copied itself is not needed
 *     then; it is lost if another thread has taken the next place by then, or
 *     a fork, or a jump, leaves the copy behind.
 * I3: what has a number is copied into the live mapping before whoever got the
 *     number uses it: by that thread itself, with all that come before. Two
 *     threads that copy one name write the same bytes to the same place.
 */
#include "preload/api/heaps.h"

#include <stdatomic.h>
#include <string.h>

#include "preload/base/ban.h"
#include "preload/base/sys.h"
#include "preload/ring/recorder.h"

#define HEAPS_PLACES (2 * GL_HEAPS_MAX)	/* some are lost (I2) */

struct heaps_table {
	_Atomic uint32_t places;		/* taken so far */
	_Atomic uint32_t place[GL_HEAPS_MAX];	/* [0] is never used */
	char name[HEAPS_PLACES][GL_HEAP_NAME];	/* nor is this [0] */
};

static _Atomic(struct heaps_table *) heaps_table;

static struct heaps_table *heaps_make(void)
{
	struct heaps_table *none = NULL, *table;
	long made;

	if (!unwind_may(SECCOMP_NO_FILES))
		return NULL;
	made = sys_mmap(NULL, sizeof(*table), PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (sys_failed(made))
		return NULL;
	table = (struct heaps_table *)made;
	/* refused: then it is in core dumps, which does no harm */
	sys_madvise(table, sizeof(*table), MADV_DONTDUMP);
	/* pairs with the acquire of heaps_get */
	if (atomic_compare_exchange_strong_explicit(
		    &heaps_table, &none, table, memory_order_acq_rel,
		    memory_order_acquire))
		return table;
	/* another thread was first, and memory that was just made goes */
	sys_munmap(table, sizeof(*table));
	return none;
}

static uint32_t heaps_room(const struct gl_shared *shared)
{
	/* pairs with the release of writer_limit: the pages are there */
	return atomic_load_explicit(&shared->heap_limit, memory_order_acquire);
}

static struct heaps_table *heaps_get(void)
{
	return atomic_load_explicit(&heaps_table, memory_order_acquire);
}

/* A place with this name in it; 0: there is none left. */
static uint32_t heaps_copy(struct heaps_table *table, const char *name)
{
	uint32_t place = atomic_fetch_add_explicit(&table->places, 1,
						   memory_order_relaxed) + 1;

	if (place >= HEAPS_PLACES) {
		atomic_fetch_sub_explicit(&table->places, 1,
					  memory_order_relaxed);
		return 0;
	}
	/* it may be one that was given back */
	memset(table->name[place], 0, sizeof(table->name[place]));
	memcpy(table->name[place], name,
	       base_min(strlen(name), HEAPS_NAME_MAX));
	return place;
}

/* If nobody has taken another one since. */
static void heaps_give_back(struct heaps_table *table, uint32_t place)
{
	atomic_compare_exchange_strong_explicit(&table->places, &place,
						place - 1,
						memory_order_relaxed,
						memory_order_relaxed);
}

/* All up to this one that the writer does not know yet: whoever is about to
 * say it may be late (I3). */
static void heaps_tell(const struct heaps_table *table, uint32_t last)
{
	struct gl_shared *shared;
	uint32_t named, end, i;

	/* pairs with that of recorder_tell: who numbers it sees what is
	 * shared, or who starts sees the number */
	atomic_thread_fence(memory_order_seq_cst);
	shared = recorder ? recorder->shared : NULL;
	if (!shared)
		return;
	named = atomic_load_explicit(&shared->heaps_named,
				     memory_order_acquire);
	if (last <= named)
		return;
	if (last >= heaps_room(shared))
		recorder_want_heaps(shared, last + 1);
	end = base_min(last + 1, heaps_room(shared));
	for (i = named + 1; i < end; i++)
		memcpy(shared->heap_name[i],
		       table->name[atomic_load_explicit(&table->place[i],
							memory_order_acquire)],
		       HEAPS_NAME_MAX);
	/* pairs with the acquire of emit_heap_flush */
	while (named + 1 < end && !atomic_compare_exchange_weak_explicit(
					  &shared->heaps_named, &named,
					  end - 1, memory_order_release,
					  memory_order_relaxed))
		;
}

void heaps_tell_all(void)
{
	const struct heaps_table *table = heaps_get();
	uint32_t last = 0;

	atomic_thread_fence(memory_order_seq_cst);
	while (table && last + 1 < GL_HEAPS_MAX &&
	       atomic_load_explicit(&table->place[last + 1],
				    memory_order_acquire))
		last++;
	if (last)
		heaps_tell(table, last);
}

static uint32_t heaps_number(struct heaps_table *table, const char *name)
{
	uint32_t i, own = 0, place;

	for (i = 1; i < GL_HEAPS_MAX; i++) {
		place = atomic_load_explicit(&table->place[i],
					     memory_order_acquire);
		if (!place && !own && !(own = heaps_copy(table, name)))
			return 0;
		/* pairs with the acquires here and in heaps_tell (I2) */
		if (!place && atomic_compare_exchange_strong_explicit(
				      &table->place[i], &place, own,
				      memory_order_acq_rel,
				      memory_order_acquire))
			return i;
		if (strncmp(table->name[place], name, HEAPS_NAME_MAX) == 0)
			break;
	}
	if (own)
		heaps_give_back(table, own);
	return i < GL_HEAPS_MAX ? i : 0;
}

uint32_t heaps_create(const char *name)
{
	struct heaps_table *table = heaps_get();
	uint32_t heap;

	if (!table && !(table = heaps_make()))
		return 0;
	heap = heaps_number(table, name);
	if (heap)
		heaps_tell(table, heap);
	return heap;
}
