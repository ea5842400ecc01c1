/*
 * cfi_index.h: a sorted table for an .eh_frame that has none.
 */
#ifndef GNOMON_UNWIND_CFI_INDEX_H
#define GNOMON_UNWIND_CFI_INDEX_H

#include "unwind/cfi.h"

/*
 * Gives the tables an index if they have no table, and there is memory; it is
 * kept as long as the process. Returns its bytes; 0: look-ups stay passes.
 * Takes two passes and a sort, some 100 ns an FDE; any thread, while nobody
 * else knows of these tables.
 */
size_t cfi_index_make(struct cfi_tables *tables);

#endif
