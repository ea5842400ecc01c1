/*
 * store_timeline.c: see store_sweep.h.
 *
 * Sums need no order: each worker adds up what it meets, by step. In which step
 * an edge is, stamps tell where they rise with the numbers of edges over all
 * borders of steps, as they nearly always do. Else the first edge of each step
 * is known after a scan, and tells it in another one. Maxima take a sweep.
 *
 *  I1  firsts[s] is the least number of an edge whose stamp lies in step s or
 *      behind: an edge is in step s if firsts[s] <= its number < firsts[s + 1].
 */
#include <stdlib.h>
#include <string.h>

#include "cli/base/grow.h"
#include "cli/store/store_edges.h"
#include "cli/store/store_locator.h"
#include "cli/store/store_numbers.h"
#include "cli/store/store_sweep.h"
#include "unwind/claim.h"

/* One worker's. */
struct tally {
	struct store_step *list;	/* by group and step; then the whole */
	/* Of edges by step, by their stamps: the least and the greatest. */
	uint64_t *least, *greatest;
};

struct timeline {
	const struct store_grouping *grouping;
	const struct store_weight *weight;
	const struct store_axis *axis;
	size_t rows;			/* groups, and the whole */
	bool by_edge;
	struct store_locator locator;
	struct tally tallies[STORE_WORKERS_MAX];
};

/* ---- sums ---- */

static void begin_tally(const struct timeline *timeline, struct tally *tally)
{
	size_t steps = timeline->axis->steps;

	if (tally->list == NULL)
		tally->list = grow_zeroed(timeline->rows * steps,
					  sizeof(*tally->list));
	tally->least = grow_alloc(steps * sizeof(uint64_t));
	memset(tally->least, 0xff, steps * sizeof(uint64_t));
	tally->greatest = grow_zeroed(steps, sizeof(uint64_t));
}

/* The step of the last edge: that of the next one is mostly the same. */
struct near {
	const struct timeline *timeline;
	struct tally *tally;
	size_t step;
	uint64_t low, width;	/* of what step_of is asked with */
	uint64_t least, greatest;	/* edges, since it is this step */
};

static void leave_step(struct near *near)
{
	if (near->least < near->tally->least[near->step])
		near->tally->least[near->step] = near->least;
	if (near->greatest > near->tally->greatest[near->step])
		near->tally->greatest[near->step] = near->greatest;
}

static __attribute__((noinline)) void go_to_step(struct near *near,
						 uint64_t key)
{
	const struct store_locator *locator = &near->timeline->locator;
	size_t step = store_locate(locator, key);

	leave_step(near);
	near->step = step;
	near->low = step == 0 ? 0 : locator->begins[step];
	near->width = (step + 1 < locator->steps ? locator->begins[step + 1] :
						   UINT64_MAX) - near->low;
	near->least = UINT64_MAX;
	near->greatest = 0;
}

/* The step of an edge, by its number or its stamp. */
static inline size_t step_of(struct near *near, uint64_t key, uint64_t edge)
{
	if (key - near->low >= near->width)
		go_to_step(near, key);
	if (edge < near->least)
		near->least = edge;
	if (edge > near->greatest)
		near->greatest = edge;
	return near->step;
}

static void add_birth(struct store_step *step, struct store_amount amount)
{
	step->live_blocks += amount.blocks;
	step->live_bytes += amount.bytes;
	step->allocations += amount.blocks;
	step->allocated_bytes += amount.bytes;
}

static void add_end(struct store_step *step, struct store_amount amount,
		    bool freed, bool temporary)
{
	step->live_blocks -= amount.blocks;
	step->live_bytes -= amount.bytes;
	step->frees += freed ? amount.blocks : 0;
	step->freed_bytes += freed ? amount.bytes : 0;
	step->temporary += temporary ? amount.blocks : 0;
}

