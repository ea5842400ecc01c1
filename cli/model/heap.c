/* heap.c: see heap.h. Called by the main thread, after reading. */
#include "cli/model/heap.h"

#include "cli/model/core/blocks.h"
#include "cli/model/model.h"

const char *const heap_part_names[HEAP_PARTS] = {
	[HEAP_MAIN] = "main",
	[HEAP_OTHER] = "other",
	[HEAP_MMAPPED] = "mmapped",
	[HEAP_UNKNOWN] = "unknown",
};

/* Doubles are exact far beyond the memory of any machine. */
static uint64_t whole(double sum)
{
	return sum < 0x1p63 ? (uint64_t)(sum + 0.5) : UINT64_C(1) << 63;
}

enum heap_part heap_part(unsigned layout)
{
	if (!(layout & GT_LAYOUT_KNOWN))
		return HEAP_UNKNOWN;
	if (layout & GT_LAYOUT_MMAPPED)
		return HEAP_MMAPPED;
	return layout & GT_LAYOUT_OTHER ? HEAP_OTHER : HEAP_MAIN;
}

/* Sums before rounding. */
struct weighed {
	double blocks, bytes, usable;
};

uint64_t heap_extra(const struct block *block)
{
	if (!(block->layout & GT_LAYOUT_KNOWN))
		return 0;
	return gt_layout_usable(block->size, block->layout) - block->size +
		(block->layout & GT_LAYOUT_MMAPPED ? 16 : 8);
}

void heap_shares(const struct model *model, const bool *kept,
		 struct heap_share shares[HEAP_PARTS])
{
	struct weighed sums[HEAP_PARTS] = { 0 };
	const struct block *block;
	uint64_t at = 0;

	while ((block = model_next_block(model, &at)) != NULL) {
		struct weighed *sum = &sums[heap_part(block->layout)];
		double weight = model_weight(model, block);

		if (kept != NULL && !kept[block->cost])
			continue;
		sum->blocks += weight;
		sum->bytes += weight * (double)block->size;
		if (block->layout & GT_LAYOUT_KNOWN)
			sum->usable += weight * (double)gt_layout_usable(
				block->size, block->layout);
	}
	for (unsigned i = 0; i < HEAP_PARTS; i++)
		shares[i] = (struct heap_share){
			.blocks = whole(sums[i].blocks),
			.bytes = whole(sums[i].bytes),
			.usable = whole(sums[i].usable),
		};
}
