/*
 * sampled_set.c: see sampled_set.h.
 *
 * Memory order: a block is passed to another thread after it was added here.
 * That thread sees the entry: by the program's own synchronisation or, without
 * any, because the address of the entry depends on the block's address. The
 * fence in sampled_set_add is for the latter case.
 */
#include "preload/sample/sampled_set.h"

#include "preload/ring/area.h"

/* The line of an address in a table (0: the first); NULL: no such table. */
static struct sampled_line *sampled_line(const struct sampled_set *set,
					 unsigned table, uint64_t address)
{
	unsigned bits = SAMPLED_SET_FIRST_BITS + SAMPLED_SET_STEP_BITS * table;
	uint64_t index = sampled_set_hash(address) >> (64 - bits);
	struct sampled_line *lines;

	DEBUG_ASSERT(table < SAMPLED_SET_TABLES);
	if (table == 0)
		return (struct sampled_line *)&set->first[index];
	/* pairs with the release of sampled_set_make */
	lines = atomic_load_explicit(&set->next[table - 1],
				     memory_order_acquire);
	return lines ? &lines[index] : NULL;
}

static void sampled_set_make(struct sampled_set *set, unsigned table)
{
	unsigned bits = SAMPLED_SET_FIRST_BITS + SAMPLED_SET_STEP_BITS * table;
	struct sampled_line *none = NULL, *lines;

	DEBUG_ASSERT(table > 0 && table < SAMPLED_SET_TABLES);
	if (atomic_load_explicit(&set->next[table - 1], memory_order_relaxed))
		return;
	lines = area_alloc(sizeof(*lines) << bits);
	/* a table that another thread has made meanwhile is as good */
	if (lines)
		atomic_compare_exchange_strong_explicit(
			&set->next[table - 1], &none, lines,
			memory_order_release, memory_order_relaxed);
}

/* Reserves a slot for an address. False: there is none, and the line is marked
 * so. */
static bool sampled_set_count(struct sampled_line *line)
{
	uint64_t state = atomic_load_explicit(&line->state,
					      memory_order_relaxed);
	uint64_t to;
	bool room;

	do {
		room = (state & (SAMPLED_SET_MORE - 1)) < SAMPLED_SLOTS;
		to = room ? state + 1 : state | SAMPLED_SET_MORE;
	} while (!atomic_compare_exchange_weak_explicit(
		&line->state, &state, to, memory_order_relaxed,
		memory_order_relaxed));
	return room;
}

#ifdef GNOMON_DEBUG_ASSERTS
/* Checks I1. Other threads add and remove addresses meanwhile: a stored address
 * was counted before, and is counted until it is removed. */
static bool sampled_line_is_valid(const struct sampled_line *line)
{
	unsigned i, found = 0;
	uint64_t state;

	for (i = 0; i < SAMPLED_SLOTS; i++)
		found += atomic_load_explicit(&line->slot[i],
					      memory_order_acquire) != 0;
	state = atomic_load_explicit(&line->state, memory_order_acquire);
	return (state & (SAMPLED_SET_MORE - 1)) <= SAMPLED_SLOTS &&
	       found <= SAMPLED_SLOTS && !(state >> 9);
}

bool sampled_set_is_valid(const struct sampled_set *set)
{
	unsigned i, j;

	for (i = 0; i < 1u << SAMPLED_SET_FIRST_BITS; i++) {
		const struct sampled_line *line = &set->first[i];
		uint64_t found = 0, state = line->state;

		for (j = 0; j < SAMPLED_SLOTS; j++) {
			uint64_t address = line->slot[j];

			found += address != 0;
			if (address &&
			    (sampled_set_first(set, address) != line ||
			     sampled_set_empty(set, address)))
				return false;	/* I3 */
		}
		if (!sampled_line_is_valid(line) ||
		    found != (state & (SAMPLED_SET_MORE - 1)))
			return false;	/* I1, I2 */
	}
	return true;
}
#endif

static void sampled_set_put(struct sampled_line *line, uint64_t address)
{
	unsigned i;

	DEBUG_ASSERT(address);
	/* I1: there is a free slot, though other threads may take some first */
	for (i = 0;; i = (i + 1) % SAMPLED_SLOTS) {
		uint64_t empty = 0;

		if (atomic_compare_exchange_strong_explicit(
			    &line->slot[i], &empty, address,
			    memory_order_relaxed, memory_order_relaxed))
			return;
	}
}

