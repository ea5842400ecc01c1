/*
 * series.c: see series.h. Reads block events one after the other. A block's
 * series follow from its cost, and are looked up once for each cost.
 *
 *  I1  Each block that counts is in the whole, and in at least one other
 *      series.
 *  I2  With exclusive keys, all series except the whole add up to the whole.
 *
 * With a sample, all sums are in fixed point (weight.h) until the end.
 */
#include "cli/query/series.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/grow.h"
#include "cli/base/status.h"
#include "cli/base/text/quantity.h"
#include "cli/model/core/contexts.h"
#include "cli/model/core/edges.h"
#include "cli/model/core/weight.h"
#include "cli/model/omitted.h"
#include "cli/model/moment.h"
#include "cli/model/index/index_sweep.h"
#include "cli/model/block_observer.h"
#include "unwind/base/assertion.h"

#define NOT_YET UINT32_MAX

struct follower {
	struct query_rows *rows;
	struct series *series;
	size_t all;			/* index of the whole */
	uint64_t *begins;		/* stamps of steps, and UINT64_MAX */
	size_t step;			/* the current one */
	struct series_step *now;	/* by series: the current step so far */
	/* By cost: index in `members` of the count and list of its series. */
	uint32_t *of_cost;
	uint32_t *members;
	size_t member_count, member_capacity;
	uint32_t key;		/* of the current block: block_observer.h */
};

int series_parse_steps(const char *text, uint64_t *steps)
{
	int error = quantity_parse_count(text, steps);

	if (error == 0 && (*steps == 0 || *steps > SERIES_STEPS_MAX))
		error = -ERANGE;
	return error;
}

/* ---- series of a block ---- */

static void add_member(struct follower *f, uint32_t member)
{
	GROW(f->members, f->member_count, f->member_capacity);
	f->members[f->member_count++] = member;
}

static uint32_t find_members(struct follower *f, uint32_t cost)
{
	uint32_t at = (uint32_t)f->member_count;
	const uint32_t *list;
	size_t count;

	add_member(f, 0);
	if (!query_rows_of(f->rows, cost, &list, &count))
		return at;
	for (size_t i = 0; i < count; i++)
		if (list[i] < f->series->shown)
			add_member(f, list[i]);
	if (f->member_count == at + 1)
		add_member(f, (uint32_t)f->series->shown);
	add_member(f, (uint32_t)f->all);
	f->members[at] = (uint32_t)(f->member_count - at - 1);
	return at;
}

/* The number of series, followed by their indexes. A trace that is still being
 * written may have costs that the first pass lacks: they are in no series. */
static const uint32_t *members_of(struct follower *f, uint32_t node)
{
	static const uint32_t none[] = { 0 };
	const struct contexts *contexts =
		model_contexts(f->rows->source->model);
	uint32_t cost;

	if (node >= contexts->node_count || f->key == BLOCK_NO_KEY)
		return none;
	cost = contexts_find_cost(contexts, node, f->key);
	if (cost == CONTEXT_NO_COST)
		return none;
	if (f->of_cost[cost] == NOT_YET)
		f->of_cost[cost] = find_members(f, cost);
	return &f->members[f->of_cost[cost]];
}

/* ---- steps ---- */

/* Ends the step for all series; the next one begins with its live memory. */
static void close_step(struct follower *f)
{
	size_t steps = f->series->axis.steps;

	DEBUG_ASSERT(f->step < steps);
	for (size_t i = 0; i <= f->all; i++) {
		struct series_step *now = &f->now[i];

		f->series->list[i * steps + f->step] = *now;
		*now = (struct series_step){
			.live_bytes = now->live_bytes,
			.live_blocks = now->live_blocks,
			.live_bytes_max = now->live_bytes,
		};
	}
	f->step++;
}

static void advance(struct follower *f, uint64_t stamp)
{
	while (stamp >= f->begins[f->step + 1] &&
	       f->step + 1 < f->series->axis.steps)
		close_step(f);
}

/* Begins of steps as stamps: the first stamp that is not before. */
static uint64_t *find_begins(const struct model *model,
			     const struct series_axis *axis)
{
	uint64_t *begins = grow_zeroed(axis->steps + 1, sizeof(*begins));

	begins[axis->steps] = UINT64_MAX;
	for (size_t i = 0; i < axis->steps; i++) {
		uint64_t ns = series_begin_ns(axis, i);
		const struct moment moment = { .ns = ns - axis->offset_ns };

		if (ns > axis->offset_ns &&
		    !moment_stamp(model, &moment, &begins[i]))
			begins[i] = UINT64_MAX;
	}
	return begins;
}

/* ---- blocks ---- */

