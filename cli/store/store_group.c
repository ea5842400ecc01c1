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

#define AHEAD 12		/* rows */

/* For which it matters how blocks end. */
#define ENDS (STORE_SUM_FREES | STORE_SUM_LIVE | STORE_SUM_TEMPORARY | \
	      STORE_SUM_LIFETIME)

/* A batch whose rows are added to sums of groups. */
struct grouped {
	const struct store_batch *batch;
	unsigned wants;			/* enum store_sum */
	uint64_t temporary, alive_at;
	/* of the moment: begins and ends, by stamps or by edges */
	const uint64_t *alive_begin, *alive_end;
	uint32_t groups[STORE_BATCH];
};

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

/* Nothing branches on how blocks end: that cannot be guessed. */
static inline void add_end(const struct grouped *g, struct store_sums *sums,
			   size_t i, struct store_amount amount)
{
	uint64_t how = g->batch->column[STORE_HOW][i];
	uint64_t freed = 0 - (uint64_t)is_free(how);
	uint64_t live = 0 - (uint64_t)(how == STORE_LIVE);

	if (g->wants & (STORE_SUM_FREES | STORE_SUM_LIVE)) {
		sums->frees += amount.blocks & freed;
		sums->freed_bytes += amount.bytes & freed;
		sums->live_blocks += amount.blocks & live;
		sums->live_bytes += amount.bytes & live;
	}
	if (g->wants & STORE_SUM_TEMPORARY)
		sums->temporary += amount.blocks & freed &
			(0 - (uint64_t)(g->batch->column[STORE_BETWEEN][i] <=
					g->temporary));
	if (g->wants & STORE_SUM_LIFETIME)
		sums->lifetime +=
			(double)g->batch->column[STORE_LIFETIME][i] *
			(double)(amount.blocks & freed);
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

static inline void add_rest(const struct grouped *g, struct store_sums *sums,
			    size_t i, struct store_amount amount)
{
	const uint64_t *const *column = g->batch->column;
	uint64_t alive;

	if (g->wants & STORE_SUM_FIRST_LAST) {
		add_first(sums, column[STORE_BIRTH_EDGE][i],
			  column[STORE_BEGIN][i]);
		add_last(sums, column[STORE_BIRTH_EDGE][i],
			 column[STORE_BEGIN][i]);
	}
	if (g->alive_begin == NULL)
		return;
	alive = 0 - (uint64_t)(g->alive_begin[i] <= g->alive_at &&
			       g->alive_end[i] > g->alive_at);
	sums->alive_blocks += amount.blocks & alive;
	sums->alive_bytes += amount.bytes & alive;
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

/* Where begins and ends of the moment are, if one is wanted. */
static void find_alive(struct grouped *g)
{
	const uint64_t *const *column = g->batch->column;

	if (g->wants & STORE_SUM_ALIVE) {
		g->alive_begin = column[STORE_BEGIN];
		g->alive_end = column[STORE_END];
	} else if (g->wants & STORE_SUM_ALIVE_EDGE) {
		g->alive_begin = column[STORE_BIRTH_EDGE];
		g->alive_end = column[STORE_END_EDGE];
	}
}

/* The sums of a row some rows ahead: they are seldom in the cache. */
static inline __attribute__((always_inline)) void
look_ahead(const struct grouped *g, const struct store_sums *list, size_t i)
{
	uint32_t group = g->groups[i + AHEAD < g->batch->count ? i + AHEAD : i];

	if (group == STORE_NONE)
		return;
	__builtin_prefetch(&list[group], 1);
	__builtin_prefetch((const char *)(&list[group] + 1) - 1, 1);
}

/* Row by row, not sum by sum: of many groups, sums are not in the cache. */
static void take(void *owner, unsigned worker, const struct store_batch *batch)
{
	struct grouper *grouper = owner;
	const struct store_group_options *options = grouper->options;
	struct store_sums *list = sums_of(grouper, worker);
	struct grouped g;

	g.batch = batch;
	g.wants = options->sums;
	g.temporary = options->temporary;
	g.alive_at = options->alive_at;
	g.alive_begin = g.alive_end = NULL;
	store_numbers(grouper->grouping, worker, batch, g.groups);
	find_alive(&g);
	for (size_t i = 0; i < batch->count; i++) {
		struct store_amount amount =
			store_numbers_amount(&options->weight,
					     batch->column[STORE_SIZE][i]);
		struct store_sums *sums;

		look_ahead(&g, list, i);
		if (g.groups[i] == STORE_NONE)
			continue;
		sums = &list[g.groups[i]];
		sums->blocks += amount.blocks;
		sums->bytes += amount.bytes;
		if (g.wants & ENDS)
			add_end(&g, sums, i, amount);
		add_rest(&g, sums, i, amount);
	}
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
