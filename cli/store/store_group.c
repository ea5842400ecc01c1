/*
 * store_group.c: see store_group.h. Each worker has its own sums, which are
 * added at the end.
 */
#include "cli/store/store_group.h"

#include <stdlib.h>
#include <string.h>

#include "cli/base/grow.h"
#include "cli/store/store_row_groups.h"
#include "unwind/base/assertion.h"

/* How blocks end, for sums. */
enum kind {
	KIND_LOST,		/* all blocks, if the request does not depend on
				 * how they end */
	KIND_FREED,
	KIND_LIVE,
	KINDS
};

/* Sums of a group: one cache line. */
struct hot {
	_Alignas(64) struct store_amount kinds[KINDS];
	uint64_t temporary;
	double lifetime;
};

_Static_assert(sizeof(struct hot) == 64, "one line");

struct span {
	uint64_t first_edge, last_edge, first, last;
};

/* Of one worker, by group; NULL: not requested, or it found no rows. */
struct tally {
	struct hot *hot;
	struct span *spans;
	struct store_amount *alive;
};

struct grouper {
	const struct store_grouping *grouping;
	const struct store_group_options *options;
	struct tally tallies[STORE_WORKERS_MAX];
};

#define AHEAD 12		/* rows */

/* Sums that depend on how blocks end. */
#define ENDS (STORE_SUM_FREES | STORE_SUM_LIVE | STORE_SUM_TEMPORARY | \
	      STORE_SUM_LIFETIME)

/* A batch whose rows are added to sums of groups. */
struct grouped {
	const struct store_batch *batch;
	struct tally *tally;
	unsigned wants;			/* enum store_sum */
	uint64_t temporary, alive_at;
	/* for STORE_SUM_ALIVE: begins and ends, as stamps or edges */
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
		  STORE_BIT(STORE_BEGIN) | STORE_BIT(STORE_ALLOC_EDGE) },
		{ STORE_SUM_ALIVE,
		  STORE_BIT(STORE_BEGIN) | STORE_BIT(STORE_END) },
		{ STORE_SUM_ALIVE_EDGE,
		  STORE_BIT(STORE_ALLOC_EDGE) | STORE_BIT(STORE_END_EDGE) },
	};
	uint32_t columns = STORE_BIT(STORE_SIZE);

	for (size_t i = 0; i < sizeof(needs) / sizeof(*needs); i++)
		if (sums & needs[i].sum)
			columns |= needs[i].columns;
	return columns;
}

/* No branch on how blocks end: that is not predictable. */
static inline enum kind kind_of(uint64_t how)
{
	static const uint8_t kinds[] = {
		[STORE_LIVE] = KIND_LIVE, [STORE_FREED] = KIND_FREED,
		[STORE_MOVED] = KIND_FREED, [STORE_LOST] = KIND_LOST,
	};

	return (enum kind)kinds[how % STORE_HOWS];
}

_Static_assert((STORE_HOWS & (STORE_HOWS - 1)) == 0, "forged ones are any");

static inline void add_kind(struct hot *hot, enum kind kind,
			    struct store_amount amount)
{
	hot->kinds[kind].blocks += amount.blocks;
	hot->kinds[kind].bytes += amount.bytes;
}

static inline void add_end(const struct grouped *g, struct hot *hot, size_t i,
			   struct store_amount amount)
{
	const uint64_t *const *column = g->batch->column;
	enum kind kind = kind_of(column[STORE_HOW][i]);
	uint64_t freed = amount.blocks & (0 - (uint64_t)(kind == KIND_FREED));

	add_kind(hot, kind, amount);
	if (g->wants & STORE_SUM_TEMPORARY)
		hot->temporary += freed &
			(0 - (uint64_t)(column[STORE_BETWEEN][i] <=
					g->temporary));
	if (g->wants & STORE_SUM_LIFETIME)
		hot->lifetime += (double)column[STORE_LIFETIME][i] *
				 (double)freed;
}

/* Blocks come nearly in the order of their allocations: the first rarely
 * changes, the last often. */
static inline void add_span(struct span *span, uint64_t edge, uint64_t stamp)
{
	uint64_t later = 0 - (uint64_t)(edge >= span->last_edge);

	span->last_edge = (edge & later) | (span->last_edge & ~later);
	span->last = (stamp & later) | (span->last & ~later);
	if (__builtin_expect(edge >= span->first_edge, 1))
		return;
	span->first_edge = edge;
	span->first = stamp;
}

static inline void add_alive(const struct grouped *g,
			     struct store_amount *sum, size_t i,
			     struct store_amount amount)
{
	uint64_t alive = 0 - (uint64_t)(g->alive_begin[i] <= g->alive_at &&
					g->alive_end[i] > g->alive_at);

	sum->blocks += amount.blocks & alive;
	sum->bytes += amount.bytes & alive;
}

static void begin_tally(const struct grouper *grouper, struct tally *tally)
{
	uint32_t groups = grouper->grouping->groups;
	unsigned wants = grouper->options->sums;

	tally->hot = grow_lines(NULL, 0, groups * sizeof(*tally->hot));
	memset(tally->hot, 0, groups * sizeof(*tally->hot));
	if (wants & (STORE_SUM_ALIVE | STORE_SUM_ALIVE_EDGE))
		tally->alive = grow_zeroed(groups, sizeof(*tally->alive));
	if (!(wants & STORE_SUM_FIRST_LAST))
		return;
	tally->spans = grow_resize(NULL, groups, sizeof(*tally->spans));
	for (uint32_t i = 0; i < groups; i++)
		tally->spans[i] = (struct span){ .first_edge = UINT64_MAX };
}