static void take_alloc(void *owner, const struct block *block, uint32_t number,
		       uint32_t node, uint32_t chain)
{
	struct follower *f = owner;
	const uint32_t *members = members_of(f, node);
	struct weight_amount amount = weight_block(block->size,
				model_sample_mean(f->rows->source->model));

	(void)number, (void)chain;
	advance(f, block->alloc);
	for (uint32_t i = 1; i <= members[0]; i++) {
		struct series_step *now = &f->now[members[i]];

		now->allocations += amount.blocks;
		now->allocated_bytes += amount.bytes;
		now->live_blocks += amount.blocks;
		now->live_bytes += amount.bytes;
		if (now->live_bytes > now->live_bytes_max)
			now->live_bytes_max = now->live_bytes;
	}
}

static void take_end(void *owner, const struct block *block, uint32_t number,
		     uint32_t node, uint64_t stamp, enum edge_end end,
		     uint32_t chain)
{
	struct follower *f = owner;
	const uint32_t *members = members_of(f, node);
	struct weight_amount amount = weight_block(block->size,
				model_sample_mean(f->rows->source->model));

	(void)number, (void)chain;
	advance(f, stamp);
	for (uint32_t i = 1; i <= members[0]; i++) {
		struct series_step *now = &f->now[members[i]];

		DEBUG_ASSERT(now->live_blocks >= amount.blocks);
		now->live_blocks -= amount.blocks;
		now->live_bytes -= amount.bytes;
		if (end == EDGE_LOST)
			continue;
		now->frees += amount.blocks;
		now->freed_bytes += amount.bytes;
		now->temporary += block->temporary ? amount.blocks : 0;
	}
}

/* ---- rows of a store ---- */

/* The series of a cost, except the whole; MODEL_NO_GROUP: it does not count. */
static uint32_t group_of(void *owner, uint32_t node, uint32_t key)
{
	const struct follower *f = owner;
	uint32_t cost = contexts_find_cost(model_contexts(f->rows->source->model),
					   node, key);
	const uint32_t *list;
	size_t count;

	if (cost == CONTEXT_NO_COST ||
	    !query_rows_of(f->rows, cost, &list, &count))
		return MODEL_NO_GROUP;
	return count > 0 && list[0] < f->series->shown ?
		list[0] : (uint32_t)f->series->shown;
}

/* One series of everything that counts. */
static uint32_t whole_of(void *owner, uint32_t node, uint32_t key)
{
	return group_of(owner, node, key) == MODEL_NO_GROUP ?
		MODEL_NO_GROUP : 0;
}

static void take_steps(struct follower *f, size_t series,
		       const struct store_step *from, size_t count)
{
	size_t steps = f->series->axis.steps;

	for (size_t i = 0; i < count * steps; i++)
		f->series->list[series * steps + i] = (struct series_step){
			.live_bytes = from[i].live_bytes,
			.live_blocks = from[i].live_blocks,
			.live_bytes_max = from[i].live_bytes_max,
			.allocations = from[i].allocations,
			.allocated_bytes = from[i].allocated_bytes,
			.frees = from[i].frees,
			.freed_bytes = from[i].freed_bytes,
			.temporary = from[i].temporary,
		};
}

/* False: the index cannot answer, because blocks belong to several rows or do
 * not end, or because it cannot be read. */
static bool ask_store(struct follower *f)
{
	const struct query_rows *rows = f->rows;
	const struct query *query = rows->query;
	const struct model *model = rows->source->model;
	size_t steps = f->series->axis.steps;
	const struct store_axis axis = {
		.begins = f->begins, .steps = steps,
		.temporary = query->temporary,
		.maxima = !(query->spares & QUERY_SPARES_OWN_PEAKS) ||
			  query->order == MEASURE_PEAK ||
			  query->order == MEASURE_OWN_PEAK,
	};
	struct index_grouping grouping = { .group = group_of, .owner = f,
				  .count = f->series->shown + 1 };
	struct store_step *list;
	bool complete;

	if (model_store(model) == NULL || query_inclusive(query) != NULL ||
	    model_is_of_moment(model))
		return false;
	list = grow_zeroed((f->all + 1) * steps, sizeof(*list));
	complete = index_timeline(model, &grouping, &axis, list) == 0;
	if (complete)
		take_steps(f, 0, list, f->all + 1);
	/* the last of these includes blocks that do not count */
	if (complete && rows->source->keep != NULL) {
		grouping.group = whole_of;
		grouping.count = 1;
		complete = index_timeline(model, &grouping, &axis, list) == 0;
		if (complete)
			take_steps(f, f->all, list, 1);
	}
	/* a pass starts from zeros */
	if (!complete)
		memset(f->series->list, 0, (f->all + 1) * steps *
		       sizeof(*f->series->list));
	free(list);
	return complete;
}

/* By a pass over the events. */
static int follow(struct follower *f)
{
	const struct query_source *source = f->rows->source;
	size_t costs = model_contexts(source->model)->cost_count;
	const struct block_observer observer = {
		.owner = f, .alloc = take_alloc, .end = take_end, .key = &f->key
	};
	int status;

	f->now = grow_zeroed(f->all + 1, sizeof(*f->now));
	f->of_cost = grow_alloc(costs * sizeof(*f->of_cost));
	memset(f->of_cost, 0xff, costs * sizeof(*f->of_cost));
	status = model_follow(source->model, source->trace, &observer);
	while (f->step < f->series->axis.steps)
		close_step(f);
	free(f->now);
	free(f->of_cost);
	free(f->members);
	return status;
}