static void add_births(struct near near, const struct store_batch *batch,
		       const uint32_t *groups)
{
	const struct timeline *timeline = near.timeline;
	size_t steps = timeline->axis->steps;
	struct store_step *list = near.tally->list;
	const uint64_t *edges = batch->column[STORE_BIRTH_EDGE];
	const uint64_t *keys = timeline->by_edge ? edges :
						   batch->column[STORE_BEGIN];

	for (size_t i = 0; i < batch->count; i++) {
		struct store_amount amount =
			store_numbers_amount(timeline->weight,
					     batch->column[STORE_SIZE][i]);
		size_t step = step_of(&near, keys[i], edges[i]);

		add_birth(&list[(timeline->rows - 1) * steps + step], amount);
		if (groups[i] != STORE_NONE)
			add_birth(&list[groups[i] * steps + step], amount);
	}
	leave_step(&near);
}

static void add_ends(struct near near, const struct store_batch *batch,
		     const uint32_t *groups)
{
	const struct timeline *timeline = near.timeline;
	size_t steps = timeline->axis->steps;
	struct store_step *list = near.tally->list;
	const uint64_t *edges = batch->column[STORE_END_EDGE];
	const uint64_t *keys = timeline->by_edge ? edges :
						   batch->column[STORE_END];

	for (size_t i = 0; i < batch->count; i++) {
		struct store_amount amount =
			store_numbers_amount(timeline->weight,
					     batch->column[STORE_SIZE][i]);
		bool freed = batch->column[STORE_HOW][i] != STORE_LOST;
		bool temporary = freed && batch->column[STORE_BETWEEN][i] <=
					  timeline->axis->temporary;
		size_t step;

		if (batch->column[STORE_HOW][i] == STORE_LIVE)
			continue;
		step = step_of(&near, keys[i], edges[i]);
		add_end(&list[(timeline->rows - 1) * steps + step], amount,
			freed, temporary);
		if (groups[i] != STORE_NONE)
			add_end(&list[groups[i] * steps + step], amount,
				freed, temporary);
	}
	leave_step(&near);
}

static void add_batch(void *owner, unsigned worker,
		      const struct store_batch *batch)
{
	struct timeline *timeline = owner;
	struct near near = {
		.timeline = timeline, .tally = &timeline->tallies[worker],
		.least = UINT64_MAX,
	};
	uint32_t groups[STORE_BATCH];

	if (near.tally->least == NULL)
		begin_tally(timeline, near.tally);
	store_numbers(timeline->grouping, worker, batch, groups);
	add_births(near, batch, groups);
	add_ends(near, batch, groups);
}

