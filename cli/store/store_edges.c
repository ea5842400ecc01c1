/*
 * store_edges.c: see store_edges.h.
 *
 * A few edges are collected and sorted. With many edges, each has an entry in a
 * window of consecutive numbers, which all workers fill at once:
 *
 *	numbers   0 ........ WINDOW ........ 2 * WINDOW ....
 *	          [ window 1 ][  window 2   ][ ...
 *
 * Rows that end in a window are in few chunks, since rows are in the order of
 * their ends. Rows that begin in it and end in a later window, or are live, may
 * be anywhere. An earlier scan finds these *crossings*, for as many windows as
 * their number allows (a round).
 *
 *  I1  A round has all crossings of its windows: if a list is full, the round
 *      is shortened, and crossings beyond its end are dropped.
 */
#include "cli/store/store_edges.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/grow.h"
#include "cli/base/parallel.h"
#include "cli/store/store_file.h"
#include "cli/store/store_row_groups.h"
#include "unwind/base/assertion.h"

/* A test defines smaller values. */
#ifndef FEW
#define FEW ((size_t)3 << 20)		/* edges that are sorted in memory */
#define WINDOW ((size_t)1 << 23)	/* numbers: 12 bytes each */
#define CROSSINGS ((size_t)1 << 23)	/* of all workers: 16 bytes each */
#define ROUND_MAX (UINT64_C(1) << 31)	/* numbers: whole windows */
#endif
#define TOLD 1024			/* edges passed on at a time */
#define DIGIT 11			/* bits sorted per pass (radix sort) */

static uint32_t columns_of(const struct store_grouping *grouping)
{
	return STORE_BIT(STORE_SIZE) | STORE_BIT(STORE_ALLOC_EDGE) |
	       STORE_BIT(STORE_END_EDGE) | store_row_group_columns(grouping);
}

/* ---- a few ---- */

struct gathered {
	_Alignas(64) struct store_edge *list;
	size_t count, capacity;
};

struct gatherer {
	const struct store_scan *scan;
	uint64_t end;		/* limit of edge numbers */
	const struct store_grouping *grouping;
	struct gathered by_worker[STORE_WORKERS_MAX];
	atomic_size_t count;
	atomic_bool stop;	/* there are too many edges, or the scan is
				 * cancelled */
};

/* The end of a live block has no number; numbers that are too large are
 * forged. */
static void put(struct gathered *to, uint64_t end, struct store_edge edge)
{
	to->list[to->count] = edge;
	to->count += edge.edge < end;
}

/* Relaxed: both atomics publish no other data. */
static bool is_enough(struct gatherer *gatherer, size_t more)
{
	const atomic_bool *cancel = gatherer->scan->cancel;

	if (atomic_fetch_add_explicit(&gatherer->count, more,
				      memory_order_relaxed) + more <= FEW &&
	    (cancel == NULL ||
	     !atomic_load_explicit(cancel, memory_order_relaxed)))
		return false;
	atomic_store_explicit(&gatherer->stop, true, memory_order_relaxed);
	return true;
}

static void gather(void *owner, unsigned worker,
		   const struct store_batch *batch)
{
	struct gatherer *gatherer = owner;
	struct gathered *to = &gatherer->by_worker[worker];
	const uint64_t *allocs = batch->column[STORE_ALLOC_EDGE];
	const uint64_t *ends = batch->column[STORE_END_EDGE];
	const uint64_t *sizes = batch->column[STORE_SIZE];
	uint32_t groups[STORE_BATCH];

	if (is_enough(gatherer, 2 * batch->count))
		return;
	store_row_groups(gatherer->grouping, worker, batch, groups);
	while (to->capacity - to->count < 2 * STORE_BATCH) {
		to->capacity = to->capacity * 2 + 2 * STORE_BATCH;
		to->list = grow_resize(to->list, to->capacity,
				       sizeof(*to->list));
	}
	for (size_t i = 0; i < batch->count; i++) {
		put(to, gatherer->end, (struct store_edge){
			allocs[i], sizes[i], groups[i], true });
		put(to, gatherer->end, (struct store_edge){
			ends[i], sizes[i], groups[i], false });
	}
}

/* Joins all lists into one, to be freed. */
static struct store_edge *join(struct gatherer *gatherer, size_t *count)
{
	struct store_edge *list;

