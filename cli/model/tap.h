/*
 * tap.h: blocks one after the other, as they begin and end, for who writes
 * each of them down: exports of events. A second pass over a trace that was
 * read (model_follow), so nodes, images and names are all known, and what
 * stacks' filters keep can be told at once.
 */
#ifndef GNOMON_TAP_H
#define GNOMON_TAP_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/model/core/edges.h"

/*
 * `node` is one of the model that was read first. `number` is the block's as
 * long as it lives, and another one's later: at most as many as were live at
 * once. `chain`: of an EDGE_MOVED, and of the block that the realloc made;
 * else 0, unless the block is the result of an earlier realloc. Stamps are
 * for model_since_start_ns. `end` finds in block->temporary whether the block
 * counts as one. `thread`: where to put the thread whose event it is
 * (threads.list), before each call; may be NULL. Of events that came out of
 * order it may be another one. `key`: likewise, the number that the block's keys
 * have in the model that was read first, TAP_NO_KEY if they have none.
 */
#define TAP_NO_KEY UINT32_MAX

struct model_tap {
	void *owner;
	void (*birth)(void *owner, const struct block *block, uint32_t number,
		      uint32_t node, uint32_t chain);
	void (*end)(void *owner, const struct block *block, uint32_t number,
		    uint32_t node, uint64_t stamp, enum edge_end end,
		    uint32_t chain);
	uint32_t *thread, *key;
};

#endif
