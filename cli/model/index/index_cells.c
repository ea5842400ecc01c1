/*
 * index_cells.c: see index_cells.h.
 */
#include "cli/model/index/index_cells.h"

#include <stdlib.h>
#include <string.h>

#include "cli/base/grow.h"
#include "cli/model/index/index_groups.h"

/* Cells per group, on average, at most. */
#define CELLS_OF_GROUP 4

/* Finds the least and greatest key of each node; returns how many cells they
 * need. */
static uint64_t find_spans(struct index_cells *cells,
			   const struct index_group *list, size_t count,
			   size_t nodes)
{
	uint64_t sum = 0;

	cells->spans = grow_zeroed(nodes, sizeof(*cells->spans));
	for (size_t i = 0; i < count; i++) {
		const struct index_group *group = &list[i];
		struct index_span *span = &cells->spans[group->node];
		uint32_t last = span->min + span->more;

		if (!span->used)
			span->min = last = group->key;
		if (group->key < span->min)
			span->min = group->key;
		if (group->key > last)
			last = group->key;
		span->used = true;
		span->more = last - span->min;
	}
	for (size_t node = 0; node < nodes; node++) {
		cells->spans[node].first = (uint32_t)sum;
		sum += cells->spans[node].used ?
			(uint64_t)cells->spans[node].more + 1 : 0;
	}
	return sum;
}

void index_cells_make(struct index_cells *cells, const struct index_group *list,
		      size_t count, size_t nodes)
{
	uint64_t sum = find_spans(cells, list, count, nodes);

	if (sum > (uint64_t)count * CELLS_OF_GROUP || sum > UINT32_MAX) {
		index_cells_free(cells);
		return;
	}
	cells->list = grow_resize(NULL, sum, sizeof(*cells->list));
	memset(cells->list, 0xff, sum * sizeof(*cells->list));
	for (size_t i = 0; i < count; i++) {
		const struct index_span *span = &cells->spans[list[i].node];

		cells->list[span->first + (list[i].key - span->min)] =
			(uint32_t)i;
	}
}

uint32_t index_cells_find(const struct index_cells *cells, uint32_t node,
			  uint32_t key)
{
	const struct index_span *span = &cells->spans[node];

	return span->used && key - span->min <= span->more ?
		cells->list[span->first + (key - span->min)] : STORE_NONE;
}

void index_cells_free(struct index_cells *cells)
{
	free(cells->spans);
	free(cells->list);
	*cells = (struct index_cells){ 0 };
}
