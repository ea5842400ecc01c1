/*
 * rows.c: see rows.h. Called by the main thread, after reading.
 */
#include "cli/model/rows.h"

#include <stdlib.h>
#include <string.h>

#include "cli/base/grow.h"

const char *const row_key_names[ROW_KEYS] = {
	"live", "peak", "total", "count", "temporary"
};

uint64_t row_value(const struct row *row, enum row_key key)
{
	switch (key) {
	case ROW_LIVE:
		return row->live_bytes;
	case ROW_PEAK:
		return row->peak_bytes;
	case ROW_TOTAL:
		return row->total_bytes;
	case ROW_COUNT:
		return row->count;
	case ROW_TEMPORARY:
		return row->temporary;
	case ROW_KEYS:
		break;
	}
	return 0;
}

static void fill(const struct model *model, const struct context_cost *cost,
		 struct row *row)
{
	memset(row, 0, sizeof(*row));
	model_at_peak(model, cost, &row->peak_bytes, &row->peak_blocks);
	row->live_bytes = cost->live_bytes;
	row->live_blocks = cost->live_blocks;
	row->total_bytes = cost->total_bytes;
	row->count = cost->allocations;
	row->frees = cost->frees;
	row->temporary = cost->temporary;
	row->node = cost->node;
	row->contexts = 1;
}

static void merge(struct row *into, const struct row *row)
{
	if (row->largest > into->largest) {
		into->largest = row->largest;
		into->node = row->node;
	}
	into->live_bytes += row->live_bytes;
	into->live_blocks += row->live_blocks;
	into->peak_bytes += row->peak_bytes;
	into->peak_blocks += row->peak_blocks;
	into->total_bytes += row->total_bytes;
	into->count += row->count;
	into->frees += row->frees;
	into->temporary += row->temporary;
	into->contexts++;
}

void rows_collect(const struct model *model, enum row_key key,
		  uint64_t (*group)(void *owner, uint32_t node), void *owner,
		  struct rows *rows)
{
	size_t n = model->contexts.cost_count;
	struct table groups = { 0 };

	rows->list = grow_resize(NULL, n, sizeof(*rows->list));
	rows->count = 0;
	for (size_t i = 0; i < n; i++) {
		struct row *row = &rows->list[rows->count];
		uint32_t at;

		fill(model, &model->contexts.costs[i], row);
		row->largest = row_value(row, key);
		if (group == NULL) {
			rows->count++;
			continue;
		}
		row->group = group(owner, row->node);
		at = table_get(&groups, row->group);
		if (at == TABLE_NONE)
			table_set(&groups, row->group,
				  (uint32_t)rows->count++);
		else
			merge(&rows->list[at], row);
	}
	table_free(&groups);
}

static enum row_key sort_key;

static int compare(const void *a, const void *b)
{
	const struct row *x = a, *y = b;

	for (unsigned i = 0; i <= ROW_KEYS; i++) {
		/* the key asked for, then the others in their order */
		enum row_key key = i == 0 ? sort_key : (enum row_key)(i - 1);
		uint64_t left = row_value(x, key), right = row_value(y, key);

		if (left != right)
			return left > right ? -1 : 1;
	}
	return x->node < y->node ? -1 : x->node > y->node;
}

void rows_sort(struct rows *rows, enum row_key key)
{
	sort_key = key;
	qsort(rows->list, rows->count, sizeof(*rows->list), compare);
}
