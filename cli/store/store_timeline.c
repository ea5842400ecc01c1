/*
 * store_timeline.c: see store_sweep.h.
 *
 * Sums need no order: each worker adds up what it finds, by step: allocations
 * one by one, and all ends of a batch at once if they are in one step. If
 * stamps and edge numbers ascend together across all step borders, as they
 * nearly always do, the stamp of an edge gives its step. Otherwise a scan finds
 * the first edge of each step, and another scan uses these. Maxima need a
 * sweep.
 *
 *  I1  firsts[s] is the least number of an edge whose stamp is in step s or
 *      later: an edge is in step s if firsts[s] <= its number < firsts[s + 1].
 */
#include <stdlib.h>
#include <string.h>

#include "cli/base/grow.h"
#include "cli/store/store_edges.h"
#include "cli/store/store_locator.h"
#include "cli/store/store_row_groups.h"
#include "cli/store/store_sweep.h"
#include "unwind/base/assertion.h"

/* Of one worker. */
struct tally {
	struct store_step *list;	/* by series and step; the total last.
					 * Live values do not include
					 * allocations yet */
	struct store_range *ranges;	/* of edges, by step */
};

struct timeline {
	const struct store_grouping *grouping;
	const struct store_weight *weight;
	const struct store_axis *axis;
	size_t series_count;		/* one per group, and the total */
	bool by_edge;
	struct store_locator locator;
	struct tally tallies[STORE_WORKERS_MAX];
};

/* ---- sums ---- */

static void begin_tally(const struct timeline *timeline, struct tally *tally)
{
	size_t steps = timeline->axis->steps;

	if (tally->list == NULL)
		tally->list = grow_zeroed(timeline->series_count * steps,
					  sizeof(*tally->list));
	tally->ranges = grow_resize(NULL, steps, sizeof(*tally->ranges));
	for (size_t i = 0; i < steps; i++)
		tally->ranges[i] = (struct store_range){ UINT64_MAX, 0 };
}

static void join_range(struct store_range *range,
		       const struct store_range *more)
{
	if (more->min < range->min)
		range->min = more->min;
	if (more->max > range->max)
		range->max = more->max;
}

/* Without a branch. */
static inline void widen(struct store_range *range, uint64_t number)
{
	range->min = number < range->min ? number : range->min;
	range->max = number > range->max ? number : range->max;
}

/* Edges of a batch, and the values that give their steps: stamps, or
 * numbers. */
struct edges {
	const struct timeline *timeline;
	struct tally *tally;
	const struct store_batch *batch;
	const uint64_t *numbers, *keys;
	uint32_t groups[STORE_BATCH];
	uint32_t steps[STORE_BATCH];
};

static void find_steps(struct edges *edges)
{
	const struct store_locator *locator = &edges->timeline->locator;

	for (size_t i = 0; i < edges->batch->count; i++)
		edges->steps[i] = (uint32_t)store_locate(locator,
							 edges->keys[i]);
}

static inline void add_alloc(struct store_step *step,
			     struct store_amount amount)
{
	step->allocations += amount.blocks;
	step->allocated_bytes += amount.bytes;
}

/* `weight` is NULL if each block counts as one, which saves the call. */
static inline __attribute__((always_inline)) void
add_allocs(struct edges *edges, const struct store_weight *weight)
{
	const struct timeline *timeline = edges->timeline;
	size_t steps = timeline->axis->steps;
	struct store_step *list = edges->tally->list;
	struct store_step *whole = list + (timeline->series_count - 1) * steps;
	const uint64_t *sizes = edges->batch->column[STORE_SIZE];

	find_steps(edges);
	for (size_t i = 0; i < edges->batch->count; i++) {
		struct store_amount amount = store_weigh(weight,
							 sizes[i]);
		size_t step = edges->steps[i];

		widen(&edges->tally->ranges[step], edges->numbers[i]);
		add_alloc(&whole[step], amount);
		if (timeline->series_count > 1 &&
		    edges->groups[i] != STORE_NONE)
			add_alloc(&list[edges->groups[i] * steps + step],
				  amount);
	}
}

