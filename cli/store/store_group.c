/*
 * store_group.c: see store_group.h. Each worker has sums of its own, which are
 * added in the end.
 */
#include "cli/store/store_group.h"

#include <stdlib.h>

#include "cli/base/grow.h"
#include "cli/store/store_numbers.h"
#include "unwind/claim.h"

struct grouper {
	const struct store_grouping *grouping;
	const struct store_group_options *options;
	struct store_sums *sums[STORE_WORKERS_MAX];	/* or NULL */
};

/* Rows of a batch that are in a group. */
struct grouped {
	const struct store_batch *batch;
	const struct store_group_options *options;
	struct store_sums *sums;
	uint32_t groups[STORE_BATCH];
	struct store_amount amounts[STORE_BATCH];
};

#define EACH_GROUPED(g, i)						\
	for (size_t i = 0; i < (g)->batch->count; i++)			\
		if ((g)->groups[i] != STORE_NONE)

static uint32_t columns_of(unsigned sums)
{
	static const struct {
		unsigned sum;
		uint32_t columns;
	} needs[] = {
		{ STORE_SUM_FREES, STORE_BIT(STORE_HOW) },
		{ STORE_SUM_TEMPORARY,
		  STORE_BIT(STORE_HOW) | STORE_BIT(STORE_BETWEEN) },
		{ STORE_SUM_LIVE, STORE_BIT(STORE_HOW) },
		{ STORE_SUM_LIFETIME,
		  STORE_BIT(STORE_HOW) | STORE_BIT(STORE_LIFETIME) },
		{ STORE_SUM_FIRST_LAST,
		  STORE_BIT(STORE_BEGIN) | STORE_BIT(STORE_BIRTH_EDGE) },
		{ STORE_SUM_ALIVE,
		  STORE_BIT(STORE_BEGIN) | STORE_BIT(STORE_END) },
		{ STORE_SUM_ALIVE_EDGE,
		  STORE_BIT(STORE_BIRTH_EDGE) | STORE_BIT(STORE_END_EDGE) },
	};
	uint32_t columns = STORE_BIT(STORE_SIZE);

	for (size_t i = 0; i < sizeof(needs) / sizeof(*needs); i++)
		if (sums & needs[i].sum)
			columns |= needs[i].columns;
	return columns;
}

static bool is_free(uint64_t how)
{
	return how == STORE_FREED || how == STORE_MOVED;
}

static void add_all(struct grouped *g)
{
	EACH_GROUPED(g, i) {
		struct store_sums *sums = &g->sums[g->groups[i]];

		sums->blocks += g->amounts[i].blocks;
		sums->bytes += g->amounts[i].bytes;
	}
}

static void add_ends(struct grouped *g)
{
	const uint64_t *how = g->batch->column[STORE_HOW];

	EACH_GROUPED(g, i) {
		struct store_sums *sums = &g->sums[g->groups[i]];
		uint64_t freed = 0 - (uint64_t)is_free(how[i]);
		uint64_t live = 0 - (uint64_t)(how[i] == STORE_LIVE);

		sums->frees += g->amounts[i].blocks & freed;
		sums->freed_bytes += g->amounts[i].bytes & freed;
		sums->live_blocks += g->amounts[i].blocks & live;
		sums->live_bytes += g->amounts[i].bytes & live;
	}
}

static void add_temporary(struct grouped *g)
{
	const uint64_t *how = g->batch->column[STORE_HOW];
	const uint64_t *between = g->batch->column[STORE_BETWEEN];

	EACH_GROUPED(g, i)
		if (is_free(how[i]) && between[i] <= g->options->temporary)
			g->sums[g->groups[i]].temporary +=
				g->amounts[i].blocks;
}

static void add_lifetimes(struct grouped *g)
{
	const uint64_t *how = g->batch->column[STORE_HOW];
	const uint64_t *lifetimes = g->batch->column[STORE_LIFETIME];

	EACH_GROUPED(g, i)
		if (is_free(how[i]))
			g->sums[g->groups[i]].lifetime +=
				(double)lifetimes[i] *
				(double)g->amounts[i].blocks;
}

static void add_first(struct store_sums *sums, uint64_t edge, uint64_t stamp)
{
	if (edge >= sums->first_edge)
		return;
	sums->first_edge = edge;
	sums->first = stamp;
}

static void add_last(struct store_sums *sums, uint64_t edge, uint64_t stamp)
{
	if (edge < sums->last_edge)
		return;
	sums->last_edge = edge;
	sums->last = stamp;
}

