/*
 * bundles.h: blocks that are told one by one, as a list that does not grow
 * with them. A bundle is the blocks of one context that were allocated in one
 * span of time and ended in one span of time, or have not ended. Spans are so
 * short at first that each block is a bundle of its own; whenever there are
 * more bundles than the limit, spans become twice as long, and some are one.
 *
 *  I1  Sums over bundles are those over blocks, whatever the limit.
 *  I2  No two bundles have the same context, thread, span of their births and
 *      span of their ends. So with one span for all there are two for each
 *      context and thread, and a limit of more than that holds.
 */
#ifndef GNOMON_BUNDLES_H
#define GNOMON_BUNDLES_H

#include <stddef.h>
#include <stdint.h>

#define BUNDLE_LIVES UINT64_MAX

struct bundle {
	uint32_t node, thread;
	uint64_t born;		/* ns: the first of them */
	uint64_t ended;		/* ns: the last; BUNDLE_LIVES: none has */
	uint64_t bytes, blocks, temporary;
};

struct bundles {
	size_t limit;
	unsigned shift;		/* a span is 1 << shift ns */
	struct bundle *list;	/* in no order */
	size_t count, capacity;
	/* By hash: number in the list + 1. A struct table would be four times
	 * as large. */
	uint32_t *index;
	size_t index_mask;
};

void bundles_init(struct bundles *bundles, size_t limit);
/* Put in a block, or some that go together. */
void bundles_add(struct bundles *bundles, const struct bundle *bundle);
void bundles_free(struct bundles *bundles);

#endif
