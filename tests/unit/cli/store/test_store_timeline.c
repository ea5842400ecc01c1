// LINK: random_rows.c
/*
 * test_store_timeline.c: peaks and timelines are those that a walk over all
 * allocations and ends in their order finds.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "cli/store/store_sweep.h"
#include "tests/unit/cli/store/random_rows.h"

#define NODES 3600
#define STEPS_MAX 40

/* An edge: a row, and whether it is its end. */
struct edge {
	uint64_t number;
	const struct store_row *row;
	bool end;
};

struct edges {
	struct edge *list;
	size_t count;
};

static int by_number(const void *a, const void *b)
{
	const struct edge *x = a, *y = b;

	return x->number < y->number ? -1 : x->number > y->number;
}

/* Of rows of at least this size. */
static struct edges make_edges(const struct random_rows *rows, uint64_t size)
{
	struct edges edges = {
		.list = calloc(2 * rows->count + 1, sizeof(struct edge)),
	};

	for (size_t i = 0; i < rows->count; i++) {
		const struct store_row *row = &rows->list[i];

		if (row->size < size)
			continue;
		edges.list[edges.count++] = (struct edge){ row->alloc_edge,
							   row, false };
		if (row->how != STORE_LIVE)
			edges.list[edges.count++] = (struct edge){
				row->end_edge, row, true };
	}
	qsort(edges.list, edges.count, sizeof(struct edge), by_number);
	return edges;
}

/* A scan of these rows. */
struct of_size {
	struct store_range range;
	struct store_term term;
	struct store_scan scan;
};

static void of_size(struct of_size *o, uint64_t size)
{
	o->range = (struct store_range){ size, UINT64_MAX };
	o->term = (struct store_term){ .column = STORE_SIZE,
				       .ranges = &o->range, .range_count = 1 };
	o->scan = (struct store_scan){ .terms = &o->term, .term_count = 1 };
}

/* ---- peaks ---- */

static void go_up(struct store_peak *live, struct store_peak *peak,
		  const struct edge *edge)
{
	live->bytes += edge->row->size;
	live->blocks++;
	if (live->bytes <= peak->bytes)
		return;
	*peak = (struct store_peak){ live->bytes, live->blocks, edge->number,
				     edge->row->begin };
}

static void try_peaks(struct store *store, const struct random_rows *rows,
		      uint64_t size)
{
	struct store_peak *live = calloc(NODES + 1, sizeof(*live));
	struct store_peak *peaks = calloc(NODES + 1, sizeof(*live));
	struct store_peak *found = calloc(NODES, sizeof(*live)), whole, again;
	const struct store_grouping nodes = {
		.groups = NODES, .column = STORE_NODE,
	};
	struct edges edges = make_edges(rows, size);
	struct of_size o;

	of_size(&o, size);
	for (size_t i = 0; i < edges.count; i++) {
		const struct edge *edge = &edges.list[i];
		uint32_t node = edge->row->node;

		if (!edge->end) {
			go_up(&live[node], &peaks[node], edge);
			go_up(&live[NODES], &peaks[NODES], edge);
			continue;
		}
		live[node].bytes -= edge->row->size;
		live[NODES].bytes -= edge->row->size;
		live[node].blocks--;
		live[NODES].blocks--;
	}
	assert_int_equal(store_peaks(store, &o.scan, &nodes, NULL, &whole,
				     found), 0);
	assert_memory_equal(found, peaks, NODES * sizeof(*found));
	assert_memory_equal(&whole, &peaks[NODES], sizeof(whole));
	assert_int_equal(store_peaks(store, &o.scan, NULL, NULL, &again,
				     NULL), 0);
	assert_memory_equal(&again, &whole, sizeof(whole));
	free(live);
	free(peaks);
	free(found);
	free(edges.list);
}