	*count = 0;
	for (unsigned i = 0; i < STORE_WORKERS_MAX; i++)
		*count += gatherer->by_worker[i].count;
	list = grow_resize(NULL, *count, sizeof(*list));
	*count = 0;
	for (unsigned i = 0; i < STORE_WORKERS_MAX; i++) {
		struct gathered *from = &gatherer->by_worker[i];

		if (from->count > 0)
			memcpy(list + *count, from->list,
			       from->count * sizeof(*list));
		*count += from->count;
		free(from->list);
		from->list = NULL;
	}
	return list;
}

static void sort_digit(const struct store_edge *from, struct store_edge *to,
		       size_t count, unsigned shift)
{
	size_t places[(1 << DIGIT) + 1] = { 0 };
	const uint64_t mask = (1 << DIGIT) - 1;

	for (size_t i = 0; i < count; i++)
		places[(from[i].edge >> shift & mask) + 1]++;
	for (size_t i = 1; i <= mask; i++)
		places[i] += places[i - 1];
	for (size_t i = 0; i < count; i++)
		to[places[from[i].edge >> shift & mask]++] = from[i];
}

/* Sorts by edge number, below `end`; least significant digit first. Returns the
 * list, or another one that replaces it. */
static struct store_edge *sort_edges(struct store_edge *list, size_t count,
				     uint64_t end)
{
	struct store_edge *other = grow_resize(NULL, count, sizeof(*other));

	for (unsigned shift = 0; shift < 64 && end >> shift > 0;
	     shift += DIGIT) {
		struct store_edge *from = list;

		sort_digit(from, other, count, shift);
		list = other;
		other = from;
	}
	free(other);
	return list;
}

/* -E2BIG: there are too many edges. */
static int report_few(struct store *store, const struct store_scan *scan,
		      const struct store_grouping *grouping,
		      void (*take)(void *owner, const struct store_edge *edges,
				   size_t count),
		      void *owner)
{
	struct gatherer gatherer = {
		.scan = scan, .grouping = grouping,
		.end = store_directory_edges(&store->directory),
	};
	struct store_scan stopped = *scan;
	struct store_edge *list;
	size_t count;
	int error;

	stopped.cancel = &gatherer.stop;
	error = store_scan_each(store, &stopped, columns_of(grouping), gather,
				&gatherer);
	if (gatherer.stop)
		error = gatherer.count > FEW ? -E2BIG : -ECANCELED;
	list = join(&gatherer, &count);
	if (error == 0) {
		list = sort_edges(list, count, gatherer.end);
		take(owner, list, count);
	}
	free(list);
	return error;
}

/* ---- many ---- */

/* The tag of an edge: its group + 1, and whether it is an allocation. */
#define TAG_ALLOC (UINT32_C(1) << 31)
#define TAG_NO_GROUP STORE_EDGES_GROUPS
#define TAG_EMPTY 0		/* tags have group + 1 */

struct window {
	const struct store_grouping *grouping;
	uint64_t first;		/* first number */
	size_t width;
	uint64_t *sizes;	/* by number - first */
	uint32_t *tags;
	struct round *round;
};

static uint32_t tag_of(uint32_t group)
{
	return (group == STORE_NONE ? TAG_NO_GROUP : group) + 1;
}

/* Numbers are unique unless forged: a relaxed atomic store costs no more than a
 * plain one. */
static void place(struct window *window, uint64_t edge, uint64_t size,
		  uint32_t tag)
{
	uint64_t at = edge - window->first;

	if (at >= window->width)
		return;
	__atomic_store_n(&window->sizes[at], size, __ATOMIC_RELAXED);
	__atomic_store_n(&window->tags[at], tag, __ATOMIC_RELAXED);
}

static void place_batch(void *owner, unsigned worker,
			const struct store_batch *batch)
{
	struct window *window = owner;
	const uint64_t *allocs = batch->column[STORE_ALLOC_EDGE];
	const uint64_t *ends = batch->column[STORE_END_EDGE];
	const uint64_t *sizes = batch->column[STORE_SIZE];
	uint32_t groups[STORE_BATCH];

	store_row_groups(window->grouping, worker, batch, groups);
	for (size_t i = 0; i < batch->count; i++) {
		uint32_t tag = tag_of(groups[i]);

		place(window, allocs[i], sizes[i], tag | TAG_ALLOC);
		place(window, ends[i], sizes[i], tag);
	}
}

/* ---- crossings ---- */

