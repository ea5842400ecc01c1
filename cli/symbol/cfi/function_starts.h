/*
 * function_starts.h: where functions begin in code without unwind tables, as far
 * as something says so: symbols, the program's entry and what it hands on, tables
 * for debuggers, calls, and words of the file's data (code_words.h).
 *
 * Calls are found by a pass over all instructions of a gap: on x86-64 that may go
 * wrong in data between functions, and finds itself again a few instructions
 * later.
 */
#ifndef GNOMON_FUNCTION_STARTS_H
#define GNOMON_FUNCTION_STARTS_H

#include "cli/symbol/cfi/code_gaps.h"
#include "cli/symbol/cfi/debug_rules.h"

#define FUNCTION_STARTS_MAX (1u << 20)

struct function_starts {
	const struct binary *binary;
	const struct code_gaps *gaps;
	uint64_t *list;		/* by address, each once */
	size_t count, capacity;
};

/* Binary and gaps stay the caller's. Freed in any case. */
void function_starts_find(struct function_starts *starts,
			  const struct binary *binary,
			  const struct code_gaps *gaps,
			  const struct debug_rules *debug,
			  struct machine_decoder *decoder);
void function_starts_free(struct function_starts *starts);

bool function_starts_has(const struct function_starts *starts,
			 uint64_t address);
/* Where what begins at an address ends at the latest: at the next start, or with
 * its gap. */
uint64_t function_starts_end(const struct function_starts *starts,
			     const struct code_gap *gap, uint64_t address);

#endif
