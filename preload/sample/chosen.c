/*
 * chosen.c: see chosen.h.
 *
 * Memory order: a block is passed to another thread after it was added here.
 * That thread sees the entry: by the program's own synchronisation or, without
 * any, because the address of the entry depends on the block's address. The
 * fence in chosen_add is for the latter case.
 */
#include "preload/sample/chosen.h"

#include "preload/ring/area.h"

/* The line of an address in a table (0: the first); NULL: no such table. */
static struct chosen_line *chosen_line(const struct chosen *set,
				       unsigned table, uint64_t address)
{
	unsigned bits = CHOSEN_FIRST_BITS + CHOSEN_STEP_BITS * table;
	uint64_t index = chosen_hash(address) >> (64 - bits);
	struct chosen_line *lines;

	CLAIM_FULL(table < CHOSEN_TABLES);
	if (table == 0)
		return (struct chosen_line *)&set->first[index];
	/* pairs with the release of chosen_make */
	lines = atomic_load_explicit(&set->next[table - 1],
				     memory_order_acquire);
	return lines ? &lines[index] : NULL;
}

static void chosen_make(struct chosen *set, unsigned table)
{
	unsigned bits = CHOSEN_FIRST_BITS + CHOSEN_STEP_BITS * table;
	struct chosen_line *none = NULL, *lines;

	CLAIM_FULL(table > 0 && table < CHOSEN_TABLES);
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
static bool chosen_count(struct chosen_line *line)
{
	uint64_t state = atomic_load_explicit(&line->state,
					      memory_order_relaxed);
	uint64_t to;
	bool room;

	do {
		room = (state & (CHOSEN_MORE - 1)) < CHOSEN_SLOTS;
		to = room ? state + 1 : state | CHOSEN_MORE;
	} while (!atomic_compare_exchange_weak_explicit(
		&line->state, &state, to, memory_order_relaxed,
		memory_order_relaxed));
	return room;
}

#ifdef GNOMON_CLAIMS
/* Checks I1. Other threads add and remove addresses meanwhile: a stored address
 * was counted before, and is counted until it is removed. */
static bool chosen_line_is_valid(const struct chosen_line *line)
{
	unsigned i, found = 0;
	uint64_t state;

	for (i = 0; i < CHOSEN_SLOTS; i++)
		found += atomic_load_explicit(&line->slot[i],
					      memory_order_acquire) != 0;
	state = atomic_load_explicit(&line->state, memory_order_acquire);
	return (state & (CHOSEN_MORE - 1)) <= CHOSEN_SLOTS &&
	       found <= CHOSEN_SLOTS && !(state >> 9);
}

bool chosen_is_valid(const struct chosen *set)
{
	unsigned i, j;

	for (i = 0; i < 1u << CHOSEN_FIRST_BITS; i++) {
		const struct chosen_line *line = &set->first[i];
		uint64_t found = 0, state = line->state;

		for (j = 0; j < CHOSEN_SLOTS; j++) {
			uint64_t address = line->slot[j];

			found += address != 0;
			if (address && (chosen_first(set, address) != line ||
					chosen_empty(set, address)))
				return false;	/* I3 */
		}
		if (!chosen_line_is_valid(line) ||
		    found != (state & (CHOSEN_MORE - 1)))
			return false;	/* I1, I2 */
	}
	return true;
}
#endif

static void chosen_put(struct chosen_line *line, uint64_t address)
{
	unsigned i;

	CLAIM_FULL(address);
	/* I1: there is a free slot, though other threads may take some first */
	for (i = 0;; i = (i + 1) % CHOSEN_SLOTS) {
		uint64_t empty = 0;

		if (atomic_compare_exchange_strong_explicit(
			    &line->slot[i], &empty, address,
			    memory_order_relaxed, memory_order_relaxed))
			return;
	}
}

/* Increments or decrements an address's byte of the sieve. */
static void chosen_sift(struct chosen *set, uint64_t address, int more)
{
	_Atomic uint8_t *count = &set->sieve[chosen_sieve(address)];
	uint8_t old = atomic_load_explicit(count, memory_order_relaxed);

	/* release: a reader of the smaller count sees the table without the
	 * address */
	while (old != CHOSEN_FULL &&
	       !atomic_compare_exchange_weak_explicit(
		       count, &old, (uint8_t)(old + more),
		       memory_order_release, memory_order_relaxed))
		;
}

void chosen_add(struct chosen *set, uint64_t address)
{
	struct chosen_line *line;
	unsigned table;

	/* the address of an older block whose free was not seen */
	if (!chosen_never(set, address))
		return;
	chosen_sift(set, address, 1);
	for (table = 0; table < CHOSEN_TABLES; table++) {
		if (table)
			chosen_make(set, table);
		line = chosen_line(set, table, address);
		if (!line)
			break;
		if (!chosen_count(line))
			continue;
		chosen_put(line, address);
		CLAIM_FULL(chosen_line_is_valid(line));
		atomic_thread_fence(memory_order_release);
		return;
	}
	chosen_incomplete(set);
}

void chosen_incomplete(struct chosen *set)
{
	unsigned i;

	atomic_store_explicit(&set->perhaps, 1, memory_order_relaxed);
	/* every lookup ends in chosen_further */
	for (i = 0; i < 1u << CHOSEN_SIEVE_BITS; i++)
		atomic_store_explicit(&set->sieve[i], CHOSEN_FULL,
				      memory_order_relaxed);
	for (i = 0; i < 1u << CHOSEN_FIRST_BITS; i++)
		atomic_fetch_or_explicit(&set->first[i].state, CHOSEN_MORE,
					 memory_order_relaxed);
	atomic_thread_fence(memory_order_release);
}

bool chosen_further(const struct chosen *set, uint64_t address)
{
	const struct chosen_line *line;
	unsigned table;

	if (unlikely(atomic_load_explicit(&set->perhaps,
					  memory_order_relaxed)))
		return true;
	for (table = 1; table < CHOSEN_TABLES; table++) {
		line = chosen_line(set, table, address);
		if (!line)
			return false;
		if (chosen_in(line, address))
			return true;
		if (!(atomic_load_explicit(&line->state,
					   memory_order_relaxed) &
		      CHOSEN_MORE))
			return false;
	}
	return false;
}

static bool chosen_take_out(struct chosen_line *line, uint64_t address)
{
	unsigned i;

	for (i = 0; i < CHOSEN_SLOTS; i++) {
		uint64_t here = address;

		/* a double free is the program's bug: one of the two finds the
		 * address */
		if (!atomic_compare_exchange_strong_explicit(
			    &line->slot[i], &here, 0, memory_order_relaxed,
			    memory_order_relaxed))
			continue;
		CLAIM_FULL(atomic_load_explicit(&line->state,
						memory_order_relaxed) &
			   (CHOSEN_MORE - 1));
		/* I1: the slot is freed first; the release only keeps this
		 * order for other threads */
		atomic_fetch_sub_explicit(&line->state, 1,
					  memory_order_release);
		return true;
	}
	return false;
}

bool chosen_remove(struct chosen *set, uint64_t address)
{
	struct chosen_line *line;
	unsigned table;

	for (table = 0; table < CHOSEN_TABLES; table++) {
		line = chosen_line(set, table, address);
		if (!line)
			break;
		if (chosen_take_out(line, address)) {
			chosen_sift(set, address, -1);
			return true;
		}
		if (!(atomic_load_explicit(&line->state,
					   memory_order_relaxed) &
		      CHOSEN_MORE))
			break;
	}
	return atomic_load_explicit(&set->perhaps, memory_order_relaxed);
}
