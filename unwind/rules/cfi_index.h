/*
 * cfi_index.h: makes a binary search table for an .eh_frame without one.
 */
#ifndef GNOMON_UNWIND_CFI_INDEX_H
#define GNOMON_UNWIND_CFI_INDEX_H

#include "unwind/rules/cfi.h"

/*
 * Gives the tables a search table if they have none and there is memory; it
 * lives as long as the process. Returns its size in bytes; 0: lookups stay
 * linear. Takes two passes and a sort, some 100 ns an FDE; any thread, before
 * any other thread knows of these tables.
 */
size_t cfi_index_make(struct cfi_tables *tables);

#endif