static void peaks_are_those_of_a_walk(void **state)
{
	static const size_t allocs[] = { 1, 2, 50, 3000, 120000 };

	(void)state;
	for (size_t i = 0; i < sizeof(allocs) / sizeof(*allocs); i++) {
		struct random_rows rows = random_rows_make(i, allocs[i]);
		struct store *store = random_rows_store(&rows);

		try_peaks(store, &rows, 0);
		try_peaks(store, &rows, 100);
		try_peaks(store, &rows, UINT64_MAX);
		store_close(store);
		random_rows_free(&rows);
	}
}

/* So many that they are not sorted but have places in windows. */
static void peaks_of_many(void **state)
{
	struct random_rows rows = random_rows_make(77, 1800000);
	struct store *store = random_rows_store(&rows);

	(void)state;
	try_peaks(store, &rows, 0);
	store_close(store);
	random_rows_free(&rows);
}

/* What was live at the peak, by group, is the peak. */
static void groups_at_the_peak_add_up(void **state)
{
	struct random_rows rows = random_rows_make(5, 50000);
	struct store *store = random_rows_store(&rows);
	const struct store_scan all = { 0 };
	const struct store_grouping threads = {
		.groups = 5, .column = STORE_THREAD,
	};
	struct store_group_options options = { .sums = STORE_SUM_ALIVE_EDGE };
	struct store_sums sums[5];
	struct store_peak whole;
	uint64_t bytes = 0, blocks = 0;

	(void)state;
	assert_int_equal(store_peaks(store, &all, NULL, NULL, &whole, NULL),
			 0);
	options.alive_at = whole.edge;
	assert_int_equal(store_group(store, &all, &threads, &options, sums),
			 0);
	for (size_t i = 0; i < 5; i++) {
		bytes += sums[i].alive_bytes;
		blocks += sums[i].alive_blocks;
	}
	assert_int_equal(bytes, whole.bytes);
	assert_int_equal(blocks, whole.blocks);
	store_close(store);
	random_rows_free(&rows);
}

/* ---- over time ---- */

struct walk {
	const struct store_axis *axis;
	struct store_step *list;	/* by thread and step; then the whole */
	struct store_step now[6];
	size_t step;
};

static void close_step(struct walk *w)
{
	for (size_t i = 0; i < 6; i++) {
		w->list[i * w->axis->steps + w->step] = w->now[i];
		w->now[i] = (struct store_step){
			.live_bytes = w->now[i].live_bytes,
			.live_blocks = w->now[i].live_blocks,
			.live_bytes_max = w->now[i].live_bytes,
		};
	}
	w->step++;
}

static void walk_edge(struct store_step *now, const struct edge *edge,
		      uint64_t temporary)
{
	const struct store_row *row = edge->row;

	if (!edge->end) {
		now->allocations++;
		now->allocated_bytes += row->size;
		now->live_blocks++;
		now->live_bytes += row->size;
		if (now->live_bytes > now->live_bytes_max)
			now->live_bytes_max = now->live_bytes;
		return;
	}
	now->live_blocks--;
	now->live_bytes -= row->size;
	if (row->how == STORE_LOST)
		return;
	now->frees++;
	now->freed_bytes += row->size;
	now->temporary += row->between <= temporary;
}

/* As cli/query/series.c. */
static void walk(struct walk *w, const struct edges *edges)
{
	for (size_t i = 0; i < edges->count; i++) {
		const struct edge *edge = &edges->list[i];
		uint64_t stamp = edge->end ? edge->row->end : edge->row->begin;

		while (w->step + 1 < w->axis->steps &&
		       stamp >= w->axis->begins[w->step + 1])
			close_step(w);
		walk_edge(&w->now[edge->row->thread], edge,
			  w->axis->temporary);
		walk_edge(&w->now[5], edge, w->axis->temporary);
	}
	while (w->step < w->axis->steps)
		close_step(w);
}

