/*
 * cfa_program.h: executes the CFA program of an FDE in one forward pass and
 * hands out the rows of its table (DWARF 5, 6.4.1 and 6.4.2).
 */
#ifndef GNOMON_UNWIND_CFA_PROGRAM_H
#define GNOMON_UNWIND_CFA_PROGRAM_H

#include <stdbool.h>
#include <stdint.h>

#include "unwind/rules/cfi.h"

/* How the caller's value of a register is found. */
enum cfa_how {
	CFA_UNSPECIFIED,	/* no rule given: the ABI's default */
	CFA_UNDEFINED,
	CFA_SAME,
	CFA_OFFSET,		/* at CFA + value */
	CFA_VAL_OFFSET,		/* is CFA + value */
	CFA_REGISTER,		/* in register number value */
	CFA_EXPRESSION,		/* at the expression's result */
	CFA_VAL_EXPRESSION	/* is the expression's result */
};

struct cfa_row {
	/* For expressions: the address of a ULEB128 size followed by that many
	 * bytes, which lie inside the FDE or CIE. */
	int64_t value[ARCH_REG_COUNT];
	int64_t cfa_offset;	/* of CFA_OFFSET: cfa_reg + cfa_offset */
	int64_t cfa_expression;	/* of CFA_EXPRESSION, as for registers */
	uint8_t how[ARCH_REG_COUNT];
	uint8_t cfa_how;	/* CFA_UNSPECIFIED, _OFFSET, _EXPRESSION */
	uint8_t cfa_reg;
	bool signs;		/* the return address is signed */
};

/*
 * Calls emit for each row, in address order and without gaps, from fde->start
 * to fde->end. row is NULL for a range whose program is malformed. emit returns
 * true to stop. The row is valid during the call. Takes some 2 KB of stack. Any
 * thread, also signal handlers.
 */
void cfa_program_run(const struct cfi_fde *fde,
		     bool (*emit)(void *ctx, const struct cfa_row *row,
				  uintptr_t start, uintptr_t end),
		     void *ctx);

/* The bytes of the expression that a row's value points to. */
const uint8_t *cfa_program_expression(int64_t value, size_t *size_bytes);

#endif
