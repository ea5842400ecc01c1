/*
 * sql_scan.c: see sql_scan.h.
 *
 * Filters on blocks (selection.h) are applied to each row that passes the plain
 * comparisons. Where a filter implies a range, the range becomes a term too, so
 * that chunks are skipped. Filters on realloc chains and groups need a model:
 * the scan then keeps the blocks that the model selects.
 */
#include "cli/sql/sql_scan.h"

#include <stdlib.h>
#include <string.h>

#include "cli/base/grow.h"
#include "cli/base/sort.h"
#include "cli/model/core/contexts.h"
#include "cli/model/core/controls.h"
#include "cli/model/core/pools.h"
#include "cli/model/core/threads.h"
#include "cli/model/selection.h"
#include "cli/model/block_observer.h"
#include "cli/trace/read/clock.h"
#include "unwind/base/assertion.h"

/* The relative error of a span in ticks that was computed from the mean clock
 * rate. */
#define SPAN_SLACK 0.01

/* ---- terms ---- */

/* The range of a column, initially all values. */
static struct store_range *range_of(struct sql_scan *scan,
				    enum store_column column)
{
	for (size_t i = 0; i < scan->scan.term_count; i++)
		if (scan->terms[i].column == column &&
		    scan->terms[i].ranges != NULL)
			return &scan->ranges[i];
	ASSERT(scan->scan.term_count < SQL_SCAN_TERMS);
	scan->ranges[scan->scan.term_count] = (struct store_range){
		0, UINT64_MAX
	};
	scan->terms[scan->scan.term_count] = (struct store_term){
		.column = column,
		.ranges = &scan->ranges[scan->scan.term_count],
		.range_count = 1,
	};
	return &scan->ranges[scan->scan.term_count++];
}

static void at_least(struct sql_scan *scan, enum store_column column,
		     uint64_t min)
{
	struct store_range *range = range_of(scan, column);

	if (min > range->min)
		range->min = min;
	scan->nothing |= range->min > range->max;
}

static void at_most(struct sql_scan *scan, enum store_column column,
		    uint64_t max)
{
	struct store_range *range = range_of(scan, column);

	if (max < range->max)
		range->max = max;
	scan->nothing |= range->min > range->max;
}

/* Add a term for a set of values, initially empty. NULL: too many terms; SQLite
 * then checks the rows. */
static uint64_t *add_set(struct sql_scan *scan, enum store_column column,
			 uint64_t size)
{
	uint64_t *set;

	if (scan->set_count == SQL_SCAN_SETS)
		return NULL;
	ASSERT(scan->scan.term_count < SQL_SCAN_TERMS);
	set = grow_zeroed((size_t)(size / 64 + 1), sizeof(*set));
	scan->sets[scan->set_count++] = set;
	scan->terms[scan->scan.term_count++] = (struct store_term){
		.column = column, .set = set, .set_size = size,
	};
	return set;
}

/* ---- plain comparisons ---- */

/* The first stamp at or after a time in ns. */
static uint64_t stamp_of(const struct sql_scan *scan, uint64_t ns)
{
	const struct moment moment = { .ns = ns };
	uint64_t stamp = UINT64_MAX;

	moment_stamp(scan->trace->outline, &moment, &stamp);
	return stamp;
}

/* A lower or upper bound, in ticks, of a span in ns. */
static uint64_t span_of(const struct sql_scan *scan, uint64_t ns, bool is_min)
{
	double rate = clock_rate(model_clock(scan->trace->outline));
	double ticks = rate <= 0 ? (double)ns : (double)ns / rate;

	ticks *= is_min ? 1 - SPAN_SLACK : 1 + SPAN_SLACK;
	ticks += is_min ? -1 : 1;
	return ticks <= 0 ? 0 : ticks >= 0x1p63 ? UINT64_MAX / 2 :
						  (uint64_t)ticks;
}

/* Convert a value to the store's units: the range of stored values equal to
 * it. */
