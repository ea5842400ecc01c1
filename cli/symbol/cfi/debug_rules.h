/*
 * debug_rules.h: rules of .debug_frame, which is not mapped into a program, in
 * the form of generated_rules.h: from the binary itself and its separate debug
 * file. The compiler knows its code: these rules are used unchecked.
 *
 * Opened by one thread; read by any.
 */
#ifndef GNOMON_DEBUG_RULES_H
#define GNOMON_DEBUG_RULES_H

#include "cli/symbol/cfi/generated_rules.h"

struct debug_rules {
	const struct binary *binary;	/* has to stay open */
	struct callframe separate;	/* without a debug file: empty */
};

void debug_rules_open(struct debug_rules *rules, const struct binary *binary);
void debug_rules_close(struct debug_rules *rules);

/* Calls `each` with the address of each function that the rules cover. */
void debug_rules_starts(const struct debug_rules *rules,
			void (*each)(void *owner, uint64_t start), void *owner);

/* The rows of the function that begins at `start`; `end` is the end of a row.
 * Rules that generated_rules.h cannot express are left out. Returns the
 * function's end; 0: no function begins there, or its table is invalid. */
uint64_t debug_rules_rows(const struct debug_rules *rules, uint64_t start,
			  void (*each)(void *owner,
				       const struct generated_row *row,
				       uint64_t end),
			  void *owner);

#endif