/* ---- the whole ---- */

/* Notes which of the rows' measures are in no step. */
static void note_missing(const struct query_source *source, int status)
{
	const struct model *model = source->model;

	if (status == EXIT_NOTHING)
		notes_error(model_notes(model), "%s: cannot be read a second "
			    "time: there are no values over time",
			    source->trace);
	else if (model_has_left_out(model))
		notes_hint(model_notes(model), "%s: %s blocks were left out of "
			   "the trace, only sums are known: they are in "
			   "no step over time", source->trace,
			   COUNT_TEXT(model_leftout(model)->blocks));
}

static void note_limit(const struct query_source *source,
		       const struct series *series)
{
	notes_hint(model_notes(source->model), "%s: with so many steps, at "
		   "most %s rows have values over time: the rest is among the "
		   "others",
		   source->trace, COUNT_TEXT(series->shown));
}

/* The fraction goes to the next step, so that sums over all steps are rounded
 * once. */
static void round_series(struct series_step *list, size_t steps, uint64_t mean)
{
	unsigned blocks = weight_block_bits(mean),
		 bytes = weight_byte_bits(mean);
	uint16_t count = (uint16_t)weight_half(blocks), frees = count,
		 temporary = count;
	uint16_t allocated = (uint16_t)weight_half(bytes), freed = allocated;

	for (size_t i = 0; i < steps; i++) {
		struct series_step *step = &list[i];

		step->live_bytes = weight_whole(step->live_bytes, bytes,
						weight_half(bytes));
		step->live_bytes_max = weight_whole(step->live_bytes_max, bytes,
						    weight_half(bytes));
		step->live_blocks = weight_whole(step->live_blocks, blocks,
						 weight_half(blocks));
		step->allocations = weight_next(step->allocations, blocks,
						&count);
		step->allocated_bytes = weight_next(step->allocated_bytes,
						    bytes, &allocated);
		step->frees = weight_next(step->frees, blocks, &frees);
		step->freed_bytes = weight_next(step->freed_bytes, bytes,
						&freed);
		step->temporary = weight_next(step->temporary, blocks,
					      &temporary);
	}
}

int series_follow(struct query_rows *rows, size_t shown,
		  const struct series_axis *axis, struct series *series)
{
	const struct query_source *source = rows->source;
	size_t max = SERIES_CELLS_MAX / axis->steps - 2;
	struct follower f = { .rows = rows, .series = series };
	int status = EXIT_COMPLETE;

	ASSERT(axis->steps > 0 && axis->steps <= SERIES_STEPS_MAX);
	if (shown > rows->count)
		shown = rows->count;
	*series = (struct series){
		.axis = *axis, .shown = shown < max ? shown : max,
	};
	if (shown > max)
		note_limit(source, series);
	f.all = series->shown + 1;
	series->list = grow_zeroed((f.all + 1) * axis->steps,
				   sizeof(*series->list));
	f.begins = find_begins(source->model, axis);
	if (!ask_store(&f))
		status = follow(&f);
	if (model_is_sampled(source->model))
		for (size_t i = 0; i <= f.all; i++)
			round_series(series->list + i * axis->steps,
				     axis->steps,
				     model_sample_mean(source->model));
	note_missing(source, status);
	free(f.begins);
	return status;
}

void series_free(struct series *series)
{
	free(series->list);
	series->list = NULL;
}

/* ---- values of a step ---- */

bool series_has(enum measure order)
{
	return order == MEASURE_LIVE || order == MEASURE_PEAK ||
	       order == MEASURE_OWN_PEAK || order == MEASURE_TOTAL ||
	       order == MEASURE_COUNT || order == MEASURE_TEMPORARY;
}

uint64_t series_value(const struct series_step *step, enum measure order)
{
	switch (order) {
	case MEASURE_PEAK:
	case MEASURE_OWN_PEAK:
		return step->live_bytes_max;
	case MEASURE_TOTAL:
		return step->allocated_bytes;
	case MEASURE_COUNT:
		return step->allocations;
	case MEASURE_TEMPORARY:
		return step->temporary;
	default:
		return step->live_bytes;
	}
}

void series_each(const struct series_step *step,
		 void (*each)(void *owner, const char *name, uint64_t value),
		 void *owner)
{
	each(owner, "live_bytes", step->live_bytes);
	each(owner, "live_blocks", step->live_blocks);
	each(owner, "live_bytes_max", step->live_bytes_max);
	each(owner, "allocations", step->allocations);
	each(owner, "allocated_bytes", step->allocated_bytes);
	each(owner, "frees", step->frees);
	each(owner, "freed_bytes", step->freed_bytes);
	each(owner, "temporary", step->temporary);
}