static void try_timeline(struct store *store, const struct random_rows *rows,
			 const struct store_axis *axis, uint64_t size)
{
	const struct store_grouping threads = {
		.groups = 5, .column = STORE_THREAD,
	};
	size_t cells = 6 * axis->steps;
	struct walk w = {
		.axis = axis, .list = calloc(cells, sizeof(*w.list)),
	};
	struct store_step *list = calloc(cells, sizeof(*list));
	struct edges edges = make_edges(rows, size);
	struct of_size o;

	of_size(&o, size);
	walk(&w, &edges);
	for (size_t i = 0; i < cells && !axis->maxima; i++)
		w.list[i].live_bytes_max = 0;
	assert_int_equal(store_timeline(store, &o.scan, &threads, NULL, axis,
					list), 0);
	assert_memory_equal(list, w.list, cells * sizeof(*list));
	/* without groups, ends are added together */
	assert_int_equal(store_timeline(store, &o.scan, NULL, NULL, axis,
					list), 0);
	assert_memory_equal(list, w.list + 5 * axis->steps,
			    axis->steps * sizeof(*list));
	free(list);
	free(w.list);
	free(edges.list);
}

static int by_stamp(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* Stamps are out of order here and there, and steps may begin in between. */
static void timelines_are_those_of_a_walk(void **state)
{
	uint64_t seed = 5, begins[STEPS_MAX];

	(void)state;
	for (unsigned n = 0; n < 60; n++) {
		struct random_rows rows = random_rows_make(n,
				1 + random_below(&seed, n < 50 ? 2000 :
							90000));
		struct store *store = random_rows_store(&rows);
		uint64_t first = rows.list[0].begin - 100;

		for (unsigned i = 0; i < 3; i++) {
			struct store_axis axis = {
				.begins = begins,
				.steps = 1 + random_below(&seed, STEPS_MAX),
				.temporary = random_below(&seed, 3),
				.maxima = random_below(&seed, 2),
			};

			for (size_t j = 0; j < axis.steps; j++)
				begins[j] = random_below(&seed, 20) == 0 ?
					UINT64_MAX : first +
					random_below(&seed, rows.end - first +
						     50);
			qsort(begins, axis.steps, sizeof(*begins), by_stamp);
			try_timeline(store, &rows, &axis,
				     random_below(&seed, 2) * 64);
		}
		store_close(store);
		random_rows_free(&rows);
	}
}

/* Each batch ends in one step, and the second one by its stamps in an earlier
 * step than the first. */
static void late_batches_are_in_the_last_step(void **state)
{
	const uint64_t begins[] = { 0, 40 };
	const struct store_axis axis = { .begins = begins, .steps = 2 };
	const struct store_scan all = { 0 };
	struct random_rows rows = { .count = 2 * STORE_BATCH, .end = 50 };
	struct store_step list[2];
	struct store *store;

	(void)state;
	rows.list = calloc(rows.count, sizeof(*rows.list));
	for (size_t i = 0; i < rows.count; i++)
		rows.list[i] = (struct store_row){
			.begin = 1, .end = i < STORE_BATCH ? 50 : 20,
			.alloc_edge = i, .end_edge = rows.count + i,
			.size = 8, .how = STORE_FREED,
		};
	store = random_rows_store(&rows);
	assert_int_equal(store_timeline(store, &all, NULL, NULL, &axis, list),
			 0);
	assert_int_equal(list[0].frees, 0);
	assert_int_equal(list[0].live_blocks, rows.count);
	assert_int_equal(list[1].frees, rows.count);
	assert_int_equal(list[1].live_blocks, 0);
	store_close(store);
	random_rows_free(&rows);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(peaks_are_those_of_a_walk),
		cmocka_unit_test(peaks_of_many),
		cmocka_unit_test(groups_at_the_peak_add_up),
		cmocka_unit_test(timelines_are_those_of_a_walk),
		cmocka_unit_test(late_batches_are_in_the_last_step),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