static struct store_range stored(const struct sql_scan *scan,
				 const struct sql_scan_column *column,
				 uint64_t value)
{
	switch (column->is) {
	case SQL_SCAN_TIME:
		return (struct store_range){
			stamp_of(scan, value),
			value == UINT64_MAX || stamp_of(scan, value + 1) == 0 ?
			UINT64_MAX : stamp_of(scan, value + 1) - 1 };
	case SQL_SCAN_SPAN:
		return (struct store_range){ span_of(scan, value, true),
					     span_of(scan, value, false) };
	case SQL_SCAN_CONTEXT:
		return (struct store_range){ (uint32_t)value,
					     (uint32_t)value };
	default:
		return (struct store_range){ value, value };
	}
}

static void take_thread(struct sql_scan *scan, uint64_t tid,
			enum store_column column)
{
	const struct threads *threads = model_threads(scan->trace->outline);
	uint64_t *set = add_set(scan, column, threads->count);

	for (size_t i = 1; i < threads->count && set != NULL; i++)
		if (threads->list[i].tid == tid)
			set[i / 64] |= UINT64_C(1) << i % 64;
}

static void take_bound(struct sql_scan *scan, enum store_column column,
		       int op, struct store_range value)
{
	switch (op) {
	case SQLITE_INDEX_CONSTRAINT_EQ:
		at_least(scan, column, value.min);
		at_most(scan, column, value.max);
		break;
	case SQLITE_INDEX_CONSTRAINT_GE:
	case SQLITE_INDEX_CONSTRAINT_GT:
		at_least(scan, column, value.min);
		break;
	default:
		at_most(scan, column, value.max);
	}
}

/* Turn > into >= of the next number, < into <= of the previous. False: there is
 * none. */
static bool make_closed(int *op, uint64_t *value)
{
	if (*op == SQLITE_INDEX_CONSTRAINT_GT) {
		*op = SQLITE_INDEX_CONSTRAINT_GE;
		return ++*value != 0;
	}
	if (*op == SQLITE_INDEX_CONSTRAINT_LT) {
		*op = SQLITE_INDEX_CONSTRAINT_LE;
		return (*value)-- != 0;
	}
	return true;
}

/* For times and spans SQLite checks the rows again, so > may be treated as
 * >=. */
static void take_term(struct sql_scan *scan, const struct sql_term *term,
		      const struct sql_scan_column *column)
{
	bool equal = term->op == SQLITE_INDEX_CONSTRAINT_EQ;
	bool below = term->op == SQLITE_INDEX_CONSTRAINT_LT ||
		     term->op == SQLITE_INDEX_CONSTRAINT_LE;
	uint64_t value = (uint64_t)term->number;
	int op = term->op;

	if (!term->is_number) {
		scan->nothing |= equal;
		return;
	}
	if (term->number < 0) {
		scan->nothing |= equal || below;
		return;
	}
	if (column->is == SQL_SCAN_CONTEXT && (uint64_t)term->number >> 32 !=
	    scan->trace->number - 1)
		scan->nothing = true;
	else if (column->is == SQL_SCAN_THREAD)
		take_thread(scan, value, column->stored);
	else if (column->is == SQL_SCAN_NUMBER && !make_closed(&op, &value))
		scan->nothing = true;
	else
		take_bound(scan, column->stored, op, stored(scan, column,
							    value));
}

/* ---- filters on stacks ---- */

static void take_stacks(struct sql_scan *scan, struct stack_filter *keeps)
{
	const struct figures none = { 0 };
	uint64_t count = model_contexts(scan->trace->outline)->node_count;
	uint64_t *set = add_set(scan, STORE_NODE, count);

	ASSERT(set != NULL);
	for (uint32_t i = 0; i < count; i++)
		if (stack_filter_keeps(keeps, i, &none))
			set[i / 64] |= UINT64_C(1) << i % 64;
}