/* What one end changes. No branch on how blocks end: that is not
 * predictable. */
static inline __attribute__((always_inline)) struct store_step
change_of(const struct edges *edges, size_t i,
	  const struct store_weight *weight)
{
	const uint64_t *const *column = edges->batch->column;
	struct store_amount amount = store_weigh(weight,
						column[STORE_SIZE][i]);
	uint64_t how = column[STORE_HOW][i];
	uint64_t ended = 0 - (uint64_t)(how != STORE_LIVE);
	uint64_t freed = ended & (0 - (uint64_t)(how != STORE_LOST));
	uint64_t soon = 0 - (uint64_t)(column[STORE_BETWEEN][i] <=
				       edges->timeline->axis->temporary);

	return (struct store_step){
		.live_blocks = 0 - (amount.blocks & ended),
		.live_bytes = 0 - (amount.bytes & ended),
		.frees = amount.blocks & freed,
		.freed_bytes = amount.bytes & freed,
		.temporary = amount.blocks & freed & soon,
	};
}

static inline void add_end(struct store_step *step,
			   const struct store_step *change)
{
	step->live_blocks += change->live_blocks;
	step->live_bytes += change->live_bytes;
	step->frees += change->frees;
	step->freed_bytes += change->freed_bytes;
	step->temporary += change->temporary;
}

/* Ends are in order: those of a batch are mostly in one step, and are added at
 * once. False: they are in several steps, or there are groups. */
static inline __attribute__((always_inline)) bool
add_together(struct edges *edges, const struct store_weight *weight)
{
	const struct timeline *timeline = edges->timeline;
	const struct store_locator *locator = &timeline->locator;
	struct store_range keys = { UINT64_MAX, 0 }, numbers = keys;
	struct store_step sum = { 0 };
	size_t step;

	if (timeline->series_count > 1)
		return false;
	for (size_t i = 0; i < edges->batch->count; i++)
		widen(&keys, edges->keys[i]);
	step = store_locate(locator, keys.min);
	if (keys.max == STORE_NEVER ||
	    step != store_locate(locator, keys.max))
		return false;
	for (size_t i = 0; i < edges->batch->count; i++) {
		struct store_step change = change_of(edges, i, weight);

		widen(&numbers, edges->numbers[i]);
		add_end(&sum, &change);
	}
	join_range(&edges->tally->ranges[step], &numbers);
	add_end(&edges->tally->list[step], &sum);
	return true;
}

static inline __attribute__((always_inline)) void
add_ends(struct edges *edges, const struct store_weight *weight)
{
	const struct timeline *timeline = edges->timeline;
	size_t steps = timeline->axis->steps;
	struct store_step *list = edges->tally->list;
	struct store_step *whole = list + (timeline->series_count - 1) * steps;
	const uint64_t *how = edges->batch->column[STORE_HOW];

	if (add_together(edges, weight))
		return;
	find_steps(edges);
	for (size_t i = 0; i < edges->batch->count; i++) {
		struct store_step change;
		size_t step = edges->steps[i];

		if (how[i] == STORE_LIVE)
			continue;
		change = change_of(edges, i, weight);
		widen(&edges->tally->ranges[step], edges->numbers[i]);
		add_end(&whole[step], &change);
		if (edges->groups[i] != STORE_NONE)
			add_end(&list[edges->groups[i] * steps + step],
				&change);
	}
}

/* Selects the columns of allocations, or of ends. */
static void set_columns(struct edges *edges, enum store_column number,
			enum store_column stamp)
{
	const uint64_t *const *column = edges->batch->column;

	edges->numbers = column[number];
	edges->keys = column[edges->timeline->by_edge ? number : stamp];
}

