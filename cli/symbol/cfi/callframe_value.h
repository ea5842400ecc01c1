/*
 * callframe_value.h: what the rules of a row come to in a symbolic state: the
 * CFA, and the caller's value of a register. Of DWARF's expressions those are
 * evaluated that compilers and linkers make: registers, constants, sums, loads,
 * and what stubs of procedure linkage tables compute of the pc.
 */
#ifndef GNOMON_CALLFRAME_VALUE_H
#define GNOMON_CALLFRAME_VALUE_H

#include "cli/symbol/cfi/callframe.h"
#include "cli/symbol/cfi/machine.h"

/* Where a row is evaluated. */
struct callframe_place {
	const struct callframe *table;
	const struct callframe_entry *entry;
	const struct machine *machine;
	const struct callframe_row *row;
	const struct symbolic_state *state;
	uint64_t pc;
};

/* The column that a row has for a register: if it says where one for floating
 * point lies, it may do so by the halves (GCC for ARM). -1: this machine has no
 * such register. */
int callframe_column(const struct machine *machine,
		     const struct callframe_row *row, unsigned reg);

/* False: an expression that is not known. */
bool callframe_cfa(const struct callframe_place *place,
		   struct symbolic_value *value);

/* The caller's value of a register, by the column's rule. */
bool callframe_caller(const struct callframe_place *place, unsigned column,
		      struct symbolic_value *value);

#endif
