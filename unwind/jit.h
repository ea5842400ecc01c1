/*
 * jit.h: unwind tables of code that no file holds: what the program hands to
 * the C runtime (__register_frame and its kin) or shows to debuggers (the GDB
 * JIT interface, gdbjit.h).
 *
 * Look-ups are lock-free and async-signal-safe. What is registered lives in
 * static memory: it is there before the unwinder is set up, and a forked
 * child still has it.
 */
#ifndef GNOMON_UNWIND_JIT_H
#define GNOMON_UNWIND_JIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "arch.h"

/* What the program registers: a .eh_frame in its memory. */
struct jit_tables {
	uintptr_t key;		/* by which it will be deregistered */
	uintptr_t frames;	/* its first byte */
	size_t size;		/* 0: up to its terminator; if it begins with
				 * an FDE, that one alone */
	uintptr_t text, data;	/* bases of its pointers, mostly 0 */
	bool shown;		/* to debuggers: may go without a word */
};

/*
 * Every word of the tables is read once, checked. False: they make no sense,
 * cannot be read, or there are too many. Any thread, at any time.
 */
bool jit_register(const struct jit_tables *tables);

/* All tables with this key go. When it returns, nothing of them is read any
 * more (but see jit.c, I3). Any thread, at any time. */
void jit_deregister(uintptr_t key);

/*
 * Code without a table that lay in [start, end) was replaced by other code;
 * told late, by somebody who takes no stacks. The next capture makes the tree
 * forget what lay there. Any thread, at any time.
 */
void jit_replaced(uintptr_t start, uintptr_t end);

struct capture_tables;

/* Set-up, or in a forked child: nothing of what is there was met so far.
 * tables: as in struct capture_config. */
void jit_init(struct capture_tables *const *tables);

/*
 * The rule (rules.h) that holds at pc by some registered table; 0: none.
 * *constant: until capture_generation moves.
 */
uint16_t jit_find(uintptr_t pc, bool *constant);

/* rules_step_full by the registered tables; -ENOENT: none covers pc. */
int jit_step(struct arch_regs *regs, bool pc_exact, bool *is_signal,
	     bool (*read)(void *ctx, uintptr_t address, uint64_t *value),
	     void *ctx);

/*
 * Makes the tree forget the code of tables that are gone. Under the image
 * lock. True: there was some, so the rule cache must be dropped, too.
 */
bool jit_sweep(void);

/* For gdbjit.c, one caller at a time: begins a round; keeps what is still
 * shown, true if that is known already; deregisters what was not kept. */
void jit_round_begin(void);
bool jit_round_keep(uintptr_t key);
void jit_round_end(void);

/* Whether all of [from, from + size) can be read. */
bool jit_readable(uintptr_t from, size_t size);

/* Registered now; refused so far because there were too many, or none of
 * them made sense. For tests and reports. */
uint32_t jit_count(void);
uint32_t jit_refused(void);

/* What keys say of slots, and how many there are, while nobody changes them.
 * With GNOMON_CLAIMS (claim.h). */
bool jit_is_valid(void);

#endif
