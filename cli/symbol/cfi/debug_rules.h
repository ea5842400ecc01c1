/*
 * debug_rules.h: rules of .debug_frame, which nothing maps into a program, as
 * made_rules.h keeps them: those of the binary itself, and those of its
 * separate debug file. A compiler knows what it made: its rules are believed.
 *
 * Opened by one thread, asked by any.
 */
#ifndef GNOMON_DEBUG_RULES_H
#define GNOMON_DEBUG_RULES_H

#include "cli/symbol/cfi/made_rules.h"

struct debug_rules {
	const struct binary *binary;	/* has to stay open */
	struct callframe separate;	/* without a debug file: empty */
};

void debug_rules_open(struct debug_rules *rules, const struct binary *binary);
void debug_rules_close(struct debug_rules *rules);

/* Calls `each` with the address of each function that they cover. */
void debug_rules_starts(const struct debug_rules *rules,
			void (*each)(void *owner, uint64_t start), void *owner);

/* The rows of the function that begins there; *row's end is behind it. A rule
 * that made_rules.h has no words for is left out. The function's end; 0: none
 * begins there, or its table makes no sense. */
uint64_t debug_rules_rows(const struct debug_rules *rules, uint64_t start,
			  void (*each)(void *owner, const struct made_row *row,
				       uint64_t end),
			  void *owner);

#endif
