/*
 * store_peaks.c: see store_sweep.h. A maximum is identified by the edge number
 * of its allocation; stamps are looked up when all maxima are known.
 */
#include <stdlib.h>
#include <string.h>

#include "cli/base/grow.h"
#include "cli/store/store_edges.h"
#include "cli/store/store_file.h"
#include "cli/store/store_row_groups.h"
#include "cli/store/store_sweep.h"
#include "unwind/base/assertion.h"

struct live {
	uint64_t bytes, blocks;
	uint64_t max;		/* bytes of the peak so far, a copy */
};

struct sweep {
	const struct store_weight *weight;
	struct live whole, *groups;	/* NULL: no groups */
	struct store_peak whole_peak, *peaks;
};

#define AHEAD 8			/* edges */

static inline void begin(struct live *live, struct store_peak *peak,
			 const struct store_edge *edge,
			 struct store_amount amount)
{
	live->bytes += amount.bytes;
	live->blocks += amount.blocks;
	if (live->bytes <= live->max)
		return;
	live->max = live->bytes;
	*peak = (struct store_peak){
		.bytes = live->bytes, .blocks = live->blocks,
		.edge = edge->edge,
	};
}

static inline void end(struct live *live, struct store_amount amount)
{
	live->bytes -= amount.bytes;
	live->blocks -= amount.blocks;
}

/* With many groups, their live bytes are not in the cache. */
static inline void look_ahead(const struct sweep *sweep,
			      const struct store_edge *edges, size_t i,
			      size_t count)
{
	uint32_t group = edges[i + AHEAD < count ? i + AHEAD : i].group;

	if (group != STORE_NONE)
		__builtin_prefetch(&sweep->groups[group], 1);
}

static void take(void *owner, const struct store_edge *edges, size_t count)
{
	struct sweep *sweep = owner;

	for (size_t i = 0; i < count; i++) {
		const struct store_edge *edge = &edges[i];
		struct store_amount amount =
			store_weigh(sweep->weight, edge->size);

		look_ahead(sweep, edges, i, count);
		if (edge->alloc) {
			begin(&sweep->whole, &sweep->whole_peak, edge, amount);
			if (edge->group != STORE_NONE)
				begin(&sweep->groups[edge->group],
				      &sweep->peaks[edge->group], edge,
				      amount);
		} else {
			end(&sweep->whole, amount);
			if (edge->group != STORE_NONE)
				end(&sweep->groups[edge->group], amount);
		}
	}
}

/* ---- stamps of allocations ---- */

struct finder {
	uint64_t edges;		/* limit of edge numbers */
	uint64_t *set;		/* edge numbers of allocations */
	uint64_t *stamps;	/* by rank in the set */
	size_t *ranks;		/* by word of the set: count of numbers before
				 * it */
};

static bool is_in(const struct finder *finder, uint64_t edge)
{
	return edge < finder->edges &&
	       finder->set[edge / 64] >> (edge % 64) & 1;
}

static size_t rank_of(const struct finder *finder, uint64_t edge)
{
	uint64_t word = finder->set[edge / 64];

	return finder->ranks[edge / 64] + (size_t)__builtin_popcountll(
		word & ((UINT64_C(1) << (edge % 64)) - 1));
}

/* Edge numbers are unique and in the set, unless forged. */
static void find(void *owner, unsigned worker, const struct store_batch *batch)
{
	struct finder *finder = owner;
	const uint64_t *edges = batch->column[STORE_ALLOC_EDGE];
	const uint64_t *begins = batch->column[STORE_BEGIN];

	(void)worker;
	for (size_t i = 0; i < batch->count; i++) {
		if (!is_in(finder, edges[i]))
			continue;
		__atomic_store_n(&finder->stamps[rank_of(finder, edges[i])],
				 begins[i], __ATOMIC_RELAXED);
	}
}

static void enter(const struct finder *finder, const struct store_peak *peak)
{
	if (peak->bytes > 0)
		finder->set[peak->edge / 64] |= UINT64_C(1) << peak->edge % 64;
}

static void look_up(const struct finder *finder, struct store_peak *peak)
{
	if (peak->bytes > 0)
		peak->stamp = finder->stamps[rank_of(finder, peak->edge)];
}

static size_t count_ranks(struct finder *finder, size_t words)
{
	size_t rank = 0;

	for (size_t i = 0; i < words; i++) {
		finder->ranks[i] = rank;
		rank += (size_t)__builtin_popcountll(finder->set[i]);
	}
	return rank;
}

/* Finds the stamps of all these allocations, without the scan's conditions. */
static int find_stamps(struct store *store, const struct store_scan *scan,
		       struct sweep *sweep, uint32_t groups)
{
	uint64_t edges = store_directory_edges(&store->directory);
	size_t words = edges / 64 + 1, found;
	struct finder finder = {
		.edges = edges,
		.set = grow_zeroed(words, sizeof(uint64_t)),
		.ranks = grow_resize(NULL, words, sizeof(size_t)),
	};
	const struct store_term term = {
		.column = STORE_ALLOC_EDGE, .set = finder.set,
		.set_size = edges,
	};
	const struct store_scan all = {
		.terms = &term, .term_count = 1, .cancel = scan->cancel,
	};
	int error;

	enter(&finder, &sweep->whole_peak);
	for (uint32_t i = 0; i < groups; i++)
		enter(&finder, &sweep->peaks[i]);
	found = count_ranks(&finder, words);
	finder.stamps = grow_zeroed(found, sizeof(uint64_t));
	error = store_scan_each(store, &all, STORE_BIT(STORE_ALLOC_EDGE) |
				STORE_BIT(STORE_BEGIN), find, &finder);
	look_up(&finder, &sweep->whole_peak);
	for (uint32_t i = 0; i < groups; i++)
		look_up(&finder, &sweep->peaks[i]);
	free(finder.set);
	free(finder.ranks);
	free(finder.stamps);
	return error;
}

int store_peaks(struct store *store, const struct store_scan *scan,
		const struct store_grouping *grouping,
		const struct store_weight *weight,
		struct store_peak *whole, struct store_peak *peaks)
{
	uint32_t groups = peaks == NULL ? 0 : grouping->groups;
	struct sweep sweep = {
		.weight = weight, .peaks = peaks,
		.groups = grow_zeroed(groups, sizeof(struct live)),
	};
	int error;

	if (groups > 0)
		memset(peaks, 0, groups * sizeof(*peaks));
	error = store_edges_each(store, scan, groups > 0 ? grouping : NULL,
				 take, &sweep);
	if (error == 0)
		error = find_stamps(store, scan, &sweep, groups);
	if (whole != NULL)
		*whole = sweep.whole_peak;
	free(sweep.groups);
	return error;
}