static void add_batch(void *owner, unsigned worker,
		      const struct store_batch *batch)
{
	struct timeline *timeline = owner;
	const struct store_weight *weight = timeline->weight;
	struct edges edges;

	edges.timeline = timeline;
	edges.tally = &timeline->tallies[worker];
	edges.batch = batch;
	if (edges.tally->ranges == NULL)
		begin_tally(timeline, edges.tally);
	store_row_groups(timeline->grouping, worker, batch, edges.groups);
	set_columns(&edges, STORE_ALLOC_EDGE, STORE_BEGIN);
	if (weight == NULL || weight->of == NULL)
		add_allocs(&edges, NULL);
	else
		add_allocs(&edges, weight);
	set_columns(&edges, STORE_END_EDGE, STORE_END);
	if (weight == NULL || weight->of == NULL)
		add_ends(&edges, NULL);
	else
		add_ends(&edges, weight);
}

/* Adds all workers' sums to those of the first, which has the caller's list. */
static void merge_tallies(struct timeline *timeline)
{
	struct tally *to = &timeline->tallies[0];
	size_t steps = timeline->axis->steps;

	if (to->ranges == NULL)
		begin_tally(timeline, to);
	for (unsigned worker = 1; worker < STORE_WORKERS_MAX; worker++) {
		struct tally *from = &timeline->tallies[worker];

		if (from->ranges == NULL)
			continue;
		for (size_t i = 0; i < timeline->series_count * steps; i++) {
			struct store_step *step = &to->list[i];
			const struct store_step *more = &from->list[i];

			step->live_bytes += more->live_bytes;
			step->live_blocks += more->live_blocks;
			step->allocations += more->allocations;
			step->allocated_bytes += more->allocated_bytes;
			step->frees += more->frees;
			step->freed_bytes += more->freed_bytes;
			step->temporary += more->temporary;
		}
		for (size_t i = 0; i < steps; i++)
			join_range(&to->ranges[i], &from->ranges[i]);
		free(from->list);
		free(from->ranges);
		*from = (struct tally){ 0 };
	}
}

static int add_up(struct store *store, const struct store_scan *scan,
		  struct timeline *timeline, struct store_step *list)
{
	uint32_t columns = STORE_BIT(STORE_SIZE) | STORE_BIT(STORE_HOW) |
		STORE_BIT(STORE_BEGIN) | STORE_BIT(STORE_END) |
		STORE_BIT(STORE_ALLOC_EDGE) | STORE_BIT(STORE_END_EDGE) |
		STORE_BIT(STORE_BETWEEN) |
		store_row_group_columns(timeline->grouping);
	int error;

	memset(list, 0, timeline->series_count * timeline->axis->steps *
	       sizeof(*list));
	timeline->tallies[0].list = list;
	error = store_scan_each(store, scan, columns, add_batch, timeline);
	merge_tallies(timeline);
	return error;
}

/* Sets firsts as I1 says. Returns whether the stamps of all edges gave the
 * right step. */
static bool find_firsts(const struct timeline *timeline, uint64_t *firsts)
{
	const struct tally *tally = &timeline->tallies[0];
	uint64_t first = UINT64_MAX;
	bool right = true;

	for (size_t i = timeline->axis->steps; i-- > 0;) {
		const struct store_range *range = &tally->ranges[i];

		if (range->min <= range->max)
			right &= range->max < first;
		if (range->min < first)
			first = range->min;
		firsts[i] = first;
		ASSERT(i + 1 == timeline->axis->steps ||
		       firsts[i] <= firsts[i + 1]);	/* I1 */
	}
	return right;
}

static void end_tally(struct timeline *timeline)
{
	struct tally *tally = &timeline->tallies[0];

	free(tally->ranges);
	*tally = (struct tally){ 0 };
}

