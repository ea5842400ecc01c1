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
 * The node of `address` called from `parent`; made if there is none. When no
 * node can be made any more: GT_STOP_NO_MEMORY. Lock-free; any thread, also
 * signal handlers.
 */
uint32_t context_child(uint32_t parent, uintptr_t address);

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
