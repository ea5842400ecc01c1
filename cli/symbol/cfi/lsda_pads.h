/*
 * lsda_pads.h: landing pads of exceptions, from the call-site table of an
 * unwind table's entry (language specific data area; Itanium C++ ABI: Exception
 * Handling). unwind/image/lsda.h reads them in the target.
 */
#ifndef GNOMON_LSDA_PADS_H
#define GNOMON_LSDA_PADS_H

#include "cli/symbol/cfi/callframe.h"
#include "cli/symbol/cfi/symbolic_run.h"

/* The pads of an entry, to be freed by the caller; returns their number. An
 * invalid record ends the list. */
size_t lsda_pads(const struct callframe *table,
		 const struct callframe_entry *entry,
		 struct symbolic_pad **pads);

#endif
