/*
 * rows.c: see rows.h. Called by the main thread, after reading.
 */
#include "cli/model/rows.h"

#include <stdlib.h>
#include <string.h>

#include "cli/base/grow.h"

uint64_t row_value(const struct rows *rows, const struct row *row)
{
	return figures_value(&row->figures, rows->key, rows->end_ns);
}

static void merge(struct row *into, const struct row *row)
{
	if (row->largest > into->largest) {
		into->largest = row->largest;
		into->node = row->node;
	}
	figures_add(&into->figures, &row->figures);
	into->contexts++;
}

void rows_collect(const struct model *model, const struct rows_query *query,
		  struct rows *rows)
{
	size_t n = model->contexts.cost_count;
	struct table groups = { 0 };

	rows->list = grow_resize(NULL, n, sizeof(*rows->list));
	rows->count = 0;
	rows->key = query->key;
	rows->end_ns = model_duration_ns(model);
	for (size_t i = 0; i < n; i++) {
		const struct context_cost *cost = &model->contexts.costs[i];
		struct row *row = &rows->list[rows->count];
		uint32_t at;

		memset(row, 0, sizeof(*row));
		model_figures(model, cost, &row->figures);
		if (query->keep != NULL && !query->keep(query->keeper,
						cost->node, &row->figures))
			continue;
		row->node = cost->node;
		row->contexts = 1;
		row->largest = row_value(rows, row);
		if (query->group == NULL) {
			rows->count++;
			continue;
		}
		row->group = query->group(query->owner, cost);
		at = table_get(&groups, row->group);
		if (at == TABLE_NONE)
			table_set(&groups, row->group,
				  (uint32_t)rows->count++);
		else
			merge(&rows->list[at], row);
	}
	table_free(&groups);
}

static const struct rows *sorting;

static int compare(const void *a, const void *b)
{
	const struct row *x = a, *y = b;

	for (int i = -1; i < FIGURE_KEYS; i++) {
		/* the key asked for, then the others in their order */
		enum figure key = i < 0 ? sorting->key : (enum figure)i;
		uint64_t left = figures_value(&x->figures, key,
					      sorting->end_ns);
		uint64_t right = figures_value(&y->figures, key,
					       sorting->end_ns);

		if (left != right)
			return left > right ? -1 : 1;
	}
	return x->node < y->node ? -1 : x->node > y->node;
}

void rows_sort(struct rows *rows)
{
	sorting = rows;
	qsort(rows->list, rows->count, sizeof(*rows->list), compare);
}
