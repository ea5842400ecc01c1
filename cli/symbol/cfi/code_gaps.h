/*
 * code_gaps.h: code of a binary that is in none of the unwind tables that a
 * walk in the target can use. Any thread.
 */
#ifndef GNOMON_CODE_GAPS_H
#define GNOMON_CODE_GAPS_H

#include "cli/symbol/cfi/binary.h"

struct code_gap {
	uint64_t start, end;
	const uint8_t *bytes;	/* point into the file */
};

struct code_gaps {
	struct code_gap *list;	/* by address; without overlaps */
	size_t count, capacity;
};

/* `linkage`: also PLT sections and the like. Free the gaps in any case. */
void code_gaps_find(struct code_gaps *gaps, const struct binary *binary,
		    bool linkage);
void code_gaps_free(struct code_gaps *gaps);

/* NULL: the address is in no gap. */
const struct code_gap *code_gaps_at(const struct code_gaps *gaps,
				    uint64_t address);

#endif
