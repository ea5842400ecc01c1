/*
 * api_heap.c: gnomon_heap_create, gnomon_alloc, gnomon_free, gnomon_realloc.
 * They record as the hooks do (hooks.c), with the heap's number in the upper
 * bits of the address. Any thread of the target, also in handlers.
 */
#include "preload/api/api.h"
#include "preload/api/heaps.h"

API(uint32_t, heap_create, (const char *name))
{
	return name ? heaps_create(name) : 0;
}

/* Whether there is something to record, and real.malloc is set, which hooks
 * need. */
static inline bool api_heap_ready(uint32_t heap, const void *block)
{
	return likely(heaps_valid(heap)) && likely(block) &&
	       (likely(real.malloc) || real_resolve());
}

API(__attribute__((flatten)) void, alloc,
    (uint32_t heap, const void *block, size_t size))
{
	if (api_heap_ready(heap, block))
		api_block(heap, GT_ALLOC, block, size, HOOKS_CALLER);
}

API(void, free, (uint32_t heap, const void *block))
{
	if (api_heap_ready(heap, block))
		api_end(heap, GT_FREE, block, HOOKS_CALLER);
}

API(void, realloc,
    (uint32_t heap, const void *old, const void *block, size_t size))
{
	struct hooks_caller caller = HOOKS_CALLER;

	if (old && block && api_heap_ready(heap, block)) {
		api_end(heap, GT_REALLOC_BEGIN, old, caller);
		api_block(heap, GT_REALLOC_DONE, block, size, caller);
	} else if (block && api_heap_ready(heap, block)) {
		api_block(heap, GT_ALLOC, block, size, caller);
	} else if (api_heap_ready(heap, old)) {
		api_end(heap, GT_FREE, old, caller);
	}
}
