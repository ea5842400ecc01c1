/*
 * heap.c: see heap.h. Called by the main thread, when all was read.
 */
#include "cli/model/heap.h"

#include <string.h>

#include "cli/model/model.h"

const char *const heap_part_names[HEAP_PARTS] = {
	[HEAP_MAIN] = "main",
	[HEAP_OTHER] = "other",
	[HEAP_MMAPPED] = "mmapped",
	[HEAP_UNKNOWN] = "unknown",
};

static enum heap_part part_of(unsigned layout)
{
	if (!(layout & GT_LAYOUT_KNOWN))
		return HEAP_UNKNOWN;
	if (layout & GT_LAYOUT_MMAPPED)
		return HEAP_MMAPPED;
	return layout & GT_LAYOUT_OTHER ? HEAP_OTHER : HEAP_MAIN;
}

void heap_shares(const struct model *model,
		 struct heap_share shares[HEAP_PARTS])
{
	memset(shares, 0, HEAP_PARTS * sizeof(*shares));
	for (uint64_t i = 0; i <= model->blocks.mask; i++) {
		const struct block *block = &model->blocks.table[i];
		struct heap_share *share = &shares[part_of(block->layout)];

		if (block->address == 0)
			continue;
		share->blocks++;
		share->bytes += block->size;
		if (block->layout & GT_LAYOUT_KNOWN)
			share->usable += gt_layout_usable(block->size,
							  block->layout);
	}
}
