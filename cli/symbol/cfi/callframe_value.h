/*
 * callframe_value.h: evaluates the rules of a row in a symbolic state: the CFA,
 * and the caller's value of a register. Evaluated are the DWARF expressions
 * that compilers and linkers emit: registers, constants, sums, loads, and what
 * PLT stubs compute from the pc.
 */
#ifndef GNOMON_CALLFRAME_VALUE_H
#define GNOMON_CALLFRAME_VALUE_H

#include "cli/symbol/cfi/callframe.h"
#include "cli/symbol/cfi/machine.h"

/* The row to evaluate, and the state. */
struct callframe_place {
	const struct callframe *table;
	const struct callframe_entry *entry;
	const struct machine *machine;
	const struct callframe_row *row;
	const struct symbolic_state *state;
	uint64_t pc;
};

/* The row's column for a register. A floating point register may be described
 * by the columns of its halves (GCC for ARM). -1: this machine has no such
 * register. */
int callframe_column(const struct machine *machine,
		     const struct callframe_row *row, unsigned reg);

/* False: an unknown expression. */
bool callframe_cfa(const struct callframe_place *place,
		   struct symbolic_value *value);

/* The caller's value of a register, by the column's rule. False: an unknown
 * expression. */
bool callframe_caller(const struct callframe_place *place, unsigned column,
		      struct symbolic_value *value);

#endif
