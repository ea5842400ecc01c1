/*
 * rows.c: see rows.h. Called by the main thread, after reading.
 */
#include "cli/model/rows.h"

#include <stdlib.h>
#include <string.h>

#include "cli/base/grow.h"
#include "unwind/claim.h"

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

/* < 0: x comes before y. */
static int order(const struct rows *rows, const struct row *x,
		 const struct row *y)
{
	for (int i = -2; i < (int)figure_count; i++) {
		/* The key asked for, how many blocks that is (some have no
		 * bytes), then the others in their order. */
		enum figure key = i < 0 ? rows->key : (enum figure)i;
		uint64_t left = figures_value(&x->figures, key,
					      rows->end_ns);
		uint64_t right = figures_value(&y->figures, key,
					       rows->end_ns);

		if (i == -1) {
			left = figures_blocks(&x->figures, key);
			right = figures_blocks(&y->figures, key);
		}
		if (left != right)
			return left > right ? -1 : 1;
	}
	return x->node < y->node ? -1 : x->node > y->node;
}

/*
 * A row more, of which `limit` are wanted: the list is then a heap whose root
 * is the row that comes last.
 */
static void offer(struct rows *rows, size_t limit, const struct row *row)
{
	struct row *heap = rows->list;
	size_t i = rows->count;
	CLAIM_FULL(limit > 0 && rows->count <= limit);

	if (rows->count < limit) {
		rows->count++;
		while (i > 0 && order(rows, &heap[(i - 1) / 2], row) < 0) {
			heap[i] = heap[(i - 1) / 2];
			i = (i - 1) / 2;
		}
		heap[i] = *row;
		return;
	}
	if (order(rows, row, &heap[0]) > 0)
		return;
	i = 0;
	for (size_t child = 1; child < limit; child = 2 * i + 1) {
		if (child + 1 < limit &&
		    order(rows, &heap[child], &heap[child + 1]) < 0)
			child++;
		if (order(rows, &heap[child], row) < 0)
			break;
		heap[i] = heap[child];
		i = child;
	}
	CLAIM_FULL(i < limit);
	heap[i] = *row;
}

/* To the others of its group. */
static void group_row(struct rows *rows, size_t *capacity,
		      struct table *groups, const struct row *row)
{
	uint32_t at = table_get(groups, row->group);
	CLAIM_FULL(at == TABLE_NONE || at < rows->count);

	if (at != TABLE_NONE) {
		merge(&rows->list[at], row);
		return;
	}
	GROW(rows->list, rows->count, *capacity);
	table_set(groups, row->group, (uint32_t)rows->count);
	rows->list[rows->count++] = *row;
}

/* Of rows that are groups, the wanted ones. */
static void cut(struct rows *rows, uint64_t limit)
{
	for (size_t i = 0; i < rows->count; i++)
		rows->nonzero += figures_any(&rows->list[i].figures,
					     rows->key, rows->end_ns);
	if (limit == 0 || rows->count <= limit)
		return;
	rows_sort(rows);
	rows->count = limit;
}

void rows_collect(const struct model *model, const struct rows_query *query,
		  struct rows *rows)
{
	size_t n = model->contexts.cost_count, capacity;
	size_t limit = query->limit && query->limit < n ? query->limit : n;
	struct table groups = { 0 };

	capacity = query->group ? 0 : limit;
	memset(rows, 0, sizeof(*rows));
	rows->list = grow_resize(NULL, capacity, sizeof(*rows->list));
	rows->key = query->key;
	rows->end_ns = model_duration_ns(model);
	for (size_t i = 0; i < n; i++) {
		const struct context_cost *cost = &model->contexts.costs[i];
		struct row row = { .node = cost->node, .contexts = 1 };

		model_figures(model, cost, &row.figures);
		if (query->keep != NULL && !query->keep(query->keeper,
						cost->node, &row.figures))
			continue;
		row.largest = row_value(rows, &row);
		if (query->group != NULL) {
			row.group = query->group(query->owner, cost);
			group_row(rows, &capacity, &groups, &row);
			continue;
		}
		rows->nonzero += figures_any(&row.figures, rows->key,
					     rows->end_ns);
		if (limit < n)
			offer(rows, limit, &row);
		else
			rows->list[rows->count++] = row;
	}
	CLAIM_FULL(rows->count <= n && rows->nonzero <= n);
	if (query->group != NULL)
		cut(rows, query->limit);
	table_free(&groups);
}

static const struct rows *sorting;

static int compare(const void *a, const void *b)
{
	return order(sorting, a, b);
}

void rows_sort(struct rows *rows)
{
	sorting = rows;
	qsort(rows->list, rows->count, sizeof(*rows->list), compare);
}