/* Finds the columns for STORE_SUM_ALIVE, if requested. */
static void find_alive(struct grouped *g)
{
	const uint64_t *const *column = g->batch->column;

	if (g->wants & STORE_SUM_ALIVE) {
		g->alive_begin = column[STORE_BEGIN];
		g->alive_end = column[STORE_END];
	} else if (g->wants & STORE_SUM_ALIVE_EDGE) {
		g->alive_begin = column[STORE_ALLOC_EDGE];
		g->alive_end = column[STORE_END_EDGE];
	}
}

/* Prefetches the sums of a row some rows ahead: they are rarely in the
 * cache. */
static inline __attribute__((always_inline)) void
look_ahead(const struct grouped *g, size_t i)
{
	uint32_t group = g->groups[i + AHEAD < g->batch->count ? i + AHEAD : i];

	if (group == STORE_NONE)
		return;
	__builtin_prefetch(&g->tally->hot[group], 1);
	if (g->wants & STORE_SUM_FIRST_LAST)
		__builtin_prefetch(&g->tally->spans[group], 1);
}

/* Row by row, not sum by sum: with many groups, sums are not in the cache.
 * `weight` is NULL if each block counts as one, which saves the call. */
static inline __attribute__((always_inline)) void
add_rows(const struct grouped *g, const struct store_weight *weight)
{
	const uint64_t *const *column = g->batch->column;

	for (size_t i = 0; i < g->batch->count; i++) {
		uint32_t group = g->groups[i];
		struct store_amount amount =
			store_weigh(weight, column[STORE_SIZE][i]);

		look_ahead(g, i);
		if (group == STORE_NONE)
			continue;
		if (g->wants & ENDS)
			add_end(g, &g->tally->hot[group], i, amount);
		else
			add_kind(&g->tally->hot[group], KIND_LOST, amount);
		if (g->wants & STORE_SUM_FIRST_LAST)
			add_span(&g->tally->spans[group],
				 column[STORE_ALLOC_EDGE][i],
				 column[STORE_BEGIN][i]);
		if (g->alive_begin != NULL)
			add_alive(g, &g->tally->alive[group], i, amount);
	}
}

static void take(void *owner, unsigned worker, const struct store_batch *batch)
{
	struct grouper *grouper = owner;
	const struct store_group_options *options = grouper->options;
	struct grouped g;

	DEBUG_ASSERT(worker < STORE_WORKERS_MAX);
	g.batch = batch;
	g.tally = &grouper->tallies[worker];
	g.wants = options->sums;
	g.temporary = options->temporary;
	g.alive_at = options->alive_at;
	g.alive_begin = g.alive_end = NULL;
	if (g.tally->hot == NULL)
		begin_tally(grouper, g.tally);
	store_row_groups(grouper->grouping, worker, batch, g.groups);
	find_alive(&g);
	if (options->weight.of == NULL)
		add_rows(&g, NULL);
	else
		add_rows(&g, &options->weight);
}

/* ---- adding the workers' sums ---- */

static void add_hot(struct store_sums *to, const struct hot *hot,
		    unsigned wants)
{
	for (unsigned i = 0; i < KINDS; i++) {
		to->blocks += hot->kinds[i].blocks;
		to->bytes += hot->kinds[i].bytes;
	}
	to->temporary += hot->temporary;
	to->lifetime += hot->lifetime;
	if (!(wants & (STORE_SUM_FREES | STORE_SUM_LIVE)))
		return;
	to->frees += hot->kinds[KIND_FREED].blocks;
	to->freed_bytes += hot->kinds[KIND_FREED].bytes;
	to->live_blocks += hot->kinds[KIND_LIVE].blocks;
	to->live_bytes += hot->kinds[KIND_LIVE].bytes;
}

static void join_span(struct store_sums *to, const struct span *span)
{
	if (span->first_edge < to->first_edge) {
		to->first_edge = span->first_edge;
		to->first = span->first;
	}
	if (span->last_edge >= to->last_edge) {
		to->last_edge = span->last_edge;
		to->last = span->last;
	}
}

static void join(struct store_sums *sums, uint32_t groups,
		 struct tally *tally, unsigned wants)
{
	for (uint32_t i = 0; i < groups && tally->hot != NULL; i++) {
		add_hot(&sums[i], &tally->hot[i], wants);
		if (tally->spans != NULL)
			join_span(&sums[i], &tally->spans[i]);
		if (tally->alive == NULL)
			continue;
		sums[i].alive_blocks += tally->alive[i].blocks;
		sums[i].alive_bytes += tally->alive[i].bytes;
	}
	free(tally->hot);
	free(tally->spans);
	free(tally->alive);
}

int store_group(struct store *store, const struct store_scan *scan,
		const struct store_grouping *grouping,
		const struct store_group_options *options,
		struct store_sums *sums)
{
	struct grouper grouper = { .grouping = grouping, .options = options };
	int error;

	ASSERT(!(options->sums & STORE_SUM_ALIVE &&
		 options->sums & STORE_SUM_ALIVE_EDGE));
	for (uint32_t i = 0; i < grouping->groups; i++)
		sums[i] = (struct store_sums){ .first_edge = UINT64_MAX };
	error = store_scan_each(store, scan, columns_of(options->sums) |
				store_row_group_columns(grouping), take,
				&grouper);
	for (unsigned worker = 0; worker < STORE_WORKERS_MAX; worker++)
		join(sums, grouping->groups, &grouper.tallies[worker],
		     options->sums);
	return error;
}
