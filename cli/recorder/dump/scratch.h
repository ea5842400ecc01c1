/*
 * scratch.h: an arena for one task: memory is mapped as needed and freed all at
 * once.
 */
#ifndef GNOMON_SCRATCH_H
#define GNOMON_SCRATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct scratch_chunk;

/* Zeroed except for `limit`: nothing is mapped yet. */
struct scratch {
	struct scratch_chunk *chunks;	/* the one in use first */
	uint64_t bytes;		/* mapped */
	uint64_t limit;		/* of them */
};

/* Zeroed, aligned to 16 bytes; NULL: over the limit, or refused. */
void *scratch_alloc(struct scratch *scratch, size_t size);

/* Frees everything. */
void scratch_end(struct scratch *scratch);

/* The chunks add up to `bytes`. With GNOMON_DEBUG_ASSERTS (assertion.h). */
bool scratch_is_valid(const struct scratch *scratch);

#endif
