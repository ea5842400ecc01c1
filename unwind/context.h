/*
 * context.h: the calling-context tree. A node is (parent, return address);
 * its id names the whole stack outward from it.
 */
#ifndef GNOMON_UNWIND_CONTEXT_H
#define GNOMON_UNWIND_CONTEXT_H

#include <stdint.h>

#include "unwind/capture.h"

/* Forgets all earlier state. 0 or -ENOMEM. */
int context_init(const struct capture_config *config);

/*
 * A hash of a whole stack, computed outermost first from the addresses alone
 * (not from ids), so that the look-ups of several new frames can be prefetched
 * before the first of them is answered. context_hash_root: of a stack without
 * frames whose walk ended for this reason.
 */
static inline uint64_t context_hash_root(uint32_t stop)
{
	return stop * UINT64_C(0xd6e8feb86659fd93);
}

static inline uint64_t context_hash(uint64_t outer, uintptr_t address)
{
	return ((outer << 23 | outer >> 41) ^ address) *
	       UINT64_C(0x9e3779b97f4a7c15);
}

/* Fetches the place where a stack of this hash would be found. */
void context_prefetch(uint64_t hash);

/*
 * The node of `address` called from `parent`; made if there is none. `hash` is
 * the whole stack's, this frame included. When no node can be made any more:
 * GT_STOP_NO_MEMORY. Lock-free; any thread, also signal handlers.
 */
uint32_t context_child(uint32_t parent, uintptr_t address, uint64_t hash);

/*
 * No look-up finds a node with an address in [start, end) any more: another
 * image may come to lie there. Called under the image lock.
 */
void context_forget(uintptr_t start, uintptr_t end);

/* Return address and parent of a node; id >= GT_STOP_COUNT. */
const struct gl_node *context_node(uint32_t id);

/* Ids given so far: one past the highest. */
uint32_t context_count(void);

#endif
