/*
 * generated_rules.h: makes unwind rules for code that no table covers, from the
 * results of the symbolic executor. Gaps between a binary's tables are cut into
 * functions (by symbols, call targets, the program's entry, and what follows
 * the end of a function); each function is executed. Functions in .debug_frame
 * get its rules.
 *
 * Code gets no rule where the CFA or the return address is not known for
 * certain.
 */
#ifndef GNOMON_GENERATED_RULES_H
#define GNOMON_GENERATED_RULES_H

#include "cli/symbol/cfi/binary.h"

/* Where the caller's value of a register is. */
enum generated_where {
	GENERATED_SAME,
	GENERATED_AT_CFA, /* at CFA + offset */
	GENERATED_AT_FP, /* at the machine's usual frame pointer + offset */
	GENERATED_UNKNOWN
};

struct generated_row {
	uint64_t start;
	int64_t cfa_offset;
	int32_t offset[SYMBOLIC_REGS];	/* for GENERATED_AT_CFA, in whole words,
					 * and GENERATED_AT_FP */
	uint8_t where[SYMBOLIC_REGS];	/* of registers that calls preserve, and
					 * of the return address */
	uint8_t cfa_reg;
	bool deref;			/* the CFA is the word at cfa_reg +
					 * cfa_offset, which may be negative */
	bool signs;			/* the return address is signed */
};

/* Rows without gaps between them, of one function or a part of it. */
struct generated_entry {
	uint64_t start, end;
	size_t first, count;		/* in rows */
};

struct generated_rules {
	struct generated_row *rows;
	size_t row_count, row_capacity;
	struct generated_entry *entries;	/* by address */
	size_t count, capacity;
	/* counts */
	size_t functions;
	uint64_t code_bytes;		/* in gaps, without padding */
	uint64_t ruled_bytes;		/* of these, bytes with rules */
};

/* Whether code without a table, in pieces of at least `bytes_min` bytes,
 * contains calls: other code is on no stack that is walked. PLT sections do not
 * count. */
bool generated_rules_wanted(const struct binary *binary, uint64_t bytes_min);

/* False: Capstone was built without this machine. */
bool generated_rules_make(struct generated_rules *made,
			  const struct binary *binary);
void generated_rules_free(struct generated_rules *made);

#endif
