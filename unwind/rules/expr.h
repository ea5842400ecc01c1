/*
 * expr.h: evaluates DWARF expressions as they occur in unwind tables (DWARF 5,
 * 2.5 and 6.4.2).
 */
#ifndef GNOMON_UNWIND_EXPR_H
#define GNOMON_UNWIND_EXPR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "arch.h"

enum {
	EXPR_STACK_MAX = 64,	/* as in libgcc's unwinder */
	EXPR_STEPS_MAX = 1000	/* expressions may loop */
};

struct expr_context {
	const struct arch_regs *regs;
	/* Reads the word at address; false: it cannot be read. */
	bool (*read)(void *ctx, uintptr_t address, uint64_t *value);
	void *ctx;
};

/*
 * Evaluates size bytes of code. initial, if not NULL, is pushed first. *result:
 * the top of the stack at the end. 0; -EINVAL: malformed, or too much stack or
 * time; -EFAULT: a read failed. Any thread, also signal handlers; uses some 600
 * bytes of stack.
 */
int expr_evaluate(const uint8_t *code, size_t size,
		  const struct expr_context *context, const uint64_t *initial,
		  uint64_t *result);

/* Whether the code is exactly "register + offset"; stores the offset. */
bool expr_is_register(const uint8_t *code, size_t size, unsigned int reg,
		      int64_t *offset);

/* The same, followed by one deref. */
bool expr_is_deref(const uint8_t *code, size_t size, unsigned int reg,
		   int64_t *offset);

#endif
