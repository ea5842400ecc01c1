/*
 * block_table_reply.c: see block_table_reply.h.
 */
#include "cli/recorder/live_blocks/block_table_reply.h"

#include <errno.h>

#include "cli/recorder/live_blocks/block_table_rounded.h"
#include "library/gnomon/gnomon.h"
#include "preload/base/base.h"
#include "unwind/base/assertion.h"

static void block_table_reply_sum(const struct block_table *table,
				  const struct block_table_sum *sum,
				  struct gnomon_summary *answer)
{
	const struct block_table_sum whole = block_table_rounded(table, sum);

	DEBUG_ASSERT(whole.frees <= whole.blocks);
	answer->total_bytes = whole.bytes;
	answer->live_bytes = whole.bytes - whole.freed;
	answer->peak_bytes = whole.peak_bytes;
	answer->allocations = whole.blocks;
	answer->frees = whole.frees;
	answer->live_blocks = whole.blocks - whole.frees;
}

static void block_table_reply_thread(const struct block_table *table,
				     uint64_t ring,
				     struct gnomon_summary *answer)
{
	if (ring < GL_RINGS_MAX)
		block_table_reply_sum(
			table,
			&block_table_thread_at(table, (uint32_t)ring)->sum,
			answer);
}

static void block_table_reply_classes(const struct block_table *table,
				      struct gnomon_sizes *answer)
{
	unsigned i;

	for (i = 0; i < GT_CLASSES; i++) {
		const struct block_table_class one =
			block_table_rounded_class(table, i);
		unsigned class = base_min(i, GNOMON_CLASSES - 1);

		answer->total[class] += one.blocks;
		answer->live[class] += one.blocks - one.frees;
	}
}

long block_table_reply(const struct block_table *table, uint64_t what,
		       uint64_t ring, void *answer, size_t bytes)
{
	if (bytes < (what == BLOCKS_REQUEST_CLASSES ?
			     sizeof(struct gnomon_sizes) :
			     sizeof(struct gnomon_summary)))
		return -EINVAL;
	switch (what) {
	case BLOCKS_REQUEST_SUM:
		block_table_reply_sum(table, &table->all, answer);
		break;
	case BLOCKS_REQUEST_THREAD:
		block_table_reply_thread(table, ring, answer);
		break;
	case BLOCKS_REQUEST_CLASSES:
		block_table_reply_classes(table, answer);
		break;
	default:
		return -EINVAL;
	}
	return table->refused ? -ENOMEM : 0;
}
