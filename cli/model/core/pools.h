/*
 * pools.h: heaps of the program's own, besides the allocator's: pools that the
 * program reports to the recorder. Their blocks are inside blocks or mappings
 * of the allocator, so they are counted separately, and no byte counts twice.
 * The upper bits of a block's address are the number of its heap; 0 is the
 * allocator.
 */
#ifndef GNOMON_POOLS_H
#define GNOMON_POOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/base/intern.h"
#include "cli/model/core/block_totals.h"
#include "cli/trace/decode/control_records.h"

#define POOLS_MAX 4096		/* numbers */
#define POOLS_SHIFT 48
#define POOLS_ADDRESS ((UINT64_C(1) << POOLS_SHIFT) - 1)
#define POOLS_ALLOCATOR "malloc"	/* name of heap 0 */

struct pools {
	struct pool_entry {
		const char *name;	/* "": not known */
		struct totals figures;	/* with its own peak */
	} *list;	/* by number; heap 0 has no measures */
	size_t count;	/* 0: the trace has only the allocator's heap */
};

/* A zeroed struct pools has none. False: not a valid heap number. */
bool pools_name(struct pools *pools, struct intern *names,
		const struct trace_control *record);
void pools_forget(struct pools *pools);		/* resets all measures */
void pools_free(struct pools *pools);

/* The number of a block's heap. */
static inline uint32_t pools_number(uint64_t address)
{
	return (uint32_t)(address >> POOLS_SHIFT);
}

/* The address without the heap number. */
static inline uint64_t pools_address(uint64_t address)
{
	return address & POOLS_ADDRESS;
}

/* The name of a heap, as reports print it; never NULL. */
const char *pools_name_of(const struct pools *pools, uint32_t number);

/* ---- for account.c: call these only if pools_has ---- */

static inline bool pools_has(const struct pools *pools, uint64_t address)
{
	uint32_t number = pools_number(address);

	return number != 0 && number < pools->count;
}
void pools_alloc(struct pools *pools, uint64_t address, uint64_t stamp,
		 struct weight_amount amount);
void pools_end(struct pools *pools, uint64_t address,
	       struct weight_amount amount, bool freed);

#endif
