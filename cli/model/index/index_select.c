/*
 * index_select.c: see index_select.h. Conditions on the range of a column
 * become terms, so that the store can skip chunks; if the filter has other
 * conditions, each remaining row is checked (selection_matches).
 *
 * index_select is called by one thread, all other functions by any number.
 */
#include "cli/model/index/index_select.h"

#include "cli/model/core/blocks.h"
#include "cli/model/stats/freed.h"
#include "unwind/base/assertion.h"

static uint64_t value_of(const struct store_batch *batch, size_t row,
			 enum store_column column)
{
	return batch->column[column] != NULL ? batch->column[column][row] : 0;
}

struct block index_block(const struct model *model,
			 const struct store_batch *batch, size_t row)
{
	DEBUG_ASSERT(row < batch->count);
	return (struct block){
		.address = value_of(batch, row, STORE_ADDRESS),
		.size = value_of(batch, row, STORE_SIZE),
		.alloc = value_of(batch, row, STORE_BEGIN),
		.layout = value_of(batch, row, STORE_LAYOUT) & BLOCK_LAYOUT,
		.odd = (value_of(batch, row, STORE_FLAGS) & STORE_ODD) != 0,
		.pooled = (value_of(batch, row, STORE_FLAGS) &
			   STORE_POOLED) != 0,
		.cost = CONTEXT_NO_COST,
		.thread = index_thread(model, value_of(batch, row,
						       STORE_THREAD)),
	};
}

struct selection_end index_end(const struct model *model,
			       const struct store_batch *batch, size_t row)
{
	uint64_t how = batch->column[STORE_HOW][row];
	uint64_t by = batch->column[STORE_END_NODE][row];
	bool live = how == STORE_LIVE;

	return (struct selection_end){
		.stamp = live ? model->totals.last_stamp :
				batch->column[STORE_END][row],
		.freed_by = by < model->contexts.node_count ? (uint32_t)by :
							      FREED_UNKNOWN,
		.live = live,
		.temporary = index_is_freed(how) &&
			     batch->column[STORE_BETWEEN][row] <=
				     model->options.temporary,
	};
}

static struct store_amount amount_of(const void *owner, uint64_t size)
{
	const struct model *model = owner;
	struct weight_amount amount = weight_block(size, model->sample_mean);

	return (struct store_amount){ amount.blocks, amount.bytes };
}

struct store_weight index_weight(const struct model *model)
{
	return (struct store_weight){
		.of = model->sample_mean != 0 ? amount_of : NULL,
		.owner = model,
	};
}

static void keep(void *keeper, unsigned worker,
		 const struct store_batch *batch, uint8_t *kept)
{
	const struct index_select *select = keeper;

	(void)worker;
	for (size_t i = 0; i < batch->count; i++) {
		struct block block = index_block(select->model, batch, i);
		struct selection_end end = index_end(select->model, batch, i);

		kept[i] = selection_matches(select->model->selection, &block,
					&end);
	}
}

static void add_term(struct index_select *select, enum store_column column,
		     uint64_t min, uint64_t max)
{
	size_t n = select->scan.term_count;

	if (min == 0 && max == UINT64_MAX)
		return;
	DEBUG_ASSERT(n < INDEX_TERMS);
	select->ranges[n] = (struct store_range){ min, max };
	select->terms[n] = (struct store_term){
		.column = column, .ranges = &select->ranges[n],
		.range_count = 1,
	};
	select->scan.term_count++;
}

/* Rows of threads that the model does not know are not selected: index_thread
 * gives them a number beyond the set. */
static void add_threads(struct index_select *select)
{
	const struct selection_bounds *bounds = &select->bounds;
	size_t n = select->scan.term_count;

	if (bounds->threads == NULL)
		return;
	DEBUG_ASSERT(n < INDEX_TERMS);
	select->terms[n] = (struct store_term){
		.column = STORE_THREAD, .set = bounds->threads,
		.set_size = bounds->thread_count,
	};
	select->scan.term_count++;
}

static void begin(struct index_select *select, const struct model *model,
		  const atomic_bool *cancel)
{
	*select = (struct index_select){
		.model = model,
		.scan = {
			.terms = select->terms, .cancel = cancel,
			.now = model->totals.last_stamp,
		},
	};
}

_Static_assert(STORE_POOLED == STORE_FLAGS_END / 2, "flags below are others");

void index_select_all(struct index_select *select, const struct model *model,
		      const atomic_bool *cancel)
{
	begin(select, model, cancel);
	add_term(select, STORE_BEGIN, model->controls.view, UINT64_MAX);
	add_term(select, STORE_FLAGS, 0, STORE_POOLED - 1);
}

void index_select_heaps(struct index_select *select, const struct model *model,
			const atomic_bool *cancel)
{
	begin(select, model, cancel);
	add_term(select, STORE_BEGIN, model->controls.view, UINT64_MAX);
	add_term(select, STORE_FLAGS, STORE_POOLED, UINT64_MAX);
}

_Static_assert(STORE_MOVED == STORE_FREED + 1, "one range");

void index_select_foreign(struct index_select *select,
			  const struct model *model, const atomic_bool *cancel)
{
	uint64_t view = model->controls.view;

	ASSERT(view > 0);
	begin(select, model, cancel);
	add_term(select, STORE_BEGIN, 0, view - 1);
	add_term(select, STORE_END, view, UINT64_MAX);
	add_term(select, STORE_HOW, STORE_FREED, STORE_MOVED);
}

void index_select(struct index_select *select, const struct model *model,
		  const atomic_bool *cancel)
{
	const struct selection_bounds *bounds = &select->bounds;
	uint64_t view = model->controls.view;

	if (model->selection == NULL) {
		index_select_all(select, model, cancel);
		return;
	}
	begin(select, model, cancel);
	selection_bounds(model->selection, &select->bounds);
	add_term(select, STORE_BEGIN, bounds->alloc.min > view ?
		 bounds->alloc.min : view, bounds->alloc.max);
	add_term(select, STORE_END, bounds->end.min, bounds->end.max);
	add_term(select, STORE_SIZE, bounds->size.min, bounds->size.max);
	add_threads(select);
	if (bounds->all) {
		/* in the allocator's heap */
		add_term(select, STORE_FLAGS, 0, STORE_POOLED - 1);
		return;
	}
	select->scan.keep = keep;
	select->scan.keeper = select;
	select->scan.keep_columns = INDEX_BLOCK_COLUMNS | INDEX_END_COLUMNS;
}