/* All workers' into that of the first, which has the caller's list. */
static void join(struct timeline *timeline)
{
	struct tally *to = &timeline->tallies[0];
	size_t steps = timeline->axis->steps;

	if (to->least == NULL)
		begin_tally(timeline, to);
	for (unsigned worker = 1; worker < STORE_WORKERS_MAX; worker++) {
		struct tally *from = &timeline->tallies[worker];

		if (from->least == NULL)
			continue;
		for (size_t i = 0; i < timeline->rows * steps; i++) {
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
		for (size_t i = 0; i < steps; i++) {
			if (from->least[i] < to->least[i])
				to->least[i] = from->least[i];
			if (from->greatest[i] > to->greatest[i])
				to->greatest[i] = from->greatest[i];
		}
		free(from->list);
		free(from->least);
		free(from->greatest);
		*from = (struct tally){ 0 };
	}
}

static int add_up(struct store *store, const struct store_scan *scan,
		  struct timeline *timeline, struct store_step *list)
{
	uint32_t columns = STORE_BIT(STORE_SIZE) | STORE_BIT(STORE_HOW) |
		STORE_BIT(STORE_BEGIN) | STORE_BIT(STORE_END) |
		STORE_BIT(STORE_BIRTH_EDGE) | STORE_BIT(STORE_END_EDGE) |
		STORE_BIT(STORE_BETWEEN) |
		store_numbers_columns(timeline->grouping);
	int error;

	memset(list, 0, timeline->rows * timeline->axis->steps *
	       sizeof(*list));
	timeline->tallies[0].list = list;
	error = store_scan_each(store, scan, columns, add_batch, timeline);
	join(timeline);
	return error;
}

/* I1. Returns whether all edges were in the right steps. */
static bool find_firsts(const struct timeline *timeline, uint64_t *firsts)
{
	const struct tally *tally = &timeline->tallies[0];
	uint64_t first = UINT64_MAX;
	bool right = true;

	for (size_t i = timeline->axis->steps; i-- > 0;) {
		if (tally->least[i] <= tally->greatest[i])
			right &= tally->greatest[i] < first;
		if (tally->least[i] < first)
			first = tally->least[i];
		firsts[i] = first;
	}
	return right;
}

static void end_tally(struct timeline *timeline)
{
	struct tally *tally = &timeline->tallies[0];

	free(tally->least);
	free(tally->greatest);
	*tally = (struct tally){ 0 };
}

/* From what changed within steps to what was live at their ends. */
static void sum_live(const struct timeline *timeline, struct store_step *list)
{
	size_t steps = timeline->axis->steps;

	for (size_t row = 0; row < timeline->rows; row++)
		for (size_t i = 1; i < steps; i++) {
			struct store_step *step = &list[row * steps + i];

			step->live_bytes += step[-1].live_bytes;
			step->live_blocks += step[-1].live_blocks;
		}
}

/* ---- maxima ---- */

struct high {
	uint64_t live, most;	/* bytes */
};

struct maxima {
	const struct timeline *timeline;
	const uint64_t *firsts;
	struct store_step *list;
	struct high *now;	/* by group; then the whole */
	size_t step;
};

static void close_step(struct maxima *maxima)
{
	size_t steps = maxima->timeline->axis->steps;

	for (size_t row = 0; row < maxima->timeline->rows; row++) {
		struct high *now = &maxima->now[row];

		maxima->list[row * steps + maxima->step].live_bytes_max =
			now->most;
		now->most = now->live;
	}
	maxima->step++;
}

static void change(struct high *high, bool birth, uint64_t bytes)
{
	high->live += birth ? bytes : 0 - bytes;
	if (birth && high->live > high->most)
		high->most = high->live;
}

static void take(void *owner, const struct store_edge *edges, size_t count)
{
	struct maxima *maxima = owner;
	const struct timeline *timeline = maxima->timeline;
	size_t steps = timeline->axis->steps;

	for (size_t i = 0; i < count; i++) {
		const struct store_edge *edge = &edges[i];
		uint64_t bytes = store_numbers_amount(timeline->weight,
						      edge->size).bytes;

		while (maxima->step + 1 < steps &&
		       edge->edge >= maxima->firsts[maxima->step + 1])
			close_step(maxima);
		change(&maxima->now[timeline->rows - 1], edge->birth, bytes);
		if (edge->group != STORE_NONE)
			change(&maxima->now[edge->group], edge->birth, bytes);
	}
}

static int find_maxima(struct store *store, const struct store_scan *scan,
		       const struct timeline *timeline,
		       const uint64_t *firsts, struct store_step *list)
{
	struct maxima maxima = {
		.timeline = timeline, .firsts = firsts, .list = list,
		.now = grow_zeroed(timeline->rows, sizeof(struct high)),
	};
	int error = store_edges_each(store, scan, timeline->grouping, take,
				     &maxima);

	while (maxima.step < timeline->axis->steps)
		close_step(&maxima);
	free(maxima.now);
	return error;
}

/* ---- all of it ---- */

int store_timeline(struct store *store, const struct store_scan *scan,
		   const struct store_grouping *grouping,
		   const struct store_weight *weight,
		   const struct store_axis *axis, struct store_step *list)
{
	struct timeline *timeline = grow_zeroed(1, sizeof(*timeline));
	uint64_t *firsts = grow_alloc(axis->steps * sizeof(*firsts));
	bool right;
	int error;

	CLAIM(axis->steps > 0 && axis->steps <= STORE_STEPS_MAX);
	timeline->grouping = grouping;
	timeline->weight = weight;
	timeline->axis = axis;
	timeline->rows = (grouping == NULL ? 0 : grouping->groups) + 1;
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
