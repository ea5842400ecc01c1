/*
 * loader_count.h: counting the threads that are inside dl_iterate_phdr
 * (loader.c). Any thread.
 */
#ifndef GNOMON_LOADER_COUNT_H
#define GNOMON_LOADER_COUNT_H

#include <stdatomic.h>

#include "preload/base.h"

extern BASE_HIDDEN _Atomic int loader_inside;

static inline void loader_enter(void)
{
	atomic_fetch_add_explicit(&loader_inside, 1, memory_order_seq_cst);
}

static inline void loader_leave(void)
{
	atomic_fetch_sub_explicit(&loader_inside, 1, memory_order_seq_cst);
}

#endif