struct crossing {
	uint64_t size;
	uint32_t at;		/* number of the allocation - first of the
				 * round */
	uint32_t tag;
};

/* Of one worker. */
struct crossings {
	_Alignas(64) struct crossing *list;
	size_t count, capacity;
};

struct round {
	const struct store_grouping *grouping;
	uint64_t first;			/* first number */
	_Atomic uint64_t width;		/* only decreases; whole windows */
	size_t share;			/* each worker's share of CROSSINGS */
	struct crossings by_worker[STORE_WORKERS_MAX];
};

/* Relaxed: the width is read again when all workers have ended, which orders
 * it. */
static uint64_t width_of(struct round *round)
{
	return atomic_load_explicit(&round->width, memory_order_relaxed);
}

/* Decreases the width to this; other workers may have decreased it further. */
static void make_shorter(struct round *round, uint64_t width)
{
	uint64_t old = width_of(round);

	while (width < old &&
	       !atomic_compare_exchange_weak_explicit(&round->width, &old,
				width, memory_order_relaxed,
				memory_order_relaxed))
		;
}

static void throw_away(struct round *round, struct crossings *crossings)
{
	uint64_t width = width_of(round);
	size_t kept = 0;

	for (size_t i = 0; i < crossings->count; i++) {
		crossings->list[kept] = crossings->list[i];
		kept += crossings->list[i].at < width;
	}
	crossings->count = kept;
}

/* Ensures I1. A round of one window is never shortened: its crossings are at
 * most its allocations. */
static void make_room(struct round *round, struct crossings *crossings)
{
	if (crossings->count >= round->share)
		throw_away(round, crossings);
	while (crossings->count > round->share / 2 &&
	       width_of(round) > WINDOW) {
		uint64_t windows = width_of(round) / WINDOW;

		make_shorter(round, windows / 2 * WINDOW);
		throw_away(round, crossings);
	}
	while (crossings->capacity - crossings->count < STORE_BATCH) {
		crossings->capacity = crossings->capacity * 2 + STORE_BATCH;
		crossings->list = grow_resize(crossings->list,
					      crossings->capacity,
					      sizeof(*crossings->list));
	}
}

static void cross_batch(void *owner, unsigned worker,
			const struct store_batch *batch)
{
	struct round *round = owner;
	struct crossings *crossings = &round->by_worker[worker];
	const uint64_t *allocs = batch->column[STORE_ALLOC_EDGE];
	const uint64_t *ends = batch->column[STORE_END_EDGE];
	const uint64_t *sizes = batch->column[STORE_SIZE];
	uint64_t first = round->first, width;
	uint32_t groups[STORE_BATCH];

	store_row_groups(round->grouping, worker, batch, groups);
	if (crossings->count >= round->share ||
	    crossings->capacity - crossings->count < STORE_BATCH)
		make_room(round, crossings);
	width = width_of(round);
	for (size_t i = 0; i < batch->count; i++) {
		crossings->list[crossings->count] = (struct crossing){
			sizes[i], (uint32_t)(allocs[i] - first),
			tag_of(groups[i]) | TAG_ALLOC,
		};
		crossings->count += allocs[i] - first < width &&
			allocs[i] / WINDOW != ends[i] / WINDOW;
	}
}

/* Calls `each` for selected rows whose numbers in these columns are in the
 * ranges. */
static int scan_between(struct store *store, const struct store_scan *scan,
			const struct store_range *allocs,
			const struct store_range *ends,
			const struct store_grouping *grouping,
			void (*each)(void *owner, unsigned worker,
				     const struct store_batch *batch),
			void *owner)
{
	struct store_term terms[STORE_TERMS_MAX];
	struct store_scan narrow = *scan;

	ASSERT(scan->term_count <= STORE_TERMS_ASKED);
	terms[0] = (struct store_term){
		.column = STORE_END_EDGE, .ranges = ends, .range_count = 1,
	};
	terms[1] = (struct store_term){
		.column = STORE_ALLOC_EDGE, .ranges = allocs,
		.range_count = 1,
	};
	for (size_t i = 0; i < scan->term_count; i++)
		terms[2 + i] = scan->terms[i];
	narrow.terms = terms;
	narrow.term_count += 2;
	return store_scan_each(store, &narrow, columns_of(grouping), each,
			       owner);
}