static void add_first_last(struct grouped *g)
{
	const uint64_t *begins = g->batch->column[STORE_BEGIN];
	const uint64_t *edges = g->batch->column[STORE_BIRTH_EDGE];

	EACH_GROUPED(g, i) {
		struct store_sums *sums = &g->sums[g->groups[i]];

		add_first(sums, edges[i], begins[i]);
		add_last(sums, edges[i], begins[i]);
	}
}

static void add_alive(struct grouped *g, enum store_column begin,
		      enum store_column end)
{
	const uint64_t *begins = g->batch->column[begin];
	const uint64_t *ends = g->batch->column[end];
	uint64_t at = g->options->alive_at;

	EACH_GROUPED(g, i) {
		struct store_sums *sums = &g->sums[g->groups[i]];
		uint64_t alive = 0 - (uint64_t)(begins[i] <= at &&
						ends[i] > at);

		sums->alive_blocks += g->amounts[i].blocks & alive;
		sums->alive_bytes += g->amounts[i].bytes & alive;
	}
}

static void init_sums(struct store_sums *sums, uint32_t groups)
{
	for (uint32_t i = 0; i < groups; i++)
		sums[i] = (struct store_sums){ .first_edge = UINT64_MAX };
}

static struct store_sums *sums_of(struct grouper *grouper, unsigned worker)
{
	uint32_t groups = grouper->grouping->groups;

	CLAIM_FULL(worker < STORE_WORKERS_MAX);
	if (grouper->sums[worker] == NULL) {
		grouper->sums[worker] = grow_resize(NULL, groups,
					sizeof(struct store_sums));
		init_sums(grouper->sums[worker], groups);
	}
	return grouper->sums[worker];
}

static void take(void *owner, unsigned worker, const struct store_batch *batch)
{
	struct grouper *grouper = owner;
	const struct store_group_options *options = grouper->options;
	struct grouped g = {
		.batch = batch, .options = options,
		.sums = sums_of(grouper, worker),
	};

	store_numbers(grouper->grouping, worker, batch, g.groups);
	for (size_t i = 0; i < batch->count; i++)
		g.amounts[i] = store_numbers_amount(&options->weight,
					batch->column[STORE_SIZE][i]);
	add_all(&g);
	if (options->sums & (STORE_SUM_FREES | STORE_SUM_LIVE))
		add_ends(&g);
	if (options->sums & STORE_SUM_TEMPORARY)
		add_temporary(&g);
	if (options->sums & STORE_SUM_LIFETIME)
		add_lifetimes(&g);
	if (options->sums & STORE_SUM_FIRST_LAST)
		add_first_last(&g);
	if (options->sums & STORE_SUM_ALIVE)
		add_alive(&g, STORE_BEGIN, STORE_END);
	if (options->sums & STORE_SUM_ALIVE_EDGE)
		add_alive(&g, STORE_BIRTH_EDGE, STORE_END_EDGE);
}

static void merge(struct store_sums *to, const struct store_sums *from)
{
	to->blocks += from->blocks;
	to->bytes += from->bytes;
	to->frees += from->frees;
	to->freed_bytes += from->freed_bytes;
	to->temporary += from->temporary;
	to->live_blocks += from->live_blocks;
	to->live_bytes += from->live_bytes;
	to->alive_blocks += from->alive_blocks;
	to->alive_bytes += from->alive_bytes;
	to->lifetime += from->lifetime;
	add_first(to, from->first_edge, from->first);
	add_last(to, from->last_edge, from->last);
}

int store_group(struct store *store, const struct store_scan *scan,
		const struct store_grouping *grouping,
		const struct store_group_options *options,
		struct store_sums *sums)
{
	struct grouper grouper = { .grouping = grouping, .options = options,
				   .sums = { sums } };
	int error;

	CLAIM(!(options->sums & STORE_SUM_ALIVE &&
		options->sums & STORE_SUM_ALIVE_EDGE));
	init_sums(sums, grouping->groups);
	error = store_scan_each(store, scan, columns_of(options->sums) |
				store_numbers_columns(grouping), take,
				&grouper);
	for (unsigned worker = 1; worker < STORE_WORKERS_MAX; worker++) {
		if (grouper.sums[worker] == NULL)
			continue;
		for (uint32_t i = 0; i < grouping->groups; i++)
			merge(&sums[i], &grouper.sums[worker][i]);
		free(grouper.sums[worker]);
	}
	return error;
}