/* Converts changes within steps to live values at their ends. */
static void sum_live(const struct timeline *timeline, struct store_step *list)
{
	size_t steps = timeline->axis->steps;

	for (size_t series = 0; series < timeline->series_count; series++) {
		uint64_t blocks = 0, bytes = 0;

		for (size_t i = 0; i < steps; i++) {
			struct store_step *step = &list[series * steps + i];

			blocks += step->allocations + step->live_blocks;
			bytes += step->allocated_bytes + step->live_bytes;
			step->live_blocks = blocks;
			step->live_bytes = bytes;
		}
	}
}

/* ---- maxima ---- */

struct high {
	uint64_t live, max;	/* bytes */
};

struct maxima {
	const struct timeline *timeline;
	const uint64_t *firsts;
	struct store_step *list;
	struct high *now;	/* by series */
	size_t step;
};

static void close_step(struct maxima *maxima)
{
	size_t steps = maxima->timeline->axis->steps;

	for (size_t series = 0; series < maxima->timeline->series_count;
	     series++) {
		struct high *now = &maxima->now[series];

		maxima->list[series * steps + maxima->step].live_bytes_max =
			now->max;
		now->max = now->live;
	}
	maxima->step++;
}

static void change(struct high *high, bool alloc, uint64_t bytes)
{
	high->live += alloc ? bytes : 0 - bytes;
	if (alloc && high->live > high->max)
		high->max = high->live;
}

static void add_edges(void *owner, const struct store_edge *edges,
		      size_t count)
{
	struct maxima *maxima = owner;
	const struct timeline *timeline = maxima->timeline;
	size_t steps = timeline->axis->steps;

	for (size_t i = 0; i < count; i++) {
		const struct store_edge *edge = &edges[i];
		uint64_t bytes = store_weigh(timeline->weight,
					     edge->size).bytes;

		while (maxima->step + 1 < steps &&
		       edge->edge >= maxima->firsts[maxima->step + 1])
			close_step(maxima);
		change(&maxima->now[timeline->series_count - 1], edge->alloc,
		       bytes);
		if (edge->group != STORE_NONE)
			change(&maxima->now[edge->group], edge->alloc, bytes);
	}
}

static int find_maxima(struct store *store, const struct store_scan *scan,
		       const struct timeline *timeline,
		       const uint64_t *firsts, struct store_step *list)
{
	struct maxima maxima = {
		.timeline = timeline, .firsts = firsts, .list = list,
		.now = grow_zeroed(timeline->series_count, sizeof(struct high)),
	};
	int error = store_edges_each(store, scan, timeline->grouping, add_edges,
				     &maxima);

	while (maxima.step < timeline->axis->steps)
		close_step(&maxima);
	free(maxima.now);
	return error;
}

/* ---- the result ---- */

int store_timeline(struct store *store, const struct store_scan *scan,
		   const struct store_grouping *grouping,
		   const struct store_weight *weight,
		   const struct store_axis *axis, struct store_step *list)
{
	struct timeline *timeline = grow_zeroed(1, sizeof(*timeline));
	uint64_t *firsts;
	bool right;
	int error;

	ASSERT(axis->steps > 0 && axis->steps <= STORE_STEPS_MAX);
	firsts = grow_alloc(axis->steps * sizeof(*firsts));
	timeline->grouping = grouping;
	timeline->weight = weight;
	timeline->axis = axis;
	timeline->series_count = (grouping == NULL ? 0 : grouping->groups) + 1;
	store_locator_init(&timeline->locator, axis->begins, axis->steps);
	error = add_up(store, scan, timeline, list);
	right = find_firsts(timeline, firsts);
	end_tally(timeline);
	if (error == 0 && !right) {
		timeline->by_edge = true;
		store_locator_init(&timeline->locator, firsts, axis->steps);
		error = add_up(store, scan, timeline, list);
		end_tally(timeline);
	}
	sum_live(timeline, list);
	if (error == 0 && axis->maxima)
		error = find_maxima(store, scan, timeline, firsts, list);
	free(firsts);
	free(timeline);
	return error;
}
