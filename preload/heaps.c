/*
 * heaps.c: see heaps.h.
 *
 * The table is a mapping of its own, made for the first heap: unlike the area
 * it stays in a forked child, as do the numbers in the program's variables.
 *
 *	EMPTY ──▶ CLAIMED ──▶ READY
 *
 * I1: an entry's name is complete before it is READY, and constant then. Taken
 *     in order: behind an EMPTY one there are only such.
 * I2: one that stays CLAIMED, because its thread was not taken along by a
 *     fork, is nobody's for ever.
 */
#include "preload/heaps.h"

#include <stdatomic.h>
#include <string.h>

#include "preload/base.h"
#include "preload/seccomp.h"
#include "preload/sys.h"

enum { HEAPS_EMPTY, HEAPS_CLAIMED, HEAPS_READY };

struct heaps_entry {
	_Atomic uint32_t state;
	char name[HEAPS_NAME_MAX + 1];
};

struct heaps_table {
	_Atomic uint32_t count;	/* of entries that are, or soon will be, READY */
	struct heaps_entry entry[GL_HEAPS_MAX];	/* [0] is never used */
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

static struct heaps_table *heaps_get(void)
{
	return atomic_load_explicit(&heaps_table, memory_order_acquire);
}

static void heaps_fill(struct heaps_table *table, struct heaps_entry *entry,
		       const char *name)
{
	size_t length = strlen(name);

	memcpy(entry->name, name, base_min(length, HEAPS_NAME_MAX));
	/* first: whoever has the number has seen it READY, so the writer, who
	 * has seen an event of it, sees the count */
	atomic_fetch_add_explicit(&table->count, 1, memory_order_relaxed);
	/* pairs with the acquires of heaps_create and heaps_next (I1) */
	atomic_store_explicit(&entry->state, HEAPS_READY,
			      memory_order_release);
}

uint32_t heaps_create(const char *name)
{
	struct heaps_table *table = heaps_get();
	uint32_t i, state;

	if (!table && !(table = heaps_make()))
		return 0;
	for (i = 1; i < GL_HEAPS_MAX; i++) {
		struct heaps_entry *entry = &table->entry[i];

		state = atomic_load_explicit(&entry->state,
					     memory_order_acquire);
		if (state == HEAPS_EMPTY &&
		    atomic_compare_exchange_strong_explicit(
			    &entry->state, &state, HEAPS_CLAIMED,
			    memory_order_acquire, memory_order_acquire)) {
			heaps_fill(table, entry, name);
			return i;
		}
		if (state == HEAPS_READY &&
		    strncmp(entry->name, name, HEAPS_NAME_MAX) == 0)
			return i;
	}
	return 0;
}

uint32_t heaps_next(struct heaps_told *told, const char **name)
{
	struct heaps_table *table = heaps_get();
	uint32_t i, state;

	if (likely(!table))
		return 0;
	if (likely(atomic_load_explicit(&table->count,
					memory_order_relaxed) == told->count))
		return 0;
	for (i = 1; i < GL_HEAPS_MAX; i++) {
		struct heaps_entry *entry = &table->entry[i];

		state = atomic_load_explicit(&entry->state,
					     memory_order_acquire);
		if (state == HEAPS_EMPTY)
			break;
		if (state != HEAPS_READY ||
		    told->bits[i / 64] >> (i % 64) & 1)
			continue;
		told->bits[i / 64] |= UINT64_C(1) << (i % 64);
		told->count++;
		*name = entry->name;
		return i;
	}
	return 0;
}
