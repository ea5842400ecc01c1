/*
 * api.h: shared by the implementations of gnomon/gnomon.h (library/gnomon).
 * Called by threads of the target, outside of hooks.
 */
#ifndef GNOMON_API_H
#define GNOMON_API_H

#include <stdint.h>

#include "stub/functions.h"
#include "preload/hooks/hooks.h"

/* Begins a function of the API: exported, and reached by the caller's jump, so
 * that its frame is like a hook's. Its second name is hidden, so that no other
 * library can override it (api_table.c). */
#define API(type, name, parameters)                                 \
	extern type gnomon_##name parameters ARCH_ENTRY(gnomon_##name); \
	extern BASE_HIDDEN type api_our_##name parameters           \
		ARCH_ENTRY_ALIAS(gnomon_##name);                    \
	HOOK type gnomon_##name parameters

/*
 * The recorder; starts it if needed, also before our constructor has run. NULL:
 * this process is not recorded, and will not be.
 */
struct producer *api_producer(void);

/* Before a request to the recorder. 0, -ENODEV, or -EBUSY: the caller is a
 * handler that interrupted a request, and would wait for what it
 * interrupted. */
int api_may_request(void);

/* Records a new block of a heap (GT_ALLOC, GT_REALLOC_DONE). */
static inline __attribute__((always_inline)) void
api_block(uint32_t heap, unsigned kind, const void *block, uint64_t size,
	  struct hooks_caller caller)
{
	hooks_block_at(false, kind, gl_word1_of_heap(heap, (uintptr_t)block),
		       size, caller);
}

/* Records the end of a block: GT_FREE, GT_REALLOC_BEGIN. */
static inline __attribute__((always_inline)) void
api_end(uint32_t heap, unsigned kind, const void *block,
	struct hooks_caller caller)
{
	hooks_end_of(kind, gl_word1_of_heap(heap, (uintptr_t)block), caller);
}

#endif
