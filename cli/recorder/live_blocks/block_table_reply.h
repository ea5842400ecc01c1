/*
 * block_table_reply.h: handles requests for live heap measures (the recorder's
 * half of blocks_request.h).
 */
#ifndef GNOMON_BLOCK_TABLE_REPLY_H
#define GNOMON_BLOCK_TABLE_REPLY_H

#include "cli/recorder/live_blocks/block_table.h"
#include "preload/ring/blocks_request.h"

/*
 * The block table must be up to date. `answer` has `bytes` bytes, all zero. 0;
 * -ENOMEM: blocks are missing for lack of memory; -EINVAL: unknown request, or
 * no room for the answer.
 */
long block_table_reply(const struct block_table *table, uint64_t what,
		       uint64_t ring, void *answer, size_t bytes);

#endif
