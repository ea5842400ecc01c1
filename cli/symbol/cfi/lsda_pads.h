/*
 * lsda_pads.h: where exceptions land: the table of call sites beside an unwind
 * table (the language specific data area; Itanium C++ ABI: Exception Handling).
 * unwind/lsda.h asks the same of a running program.
 */
#ifndef GNOMON_LSDA_PADS_H
#define GNOMON_LSDA_PADS_H

#include "cli/symbol/cfi/callframe.h"
#include "cli/symbol/cfi/symbolic_run.h"

/* Those of an entry, to be freed; their number. What makes no sense ends it. */
size_t lsda_pads(const struct callframe *table,
		 const struct callframe_entry *entry,
		 struct symbolic_pad **pads);

#endif
