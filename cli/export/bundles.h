/*
 * bundles.h: groups blocks into a bounded list, for formats that list each
 * block. A bundle is the blocks of one context that were allocated in one time
 * span and freed in one time span, or are still live. The time spans start so
 * short that each block is a bundle of its own. Whenever there are more bundles
 * than the limit, the spans become twice as long and bundles merge.
 *
 *  I1  Sums over bundles equal sums over blocks, whatever the limit.
 *  I2  No two bundles have the same context, thread, span of allocation and
 *      span of free. So even one single span leaves at most two bundles for
 *      each context and thread, and a higher limit holds.
 */
#ifndef GNOMON_BUNDLES_H
#define GNOMON_BUNDLES_H

#include <stddef.h>
#include <stdint.h>

#define BUNDLE_LIVES UINT64_MAX

struct bundle {
	uint32_t node, thread;
	uint64_t alloc_ns;	/* ns: first allocation */
	uint64_t ended;		/* ns: last free; BUNDLE_LIVES: still live */
	uint64_t bytes, blocks, temporary;
};

struct bundles {
	size_t limit;
	unsigned shift;		/* a span is 1 << shift ns */
	struct bundle *list;	/* unordered */
	size_t count, capacity;
	/* Hash table: number in the list + 1. A struct table would be four
	 * times as large. */
	uint32_t *index;
	size_t index_mask;
};

void bundles_init(struct bundles *bundles, size_t limit);
/* Add a block, or several as one bundle. */
void bundles_add(struct bundles *bundles, const struct bundle *bundle);
void bundles_free(struct bundles *bundles);

#endif