/* ---- filters on blocks ---- */

static void block_of(const struct store_batch *batch, size_t i,
		     struct block *block)
{
	*block = (struct block){
		.address = batch->column[STORE_ADDRESS][i],
		.size = batch->column[STORE_SIZE][i],
		.alloc = batch->column[STORE_BEGIN][i],
		.layout = batch->column[STORE_LAYOUT][i] & BLOCK_LAYOUT,
		.pooled = (batch->column[STORE_FLAGS][i] & STORE_POOLED) != 0,
		.thread = (uint32_t)batch->column[STORE_THREAD][i],
	};
}

static void end_of(const struct sql_scan *scan, const struct store_batch *batch,
		   size_t i, struct selection_end *end)
{
	uint64_t how = batch->column[STORE_HOW][i];

	*end = (struct selection_end){
		.stamp = how == STORE_LIVE ? scan->scan.now :
			batch->column[STORE_END][i],
		.freed_by = (uint32_t)batch->column[STORE_END_NODE][i],
		.live = how == STORE_LIVE,
		.temporary = (how == STORE_FREED || how == STORE_MOVED) &&
			batch->column[STORE_BETWEEN][i] <= scan->temporary,
	};
}

static void keep_selected(void *owner, unsigned worker,
			  const struct store_batch *batch, uint8_t *keep)
{
	const struct sql_scan *scan = owner;

	(void)worker;
	for (size_t i = 0; i < batch->count; i++) {
		struct selection_end end;
		struct block block;

		block_of(batch, i, &block);
		end_of(scan, batch, i, &end);
		keep[i] = selection_matches(scan->selection, &block, &end);
	}
}

/* Add the ranges that filters imply, so that chunks are skipped. */
static void narrow(struct sql_scan *scan)
{
	static const struct {
		enum filter_id id;
		enum store_column column;
		bool is_min;
	} words[] = {
		{ FILTER_SIZE_MIN, STORE_SIZE, true },
		{ FILTER_SIZE_MAX, STORE_SIZE, false },
		{ FILTER_ADDRESS_MIN, STORE_ADDRESS, true },
		{ FILTER_ADDRESS_MAX, STORE_ADDRESS, false },
	};
	bool heaps = filter_has(scan->filter, FILTER_HEAP, FILTER_HEAP);
	const struct filter_word *word;

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		word = filter_word(scan->filter, words[i].id, 0);
		/* several values are alternatives; addresses of custom heaps
		 * have extra bits */
		if (word == NULL ||
		    filter_word(scan->filter, words[i].id, 1) != NULL ||
		    (heaps && words[i].column == STORE_ADDRESS))
			continue;
		if (words[i].is_min)
			at_least(scan, words[i].column, word->number);
		else
			at_most(scan, words[i].column, word->number);
	}
	word = filter_word(scan->filter, FILTER_ALIVE_AT, 0);
	if (word != NULL &&
	    filter_word(scan->filter, FILTER_ALIVE_AT, 1) == NULL) {
		uint64_t stamp;

		if (!moment_stamp(scan->trace->outline, &word->moment, &stamp))
			return;
		at_most(scan, STORE_BEGIN, stamp);
		at_least(scan, STORE_END, stamp);
	}
}

/* ---- filters on chains and groups ---- */

static void list_block(struct sql_scan *scan, const struct block *block,
		       uint64_t end)
{
	GROW(scan->selected, scan->selected_count, scan->selected_capacity);
	scan->selected[scan->selected_count++] = (struct sql_scan_block){
		block->alloc, block->address, end, false
	};
}

static void pass_alloc(void *owner, const struct block *block, uint32_t number,
		       uint32_t node, uint32_t chain)
{
	(void)owner, (void)block, (void)number, (void)node, (void)chain;
}

static void list_ended(void *owner, const struct block *block, uint32_t number,
		       uint32_t node, uint64_t stamp, enum edge_end end,
		       uint32_t chain)
{
	(void)number, (void)node, (void)end, (void)chain;
	list_block(owner, block, stamp);
}