/* Increments or decrements an address's byte of the sieve. */
static void sampled_set_sift(struct sampled_set *set, uint64_t address,
			     int more)
{
	_Atomic uint8_t *count = &set->sieve[sampled_set_sieve(address)];
	uint8_t old = atomic_load_explicit(count, memory_order_relaxed);

	/* release: a reader of the smaller count sees the table without the
	 * address */
	while (old != SAMPLED_SET_FULL &&
	       !atomic_compare_exchange_weak_explicit(
		       count, &old, (uint8_t)(old + more),
		       memory_order_release, memory_order_relaxed))
		;
}

void sampled_set_add(struct sampled_set *set, uint64_t address)
{
	struct sampled_line *line;
	unsigned table;

	/* the address of an older block whose free was not seen */
	if (!sampled_set_never(set, address))
		return;
	sampled_set_sift(set, address, 1);
	for (table = 0; table < SAMPLED_SET_TABLES; table++) {
		if (table)
			sampled_set_make(set, table);
		line = sampled_line(set, table, address);
		if (!line)
			break;
		if (!sampled_set_count(line))
			continue;
		sampled_set_put(line, address);
		DEBUG_ASSERT(sampled_line_is_valid(line));
		atomic_thread_fence(memory_order_release);
		return;
	}
	sampled_set_incomplete(set);
}

void sampled_set_incomplete(struct sampled_set *set)
{
	unsigned i;

	atomic_store_explicit(&set->perhaps, 1, memory_order_relaxed);
	/* every lookup ends in sampled_set_further */
	for (i = 0; i < 1u << SAMPLED_SET_SIEVE_BITS; i++)
		atomic_store_explicit(&set->sieve[i], SAMPLED_SET_FULL,
				      memory_order_relaxed);
	for (i = 0; i < 1u << SAMPLED_SET_FIRST_BITS; i++)
		atomic_fetch_or_explicit(&set->first[i].state, SAMPLED_SET_MORE,
					 memory_order_relaxed);
	atomic_thread_fence(memory_order_release);
}

bool sampled_set_further(const struct sampled_set *set, uint64_t address)
{
	const struct sampled_line *line;
	unsigned table;

	if (unlikely(atomic_load_explicit(&set->perhaps,
					  memory_order_relaxed)))
		return true;
	for (table = 1; table < SAMPLED_SET_TABLES; table++) {
		line = sampled_line(set, table, address);
		if (!line)
			return false;
		if (sampled_set_in(line, address))
			return true;
		if (!(atomic_load_explicit(&line->state,
					   memory_order_relaxed) &
		      SAMPLED_SET_MORE))
			return false;
	}
	return false;
}

static bool sampled_set_take_out(struct sampled_line *line, uint64_t address)
{
	unsigned i;

	for (i = 0; i < SAMPLED_SLOTS; i++) {
		uint64_t here = address;

		/* a double free is the program's bug: one of the two finds the
		 * address */
		if (!atomic_compare_exchange_strong_explicit(
			    &line->slot[i], &here, 0, memory_order_relaxed,
			    memory_order_relaxed))
			continue;
		DEBUG_ASSERT(atomic_load_explicit(&line->state,
						  memory_order_relaxed) &
			     (SAMPLED_SET_MORE - 1));
		/* I1: the slot is freed first; the release only keeps this
		 * order for other threads */
		atomic_fetch_sub_explicit(&line->state, 1,
					  memory_order_release);
		return true;
	}
	return false;
}

bool sampled_set_remove(struct sampled_set *set, uint64_t address)
{
	struct sampled_line *line;
	unsigned table;

	for (table = 0; table < SAMPLED_SET_TABLES; table++) {
		line = sampled_line(set, table, address);
		if (!line)
			break;
		if (sampled_set_take_out(line, address)) {
			sampled_set_sift(set, address, -1);
			return true;
		}
		if (!(atomic_load_explicit(&line->state,
					   memory_order_relaxed) &
		      SAMPLED_SET_MORE))
			break;
	}
	return atomic_load_explicit(&set->perhaps, memory_order_relaxed);
}
