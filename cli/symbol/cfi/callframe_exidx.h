/*
 * callframe_exidx.h: .ARM.exidx as rows of unwind tables (callframe.h). An
 * entry is one row, which is right where an exception may leave the function:
 * after its prologue and before its epilogue.
 */
#ifndef GNOMON_CALLFRAME_EXIDX_H
#define GNOMON_CALLFRAME_EXIDX_H

#include "cli/symbol/cfi/callframe.h"

#define CALLFRAME_EXIDX_RA 14	/* lr */

/* Adds the entries of the file to the table. */
void callframe_exidx_add(struct callframe *table);

/* As callframe_rows. An entry that cannot be unwound has a row with an
 * undefined return address and an unspecified CFA. */
bool callframe_exidx_rows(const struct callframe *table,
			  const struct callframe_entry *entry,
			  bool (*each)(void *owner,
				       const struct callframe_row *row),
			  void *owner);

#endif
