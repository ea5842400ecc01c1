/*
 * sampled_set.h: the sampled set: addresses of live blocks that were recorded,
 * if not all are. It is exact, and the free of a block that was not recorded
 * reads only one cache line.
 *
 *	sieve     first table       second, 16 times as large     …
 *	┌──┐      ┌──────────┐      ┌──────────┐
 *	│ 1│─some─▶ line     │─more─▶ 16 lines │─more─▶
 *	├──┤      ├──────────┤      ├──────────┤
 *
 * The sieve is a counting Bloom filter with one hash: it counts addresses by
 * more of their bits than there are lines, in a byte each. With some hundred
 * blocks in the set it excludes nearly all other addresses. A byte that was
 * full once stays full.
 *
 * An address belongs to one line of each table. It is stored in the first one
 * that has room. A line without room is marked permanently (`more`); a lookup
 * that does not find the address there continues in the next table. Tables are
 * made on demand. When no more can be made, the answer is "perhaps".
 *
 * All functions: any thread, also signal handlers; no locks. Only the owner of
 * a block calls them for its address.
 *
 * I1: a line's count is that of its addresses and of addresses about to be
 * stored there, and at most SAMPLED_SLOTS: a thread that has incremented the
 * count finds a free slot. I2: a line without count and mark holds nothing, and
 * never sent a lookup on. I3: a byte of the sieve is 0 only while none of its
 * addresses is in any table, and the set is complete.
 */
#ifndef GNOMON_SAMPLED_SET_H
#define GNOMON_SAMPLED_SET_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "preload/base/base.h"

#define SAMPLED_SLOTS 7
#define SAMPLED_SET_FIRST_BITS 7	/* lines of the first table: 8 KiB */
#define SAMPLED_SET_STEP_BITS 4
#define SAMPLED_SET_SIEVE_BITS 13	/* 8 KiB */
#define SAMPLED_SET_FULL 255
#define SAMPLED_SET_TABLES 4		/* the last one: 32 MiB */

/* The mark in a line's state, above the count. */
#define SAMPLED_SET_MORE UINT64_C(0x100)

struct sampled_line {
	_Alignas(BASE_LINE) _Atomic uint64_t state;
	_Atomic uint64_t slot[SAMPLED_SLOTS];	/* 0: empty */
};

struct sampled_set {
	_Alignas(BASE_LINE) _Atomic uint8_t sieve[1 << SAMPLED_SET_SIEVE_BITS];
	struct sampled_line first[1 << SAMPLED_SET_FIRST_BITS];
	/* the further tables; NULL: not made */
	struct sampled_line *_Atomic next[SAMPLED_SET_TABLES - 1];
	_Atomic uint32_t perhaps;	/* 1: recorded blocks may be missing
					 * here */
};

/* Adds a recorded block; no other thread knows its address yet. */
void sampled_set_add(struct sampled_set *set, uint64_t address);

/*
 * Removes a block that is about to be freed; returns whether it may have been
 * in the set.
 */
bool sampled_set_remove(struct sampled_set *set, uint64_t address);

/* From now on recorded blocks may be missing from the set, or were before. */
void sampled_set_incomplete(struct sampled_set *set);

static inline uint64_t sampled_set_hash(uint64_t address)
{
	return address * UINT64_C(0x9e3779b97f4a7c15);
}

/* Whether a line has the address; 0 (no block): perhaps. */
static inline bool sampled_set_in(const struct sampled_line *line,
				  uint64_t address)
{
	unsigned i;

#pragma GCC unroll 7
	for (i = 0; i < SAMPLED_SLOTS; i++)
		if (atomic_load_explicit(&line->slot[i],
					 memory_order_relaxed) == address)
			return true;
	return false;
}

/* Continues the lookup beyond the first table. */
bool sampled_set_further(const struct sampled_set *set, uint64_t address);

static inline const struct sampled_line *
sampled_set_first(const struct sampled_set *set, uint64_t address)
{
	return &set->first[sampled_set_hash(address) >>
			   (64 - SAMPLED_SET_FIRST_BITS)];
}

/* Index of the address's byte in the sieve. */
static inline uint64_t sampled_set_sieve(uint64_t address)
{
	return sampled_set_hash(address) >> (64 - SAMPLED_SET_SIEVE_BITS);
}

/* True: not in the set, by the sieve alone. */
static inline bool sampled_set_empty(const struct sampled_set *set,
				     uint64_t address)
{
	return !atomic_load_explicit(&set->sieve[sampled_set_sieve(address)],
				     memory_order_relaxed);	/* I3 */
}

/* True: not in the set. `address` is not 0. */
static inline bool sampled_set_never(const struct sampled_set *set,
				     uint64_t address)
{
	const struct sampled_line *line = sampled_set_first(set, address);
	uint64_t state;

	if (likely(sampled_set_empty(set, address)))
		return true;
	state = atomic_load_explicit(&line->state, memory_order_relaxed);
	if (!state)
		return true;	/* I2 */
	if (unlikely(sampled_set_in(line, address)))
		return false;
	return likely(!(state & SAMPLED_SET_MORE)) ||
	       !sampled_set_further(set, address);
}

/* Checks the first table; while no thread changes it. With GNOMON_DEBUG_ASSERTS
 * (assertion.h). */
bool sampled_set_is_valid(const struct sampled_set *set);

#endif
