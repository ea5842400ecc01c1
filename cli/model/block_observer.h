/*
 * block_observer.h: callbacks for blocks one by one, as they begin and end, for
 * exports that write each event. They come from a second pass over a trace that
 * was read (model_follow), so all nodes, images and names are known, and
 * filters of stacks can be applied at once.
 */
#ifndef GNOMON_BLOCK_OBSERVER_H
#define GNOMON_BLOCK_OBSERVER_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/model/core/edges.h"

/*
 * `node` is a node of the model that was read first. `number` identifies the
 * block while it lives and is reused later, so numbers stay below the most
 * blocks live at once. `chain` is set for an EDGE_MOVED and for the block that
 * the realloc made; otherwise 0, unless the block is the result of an earlier
 * realloc. Stamps are for model_since_start_ns. In `end`, block->temporary says
 * whether the block counts as temporary. `thread`: before each call, set to the
 * thread of the event (threads.list), which may be wrong for events that came
 * out of order; may be NULL. `key`: set likewise to the number of the block's
 * keys in the model that was read first, or BLOCK_NO_KEY.
 */
#define BLOCK_NO_KEY UINT32_MAX

struct block_observer {
	void *owner;
	void (*alloc)(void *owner, const struct block *block, uint32_t number,
		      uint32_t node, uint32_t chain);
	void (*end)(void *owner, const struct block *block, uint32_t number,
		    uint32_t node, uint64_t stamp, enum edge_end end,
		    uint32_t chain);
	uint32_t *thread, *key;
};

#endif
