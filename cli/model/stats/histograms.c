/*
 * histograms.c: see histograms.h. A context's cells are a list with a handful
 * of entries: most contexts allocate blocks of few sizes, and their lifetimes
 * have few orders of magnitude.
 *
 * Called by the reader's thread.
 */
#include "cli/model/stats/histograms.h"

#include <stdlib.h>
#include <string.h>

#include "cli/base/grow.h"
#include "unwind/base/assertion.h"

static uint32_t new_cell(struct histograms *histograms)
{
	if (histograms->cell_count == 0) {
		GROW(histograms->cells, histograms->cell_count,
		     histograms->cell_capacity);
		histograms->cell_count = 1;
	}
	GROW(histograms->cells, histograms->cell_count,
	     histograms->cell_capacity);
	memset(&histograms->cells[histograms->cell_count], 0,
	       sizeof(*histograms->cells));
	return (uint32_t)histograms->cell_count++;
}

struct histogram_bucket *histograms_cell(struct histograms *histograms,
					 uint32_t cost,
					 enum histogram_kind kind,
					 unsigned bucket)
{
	struct histogram_cell *cell;
	uint32_t i;

	DEBUG_ASSERT(kind < HISTOGRAM_KINDS && bucket < HISTOGRAM_BUCKETS);
	GROW_TO(histograms->first, histograms->first_count, cost);
	for (i = histograms->first[cost]; i != 0;
	     i = histograms->cells[i].next) {
		DEBUG_ASSERT(i < histograms->cell_count);
		cell = &histograms->cells[i];
		if (cell->kind == kind && cell->bucket == bucket)
			return &cell->sum;
	}
	i = new_cell(histograms);
	cell = &histograms->cells[i];
	cell->kind = (uint8_t)kind;
	cell->bucket = (uint8_t)bucket;
	cell->next = histograms->first[cost];
	histograms->first[cost] = i;
	DEBUG_ASSERT(cell->next < i);
	return &cell->sum;
}

void histograms_add(const struct histograms *histograms, uint32_t cost,
		    enum histogram_kind kind, struct histogram *sum)
{
	uint32_t i = cost < histograms->first_count ?
		histograms->first[cost] : 0;

	for (; i != 0; i = histograms->cells[i].next) {
		const struct histogram_cell *cell = &histograms->cells[i];

		DEBUG_ASSERT(i < histograms->cell_count &&
			     cell->bucket < HISTOGRAM_BUCKETS);
		if (cell->kind != kind)
			continue;
		sum->bucket[cell->bucket].blocks += cell->sum.blocks;
		sum->bucket[cell->bucket].bytes += cell->sum.bytes;
	}
}

#ifdef GNOMON_DEBUG_ASSERTS
bool histograms_is_valid(const struct histograms *histograms)
{
	for (size_t i = 1; i < histograms->cell_count; i++)
		if (histograms->cells[i].next >= i ||
		    histograms->cells[i].kind >= HISTOGRAM_KINDS ||
		    histograms->cells[i].bucket >= HISTOGRAM_BUCKETS)
			return false;
	for (size_t i = 0; i < histograms->first_count; i++)
		if (histograms->first[i] != 0 &&
		    histograms->first[i] >= histograms->cell_count)
			return false;
	return true;
}
#endif

void histograms_free(struct histograms *histograms)
{
	free(histograms->cells);
	free(histograms->first);
	memset(histograms, 0, sizeof(*histograms));
}
