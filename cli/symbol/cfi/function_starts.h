/*
 * function_starts.h: where functions begin in code without unwind tables, from
 * symbols, the program's entry and the addresses it passes on, debug tables,
 * calls, and words of the file's data (code_words.h).
 *
 * Calls are found in a linear pass over all instructions of a gap. On x86-64
 * data between functions may misalign the pass; it realigns after a few
 * instructions.
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

/* The caller owns binary and gaps. Free in any case. */
void function_starts_find(struct function_starts *starts,
			  const struct binary *binary,
			  const struct code_gaps *gaps,
			  const struct debug_rules *debug,
			  struct machine_decoder *decoder);
void function_starts_free(struct function_starts *starts);

bool function_starts_has(const struct function_starts *starts,
			 uint64_t address);
/* The latest end of the code that begins at an address: the next start, or the
 * end of the gap. */
uint64_t function_starts_end(const struct function_starts *starts,
			     const struct code_gap *gap, uint64_t address);

#endif