/* From round->first on, for windows up to `end` at most. */
static int find_crossings(struct store *store, const struct store_scan *scan,
			  struct round *round, uint64_t end)
{
	uint64_t width = (end - round->first + WINDOW - 1) / WINDOW * WINDOW;
	struct store_range allocs, ends;

	for (unsigned i = 0; i < STORE_WORKERS_MAX; i++)
		round->by_worker[i].count = 0;
	round->width = width < ROUND_MAX ? width : ROUND_MAX;
	round->share = CROSSINGS / store_scan_workers(store);
	allocs = (struct store_range){
		round->first, round->first + round->width - 1,
	};
	ends = (struct store_range){ round->first, STORE_NEVER };
	return scan_between(store, scan, &allocs, &ends, round->grouping,
			    cross_batch, round);
}

/* Fills in the crossings of one worker's list that are in the window. */
static void place_crossings(void *owner, size_t worker)
{
	struct window *window = owner;
	struct round *round = window->round;
	const struct crossings *crossings = &round->by_worker[worker];

	for (size_t i = 0; i < crossings->count; i++)
		place(window, round->first + crossings->list[i].at,
		      crossings->list[i].size, crossings->list[i].tag);
}

/* ---- windows ---- */

static void report_window(const struct window *window,
			  void (*take)(void *owner,
				       const struct store_edge *edges,
				       size_t count),
			  void *owner)
{
	struct store_edge reported[TOLD];
	size_t count = 0;

	for (size_t i = 0; i < window->width; i++) {
		uint32_t tag = window->tags[i];
		uint32_t group = (tag & ~TAG_ALLOC) - 1;

		reported[count] = (struct store_edge){
			.edge = window->first + i,
			.size = window->sizes[i],
			.group = group == TAG_NO_GROUP ? STORE_NONE : group,
			.alloc = tag & TAG_ALLOC,
		};
		count += tag != TAG_EMPTY;
		if (count == TOLD) {
			take(owner, reported, count);
			count = 0;
		}
	}
	if (count > 0)
		take(owner, reported, count);
}

static int fill_window(struct store *store, const struct store_scan *scan,
		       struct window *window)
{
	const struct store_range any = { 0, UINT64_MAX };
	const struct store_range ends = {
		window->first, window->first + window->width - 1,
	};

	memset(window->tags, 0, window->width * sizeof(*window->tags));
	parallel_each(STORE_WORKERS_MAX, place_crossings, window);
	return scan_between(store, scan, &any, &ends, window->grouping,
			    place_batch, window);
}

static int report_round(struct store *store, const struct store_scan *scan,
			struct window *window,
			void (*take)(void *owner,
				     const struct store_edge *edges,
				     size_t count),
			void *owner)
{
	uint64_t end = window->round->first + width_of(window->round);
	int error = 0;

	for (window->first = window->round->first;
	     window->first < end && error == 0;
	     window->first += window->width) {
		error = fill_window(store, scan, window);
		if (error == 0)
			report_window(window, take, owner);
	}
	return error;
}

static int report_many(struct store *store, const struct store_scan *scan,
		       const struct store_grouping *grouping,
		       void (*take)(void *owner, const struct store_edge *edges,
				    size_t count),
		       void *owner)
{
	uint64_t end = store_directory_edges(&store->directory);
	struct round round = { .grouping = grouping };
	struct window window = {
		.grouping = grouping, .round = &round, .width = WINDOW,
		.sizes = grow_resize(NULL, WINDOW, sizeof(uint64_t)),
		.tags = grow_resize(NULL, WINDOW, sizeof(uint32_t)),
	};
	int error = 0;

	while (round.first < end && error == 0) {
		error = find_crossings(store, scan, &round, end);
		if (error == 0)
			error = report_round(store, scan, &window, take, owner);
		round.first += width_of(&round);
	}
	for (unsigned i = 0; i < STORE_WORKERS_MAX; i++)
		free(round.by_worker[i].list);
	free(window.sizes);
	free(window.tags);
	return error;
}

int store_edges_each(struct store *store, const struct store_scan *scan,
		     const struct store_grouping *grouping,
		     void (*take)(void *owner, const struct store_edge *edges,
				  size_t count),
		     void *owner)
{
	int error;

	ASSERT(grouping == NULL || grouping->groups <= STORE_EDGES_GROUPS);
	error = report_few(store, scan, grouping, take, owner);
	return error == -E2BIG ?
		report_many(store, scan, grouping, take, owner) : error;
}
