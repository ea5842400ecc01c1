/*
 * scratch.h: memory for one task, mapped as it is needed and given back as a
 * whole.
 */
#ifndef GNOMON_SCRATCH_H
#define GNOMON_SCRATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct scratch_chunk;

/* All zero but for the limit: nothing mapped yet. */
struct scratch {
	struct scratch_chunk *chunks;	/* the one in use first */
	uint64_t bytes;		/* mapped */
	uint64_t limit;		/* of them */
};

/* Zeroed, aligned to 16 bytes; NULL: over the limit, or refused. */
void *scratch_alloc(struct scratch *scratch, size_t size);

/* Gives all of it back. */
void scratch_end(struct scratch *scratch);

/* Its chunks are what is counted. With GNOMON_CLAIMS (claim.h). */
bool scratch_is_valid(const struct scratch *scratch);

#endif