static int by_begin(const void *a, const void *b)
{
	const struct sql_scan_block *x = a, *y = b;

	return sort_up(x->begin, y->begin) ?:
	       sort_up(x->address, y->address) ?: sort_up(x->end, y->end);
}

/* The first element not less than `wanted`. */
static size_t find_listed(const struct sql_scan *scan,
			  const struct sql_scan_block *wanted)
{
	size_t low = 0, high = scan->selected_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (by_begin(&scan->selected[middle], wanted) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Match each row with an equal block that no row has matched. One thread
 * only. */
static void keep_listed(void *owner, unsigned worker,
			const struct store_batch *batch, uint8_t *keep)
{
	struct sql_scan *scan = owner;

	(void)worker;
	for (size_t i = 0; i < batch->count; i++) {
		const struct sql_scan_block wanted = {
			batch->column[STORE_BEGIN][i],
			batch->column[STORE_ADDRESS][i],
			scan->of_moment ? 0 : batch->column[STORE_END][i],
			false
		};
		size_t at = find_listed(scan, &wanted);

		while (at < scan->selected_count &&
		       scan->selected[at].taken &&
		       by_begin(&scan->selected[at], &wanted) == 0)
			at++;
		keep[i] = at < scan->selected_count &&
			by_begin(&scan->selected[at], &wanted) == 0;
		if (keep[i])
			scan->selected[at].taken = true;
	}
}

static bool list_selected(struct sql_scan *scan, struct sql_view *view,
			  struct buffer *why)
{
	const struct block_observer observer = { .owner = scan,
						 .alloc = pass_alloc,
						 .end = list_ended };
	const struct block *block;
	uint64_t at = 0;

	scan->of_moment = model_is_of_moment(view->model);
	if (!scan->of_moment &&
	    model_follow(view->model, scan->trace->path, &observer) ==
		    EXIT_NOTHING) {
		buffer_printf(why, "%s: cannot read the trace a second time",
			      scan->trace->path);
		return false;
	}
	while ((block = model_next_block(view->model, &at)) != NULL)
		list_block(scan, block, scan->of_moment ? 0 : STORE_NEVER);
	SORT(scan->selected, scan->selected_count, by_begin);
	scan->scan.keep = keep_listed;
	scan->ordered = true;
	scan->scan.keep_columns = STORE_BIT(STORE_BEGIN) |
		STORE_BIT(STORE_ADDRESS) | STORE_BIT(STORE_END);
	return true;
}

/* ---- the scan ---- */

/* Exclude blocks from before the last start or clear that applies, and blocks
 * of custom heaps unless a filter selects them. */
static void take_bounds(struct sql_scan *scan)
{
	const struct controls *controls = model_controls(scan->trace->outline);
	uint64_t limit = scan->selection ? selection_moment(scan->selection) :
					   UINT64_MAX;
	uint64_t view = controls_view(controls, limit);

	if (view > 0)
		at_least(scan, STORE_BEGIN, view);
	if (!filter_has(scan->filter, FILTER_HEAP, FILTER_HEAP) &&
	    model_pools(scan->trace->outline)->count > 0)
		at_most(scan, STORE_FLAGS, STORE_POOLED - 1);
}

/* Whether only a model can decide what is selected. */
static bool needs_model(const struct sql_scan *scan)
{
	return filter_has(scan->filter, FILTER_GROUP_COUNT_MIN,
			  FILTER_GROUP_PEAK_TIME_MAX) ||
	       (scan->selection != NULL &&
		selection_needs_others(scan->selection));
}

static bool make_selection(struct sql_scan *scan, struct buffer *why)
{
	const struct sql_trace *trace = scan->trace;
	bool maps = filter_has(scan->filter, FILTER_MAP, FILTER_MAP);
	const struct notes *notes = &trace->notes;
	size_t before = notes->count;

	if (!filter_has_blocks(scan->filter))
		return true;
	scan->selection = selection_new(scan->filter, maps ?
					sql_trace_maps(scan->trace) :
					trace->outline);
	if (scan->selection == NULL && why->size == 0)
		buffer_printf(why, "%s: %s", trace->path,
			      notes->count > before ?
			      notes->list[notes->count - 1].text :
			      "these filters do not apply to this trace");
	return scan->selection != NULL;
}

static void take_selection(struct sql_scan *scan)
{
	if (scan->selection == NULL)
		return;
	narrow(scan);
	scan->scan.keep = keep_selected;
	scan->scan.keep_columns = STORE_BIT(STORE_ADDRESS) |
		STORE_BIT(STORE_SIZE) | STORE_BIT(STORE_BEGIN) |
		STORE_BIT(STORE_LAYOUT) | STORE_BIT(STORE_FLAGS) |
		STORE_BIT(STORE_THREAD) | STORE_BIT(STORE_HOW) |
		STORE_BIT(STORE_END) | STORE_BIT(STORE_END_NODE) |
		STORE_BIT(STORE_BETWEEN);
}

/* Filters on stacks need only symbols, unless they are about groups: then a
 * model decides. */
static bool make_stacks(struct sql_scan *scan, struct buffer *why)
{
	if (!filter_has_stacks(scan->filter))
		return true;
	scan->keeps = stack_filter_new(scan->filter,
				       sql_trace_frames(scan->trace));
	if (scan->keeps == NULL && why->size == 0)
		buffer_printf(why, "%s: these filters do not apply to this "
				   "trace",
			      scan->trace->path);
	if (scan->keeps != NULL)
		take_stacks(scan, scan->keeps);
	return scan->keeps != NULL;
}

static bool make_listed(struct sql_scan *scan, const struct sql_cursor *cursor,
			struct buffer *why)
{
	const struct query query = { .temporary = scan->temporary };
	struct sql_view *view = sql_cursor_view(cursor, &query, why);
	bool good;

	if (view == NULL)
		return false;
	if (view->keeps != NULL)
		take_stacks(scan, view->keeps);
	good = list_selected(scan, view, why);
	sql_view_release(view);
	return good;
}

static void take_terms(struct sql_scan *scan, const struct sql_cursor *cursor,
		       const struct sql_scan_column *columns, size_t count)
{
	for (unsigned i = 0; i < cursor->term_count; i++)
		for (size_t c = 0; c < count; c++)
			if (columns[c].column == cursor->terms[i].column)
				take_term(scan, &cursor->terms[i],
					  &columns[c]);
}

bool sql_scan_make(struct sql_scan *scan, const struct sql_cursor *cursor,
		   const struct sql_scan_column *columns, size_t count,
		   struct buffer *why)
{
	memset(scan, 0, sizeof(*scan));
	scan->trace = cursor->trace;
	scan->temporary = cursor->trace->args->query.temporary;
	scan->scan.terms = scan->terms;
	scan->scan.keeper = scan;
	store_fact(cursor->trace->store, "last_stamp", &scan->scan.now);
	scan->scan.cancel = &cursor->traces->cancel;
	scan->filter = sql_cursor_filter(cursor, why);
	if (scan->filter == NULL || !make_selection(scan, why))
		return false;
	take_bounds(scan);
	if (needs_model(scan)) {
		if (!make_listed(scan, cursor, why))
			return false;
	} else {
		if (!make_stacks(scan, why))
			return false;
		take_selection(scan);
	}
	take_terms(scan, cursor, columns, count);
	return true;
}

void sql_scan_free(struct sql_scan *scan)
{
	stack_filter_free(scan->keeps);
	selection_free(scan->selection);
	filter_free(scan->filter);
	for (unsigned i = 0; i < scan->set_count; i++)
		free(scan->sets[i]);
	free(scan->selected);
}
