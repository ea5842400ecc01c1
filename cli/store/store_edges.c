/*
 * store_edges.c: see store_edges.h.
 *
 * A few edges are gathered and sorted. Of many, each has a place of its own in
 * a window of so many numbers, to which all workers write at once; a scan for
 * each window finds them:
 *
 *	numbers   0 ........ WINDOW ........ 2 * WINDOW ....
 *	          [ window 1 ][  window 2   ][ ...
 *
 * Rows that end before the window, or begin behind it, are passed over, mostly
 * by the bounds of their chunks. To keep rows that cross windows in a list
 * instead would save a few scans, and take memory that nobody can bound.
 */
#include "cli/store/store_edges.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/grow.h"
#include "cli/store/store_file.h"
#include "cli/store/store_numbers.h"
#include "unwind/claim.h"

#define FEW ((size_t)3 << 20)		/* edges that are sorted */
#define WINDOW ((size_t)1 << 24)	/* numbers: 12 bytes each */
#define TOLD 1024			/* edges at a time */
#define DIGIT 11			/* bits that are sorted by at once */

static uint32_t columns_of(const struct store_grouping *grouping)
{
	return STORE_BIT(STORE_SIZE) | STORE_BIT(STORE_BIRTH_EDGE) |
	       STORE_BIT(STORE_END_EDGE) | store_numbers_columns(grouping);
}

/* ---- a few ---- */

struct gathered {
	_Alignas(64) struct store_edge *list;
	size_t count, capacity;
};

struct gatherer {
	const struct store_scan *scan;
	uint64_t end;		/* of edges' numbers */
	const struct store_grouping *grouping;
	struct gathered by_worker[STORE_WORKERS_MAX];
	atomic_size_t count;
	atomic_bool stop;	/* there are too many, or the scan is cancelled */
};

/* A live block's end has no number; nor have forged ones that are too large. */
static void put(struct gathered *to, uint64_t end, struct store_edge edge)
{
	to->list[to->count] = edge;
	to->count += edge.edge < end;
}

/* Both numbers only count and stop: nothing is published by them. */
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
	const uint64_t *births = batch->column[STORE_BIRTH_EDGE];
	const uint64_t *ends = batch->column[STORE_END_EDGE];
	const uint64_t *sizes = batch->column[STORE_SIZE];
	uint32_t groups[STORE_BATCH];

	if (is_enough(gatherer, 2 * batch->count))
		return;
	store_numbers(gatherer->grouping, worker, batch, groups);
	while (to->capacity - to->count < 2 * STORE_BATCH) {
		to->capacity = to->capacity * 2 + 2 * STORE_BATCH;
		to->list = grow_resize(to->list, to->capacity,
				       sizeof(*to->list));
	}
	for (size_t i = 0; i < batch->count; i++) {
		put(to, gatherer->end, (struct store_edge){
			births[i], sizes[i], groups[i], true });
		put(to, gatherer->end, (struct store_edge){
			ends[i], sizes[i], groups[i], false });
	}
}

/* All into one list, to be freed. */
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

/* By their numbers, which are below `end`; from the lowest digit on. Returns
 * the list, or another one in its place. */
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

/* -E2BIG: there are too many. */
static int tell_few(struct store *store, const struct store_scan *scan,
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

/* Of an edge: its group, above it whether it is a birth. */
#define TAG_BIRTH (UINT32_C(1) << 31)
#define TAG_NO_GROUP STORE_EDGES_GROUPS
#define TAG_EMPTY 0		/* groups are told as 1 and more */

struct window {
	const struct store_grouping *grouping;
	uint64_t first;		/* number */
	size_t width;
	uint64_t *sizes;	/* by number - first */
	uint32_t *tags;
};

/* Numbers are unique, if nobody forged them: a relaxed store is one of a plain
 * word. */
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
	const uint64_t *births = batch->column[STORE_BIRTH_EDGE];
	const uint64_t *ends = batch->column[STORE_END_EDGE];
	const uint64_t *sizes = batch->column[STORE_SIZE];
	uint32_t groups[STORE_BATCH];

	store_numbers(window->grouping, worker, batch, groups);
	for (size_t i = 0; i < batch->count; i++) {
		uint32_t tag = (groups[i] == STORE_NONE ? TAG_NO_GROUP :
							  groups[i]) + 1;

		place(window, births[i], sizes[i], tag | TAG_BIRTH);
		place(window, ends[i], sizes[i], tag);
	}
}

static void tell_window(const struct window *window,
			void (*take)(void *owner,
				     const struct store_edge *edges,
				     size_t count),
			void *owner)
{
	struct store_edge told[TOLD];
	size_t count = 0;

	for (size_t i = 0; i < window->width; i++) {
		uint32_t tag = window->tags[i];
		uint32_t group = (tag & ~TAG_BIRTH) - 1;

		told[count] = (struct store_edge){
			.edge = window->first + i,
			.size = window->sizes[i],
			.group = group == TAG_NO_GROUP ? STORE_NONE : group,
			.birth = tag & TAG_BIRTH,
		};
		count += tag != TAG_EMPTY;
		if (count == TOLD) {
			take(owner, told, count);
			count = 0;
		}
	}
	if (count > 0)
		take(owner, told, count);
}

/* Selected rows that begin before the window's end, and end behind its
 * beginning. */
static int fill_window(struct store *store, const struct store_scan *scan,
		       struct window *window)
{
	const struct store_range births = {
		0, window->first + window->width - 1,
	};
	const struct store_range ends = { window->first, STORE_NEVER };
	struct store_term terms[STORE_TERMS_MAX + 2];
	struct store_scan narrow = *scan;

	CLAIM(scan->term_count <= STORE_TERMS_MAX - 2);
	terms[0] = (struct store_term){
		.column = STORE_END_EDGE, .ranges = &ends, .range_count = 1,
	};
	terms[1] = (struct store_term){
		.column = STORE_BIRTH_EDGE, .ranges = &births,
		.range_count = 1,
	};
	for (size_t i = 0; i < scan->term_count; i++)
		terms[2 + i] = scan->terms[i];
	narrow.terms = terms;
	narrow.term_count += 2;
	memset(window->tags, 0, window->width * sizeof(*window->tags));
	return store_scan_each(store, &narrow, columns_of(window->grouping),
			       place_batch, window);
}

static int tell_many(struct store *store, const struct store_scan *scan,
		     const struct store_grouping *grouping,
		     void (*take)(void *owner, const struct store_edge *edges,
				  size_t count),
		     void *owner)
{
	uint64_t end = store_directory_edges(&store->directory);
	struct window window = {
		.grouping = grouping,
		.width = end < WINDOW ? (size_t)end : WINDOW,
	};
	int error = 0;

	window.sizes = grow_resize(NULL, window.width, sizeof(*window.sizes));
	window.tags = grow_resize(NULL, window.width, sizeof(*window.tags));
	while (window.first < end && error == 0) {
		error = fill_window(store, scan, &window);
		if (error == 0)
			tell_window(&window, take, owner);
		window.first += window.width;
	}
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

	CLAIM(grouping == NULL || grouping->groups <= STORE_EDGES_GROUPS);
	error = tell_few(store, scan, grouping, take, owner);
	return error == -E2BIG ?
		tell_many(store, scan, grouping, take, owner) : error;
}
