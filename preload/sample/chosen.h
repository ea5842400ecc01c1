/*
 * chosen.h: the blocks in use that were recorded, where not all are: an exact
 * set of their addresses, so that the end of a block that was not recorded
 * takes one look at one line of memory.
 *
 *	sieve     first table       second, 16 times as large     …
 *	┌──┐      ┌──────────┐      ┌──────────┐
 *	│ 1│─some─▶ line     │─more─▶ 16 lines │─more─▶
 *	├──┤      ├──────────┤      ├──────────┤
 *
 * The sieve counts addresses by more of their bits than there are lines, a byte
 * for each: with some hundred blocks in the set it says of nearly all others
 * that they are not there. A byte that was full once stays so.
 *
 * An address belongs to one line of each table. It is put into the first one
 * that has room; a line that had none is marked for good (`more`), and who
 * does not find an address there looks in the next table. Tables are made when
 * they are needed. Where none can be had any more, the answer is "perhaps".
 *
 * All: any thread, also signal handlers; no locks. What is asked of one
 * address at a time is asked by whoever owns the block.
 *
 * I1: a line's count is that of its addresses and of those about to be put
 *     there, and at most CHOSEN_SLOTS: who has counted itself finds room.
 * I2: a line without count and mark holds nothing, and never sent anybody on.
 * I3: a byte of the sieve is 0 only while none of its addresses is in any
 *     table, and the set is complete.
 */
#ifndef GNOMON_CHOSEN_H
#define GNOMON_CHOSEN_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "preload/base/base.h"

#define CHOSEN_SLOTS 7
#define CHOSEN_FIRST_BITS 7	/* lines of the first table: 8 KiB */
#define CHOSEN_STEP_BITS 4
#define CHOSEN_SIEVE_BITS 13	/* 8 KiB */
#define CHOSEN_FULL 255
#define CHOSEN_TABLES 4		/* the last one: 32 MiB */

/* Of a line's state, above the count. */
#define CHOSEN_MORE UINT64_C(0x100)

struct chosen_line {
	_Alignas(BASE_LINE) _Atomic uint64_t state;
	_Atomic uint64_t slot[CHOSEN_SLOTS];	/* 0: empty */
};

struct chosen {
	_Alignas(BASE_LINE) _Atomic uint8_t sieve[1 << CHOSEN_SIEVE_BITS];
	struct chosen_line first[1 << CHOSEN_FIRST_BITS];
	/* of the tables behind it; NULL: not made */
	struct chosen_line *_Atomic next[CHOSEN_TABLES - 1];
	_Atomic uint32_t perhaps;	/* blocks are recorded that are not here */
};

/* A block that is recorded; nobody else knows it yet. */
void chosen_add(struct chosen *set, uint64_t address);

/* Whether it may be one of them; it no longer is. The block is about to end.
 */
bool chosen_remove(struct chosen *set, uint64_t address);

/* From now on blocks are recorded without being here, or were before. */
void chosen_incomplete(struct chosen *set);

static inline uint64_t chosen_hash(uint64_t address)
{
	return address * UINT64_C(0x9e3779b97f4a7c15);
}

/* Whether a line holds the address; 0 (no block): perhaps. */
static inline bool chosen_in(const struct chosen_line *line, uint64_t address)
{
	unsigned i;

#pragma GCC unroll 7
	for (i = 0; i < CHOSEN_SLOTS; i++)
		if (atomic_load_explicit(&line->slot[i],
					 memory_order_relaxed) == address)
			return true;
	return false;
}

/* Where the first line is not enough. */
bool chosen_further(const struct chosen *set, uint64_t address);

static inline const struct chosen_line *
chosen_first(const struct chosen *set, uint64_t address)
{
	return &set->first[chosen_hash(address) >> (64 - CHOSEN_FIRST_BITS)];
}

/* The number of its byte. */
static inline uint64_t chosen_sieve(uint64_t address)
{
	return chosen_hash(address) >> (64 - CHOSEN_SIEVE_BITS);
}

/* That it is none of them, seen without a look at the tables. */
static inline bool chosen_empty(const struct chosen *set, uint64_t address)
{
	return !atomic_load_explicit(&set->sieve[chosen_sieve(address)],
				     memory_order_relaxed);	/* I3 */
}

/* That it is none of them. `address` is not 0. */
static inline bool chosen_never(const struct chosen *set, uint64_t address)
{
	const struct chosen_line *line = chosen_first(set, address);
	uint64_t state;

	if (likely(chosen_empty(set, address)))
		return true;
	state = atomic_load_explicit(&line->state, memory_order_relaxed);
	if (!state)
		return true;	/* I2 */
	if (unlikely(chosen_in(line, address)))
		return false;
	return likely(!(state & CHOSEN_MORE)) || !chosen_further(set, address);
}

/* The first table; while nobody changes it. With GNOMON_CLAIMS (claim.h). */
bool chosen_is_valid(const struct chosen *set);

#endif
