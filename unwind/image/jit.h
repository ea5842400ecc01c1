/*
 * jit.h: unwind tables of code made at run time: tables that the program
 * registers with the C runtime (__register_frame and its variants) or shows to
 * debuggers (the GDB JIT interface, gdbjit.h).
 *
 * Lookups are lock-free and async-signal-safe. Registered tables live in static
 * memory: the program can register them before the unwinder is set up, and a
 * forked child keeps them.
 */
#ifndef GNOMON_UNWIND_JIT_H
#define GNOMON_UNWIND_JIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "arch.h"

/* One registration: an .eh_frame in the program's memory. */
struct jit_tables {
	uintptr_t key;		/* identifies it when it is deregistered */
	uintptr_t frames;	/* its first byte */
	size_t size;		/* 0: up to its terminator; or one FDE alone, if
				 * it begins with one */
	uintptr_t text, data;	/* bases of its pointers, mostly 0 */
	bool shown;		/* to debuggers: may disappear without notice */
};

/*
 * Reads every word of the tables once, checked. False: they are malformed, not
 * readable, or too many. Any thread, at any time.
 */
bool jit_register(const struct jit_tables *tables);

/* Removes all tables with this key. When it returns, they are no longer read
 * (but see jit.c, I3). Any thread, at any time. */
void jit_deregister(uintptr_t key);

/*
 * Code without a table in [start, end) was replaced by other code. The report
 * may come late, from a caller that captures no stacks. The next capture makes
 * the context tree forget this range. Any thread, at any time.
 */
void jit_replaced(uintptr_t start, uintptr_t end);

struct capture_tables;

/* Set-up, also in a forked child: no registered table has been used by a walk
 * yet. tables: as in struct capture_config. */
void jit_init(struct capture_tables *const *tables);

/*
 * The id of the rule at pc in a registered table; 0: none. *constant: it stays
 * valid until image_generation changes.
 */
uint16_t jit_find(uintptr_t pc, bool *constant);

/* Like rules_step_full, by the registered tables; -ENOENT: none covers pc. */
int jit_step(struct arch_regs *regs, bool pc_exact, bool *is_signal,
	     bool (*read)(void *ctx, uintptr_t address, uint64_t *value),
	     void *ctx);

/*
 * Makes the context tree forget the code of removed tables. Under the image
 * lock. True: there were some, so the rule cache must be dropped too.
 */
bool jit_sweep(void);

/* For gdbjit.c, one caller at a time. jit_round_begin starts an update;
 * jit_round_keep marks a table as still shown, true if it is known;
 * jit_round_end deregisters tables that were not marked. */
void jit_round_begin(void);
bool jit_round_keep(uintptr_t key);
void jit_round_end(void);

/* Whether all of [from, from + size) is readable. */
bool jit_readable(uintptr_t from, size_t size);

/* Tables registered now; tables refused so far because they were too many or
 * malformed. For tests and reports. */
uint32_t jit_count(void);
uint32_t jit_refused(void);

/* Checks the keys against the slots and their count, while no thread changes
 * them. With GNOMON_DEBUG_ASSERTS (assertion.h). */
bool jit_is_valid(void);

#endif
