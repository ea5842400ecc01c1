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

enum heap_part heap_part(unsigned layout)
{
	if (!(layout & GT_LAYOUT_KNOWN))
		return HEAP_UNKNOWN;
	if (layout & GT_LAYOUT_MMAPPED)
		return HEAP_MMAPPED;
	return layout & GT_LAYOUT_OTHER ? HEAP_OTHER : HEAP_MAIN;
}

void heap_shares(const struct model *model, const bool *kept,
		 struct heap_share shares[HEAP_PARTS])
{
	const struct block *block;
	uint64_t at = 0;

	memset(shares, 0, HEAP_PARTS * sizeof(*shares));
	while ((block = model_next_block(model, &at)) != NULL) {
		struct heap_share *share = &shares[heap_part(block->layout)];

		if (kept != NULL && !kept[block->cost])
			continue;
		share->blocks++;
		share->bytes += block->size;
		if (block->layout & GT_LAYOUT_KNOWN)
			share->usable += gt_layout_usable(block->size,
							  block->layout);
	}
}
