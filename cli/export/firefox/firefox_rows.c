/*
 * firefox_rows.c: see firefox_rows.h.
 *
 *  I1  Sums over rows equal sums over contexts, which the report shows. If the
 *      sums of events differ, rows are made from contexts.
 */
#include "cli/export/firefox/firefox_rows.h"

#include <stdlib.h>
#include <string.h>

#include "cli/base/grow.h"
#include "cli/base/sort.h"
#include "cli/base/status.h"
#include "cli/export/bundles.h"
#include "cli/model/core/contexts.h"
#include "cli/model/core/threads.h"

/* As many as readers handle well, but at least four for each context: twice
 * what bundles need. */
#define BUNDLES (1u << 17)
#define BUNDLES_OF_CONTEXT 4

struct collecting {
	struct export *export;
	struct bundles bundles;
	struct timeline *timeline;
	struct timeline_sums now;
	uint64_t end_ns;
};

/* ---- events ---- */

static void add_block(struct collecting *c, const struct export_block *of,
		      uint64_t ended, bool temporary)
{
	const struct model *model = c->export->model;
	const struct block *block = of->block;
	struct bundle bundle = {
		.node = of->node,
		.alloc_ns = model_since_start_ns(model, block->alloc),
		.ended = ended,
		.bytes = block->size,
		.blocks = 1,
		.temporary = temporary,
	};

	if (c->export->threads && block->thread < model_threads(model)->count)
		bundle.thread = block->thread;
	bundles_add(&c->bundles, &bundle);
}

static void take_alloc(void *owner, const struct export_block *block)
{
	struct collecting *c = owner;

	timeline_advance(c->timeline, block->stamp, &c->now);
	c->now.live_bytes += block->block->size;
	c->now.live_blocks++;
	c->now.allocations++;
	timeline_high(c->timeline, c->now.live_bytes, c->now.live_blocks);
}

static void take_end(void *owner, const struct export_block *block)
{
	struct collecting *c = owner;

	timeline_advance(c->timeline, block->stamp, &c->now);
	c->now.live_bytes -= block->block->size;
	c->now.live_blocks--;
	c->now.frees++;
	add_block(c, block,
		  model_since_start_ns(c->export->model, block->stamp),
		  block->block->temporary);
}

static void take_live(void *owner, const struct export_block *block)
{
	add_block(owner, block, BUNDLE_LIVES, false);
}

static int follow(struct collecting *c)
{
	const struct export_follower follower = {
		.owner = c, .alloc = take_alloc, .end = take_end,
		.live = take_live,
	};
	int status = export_follow(c->export, &follower);

	timeline_finish(c->timeline, &c->now);
	return status;
}

/* ---- contexts ---- */

static bool is_all(struct collecting *c)
{
	struct figures must, is = { 0 };

	export_sum(c->export, &must);
	for (size_t i = 0; i < c->bundles.count; i++) {
		const struct bundle *bundle = &c->bundles.list[i];

		is.count += bundle->blocks;
		is.total_bytes += bundle->bytes;
		is.temporary += bundle->temporary;
		is.live_bytes += bundle->ended == BUNDLE_LIVES ?
			bundle->bytes : 0;
	}
	return is.count == must.count && is.total_bytes == must.total_bytes &&
		is.live_bytes == must.live_bytes &&
		is.temporary == must.temporary;
}

static uint64_t without(uint64_t all, uint64_t part)
{
	return all > part ? all - part : 0;
}

/* One bundle for live blocks, one for all others, whose time of free is
 * unknown. */
static void add_context(void *owner, uint32_t node, uint32_t part,
			const struct figures *figures)
{
	struct collecting *c = owner;
	struct bundle bundle = {
		.node = node,
		.thread = c->export->threads ? part : 0,
		.alloc_ns = figures->first_ns,
		.ended = BUNDLE_LIVES,
		.bytes = figures->live_bytes,
		.blocks = figures->live_blocks,
	};

	if (bundle.blocks > 0 || bundle.bytes > 0)
		bundles_add(&c->bundles, &bundle);
	bundle.ended = c->end_ns;
	bundle.bytes = without(figures->total_bytes, figures->live_bytes);
	bundle.blocks = without(figures->count, figures->live_blocks);
	bundle.temporary = figures->temporary;
	if (bundle.blocks > 0 || bundle.bytes > 0 || bundle.temporary > 0)
		bundles_add(&c->bundles, &bundle);
}

static void from_contexts(struct collecting *c)
{
	size_t limit = c->bundles.limit;

	bundles_free(&c->bundles);
	bundles_init(&c->bundles, limit);
	timeline_free(c->timeline);
	export_contexts(c->export, add_context, c);
}

/* ---- rows ---- */

static int by_time(const void *a, const void *b)
{
	const struct firefox_row *x = a, *y = b;

	return sort_up(x->ns, y->ns) ?: sort_up(x->id, y->id) ?:
	       sort_up(x->ends, y->ends);
}

static int by_thread(const void *a, const void *b)
{
	const struct firefox_row *x = a, *y = b;

	return sort_up(x->thread, y->thread) ?: by_time(a, b);
}

static void make_rows(struct firefox_rows *rows, const struct bundles *bundles)
{
	rows->list = grow_alloc((bundles->count * 2 + 1) *
				sizeof(*rows->list));
	for (size_t i = 0; i < bundles->count; i++) {
		const struct bundle *bundle = &bundles->list[i];
		struct firefox_row row = {
			.ns = bundle->alloc_ns,
			.id = (uint32_t)i + 1,
			.node = bundle->node,
			.thread = bundle->thread,
			.lives = bundle->ended == BUNDLE_LIVES,
			.bytes = bundle->bytes,
			.blocks = bundle->blocks,
			.temporary = bundle->temporary,
		};

		rows->list[rows->count++] = row;
		row.ns = bundle->ended > row.ns ? bundle->ended : row.ns;
		row.ends = true;
		if (!row.lives)
			rows->list[rows->count++] = row;
	}
	qsort(rows->list, rows->count, sizeof(*rows->list), by_thread);
}

void firefox_rows_by_time(struct firefox_rows *rows)
{
	qsort(rows->list, rows->count, sizeof(*rows->list), by_time);
}

int firefox_rows_collect(struct firefox_rows *rows, struct export *export)
{
	const struct model *model = export->model;
	size_t limit = model_contexts(model)->cost_count * BUNDLES_OF_CONTEXT;
	struct collecting c = { .export = export,
				.timeline = &rows->timeline,
				.end_ns = model_duration_ns(model) };
	bool followed;
	int status = EXIT_COMPLETE;

	memset(rows, 0, sizeof(*rows));
	bundles_init(&c.bundles, limit > BUNDLES ? limit : BUNDLES);
	followed = !model_is_sampled(model) && !model_has_left_out(model) &&
		model_can_be_read_again(export->trace, NULL);
	if (followed)
		status = follow(&c);
	if (status != EXIT_NOTHING) {
		rows->span_ns = UINT64_C(1) << c.bundles.shift;
		if (!followed || !is_all(&c)) {
			rows->span_ns = UINT64_MAX;
			from_contexts(&c);
		}
		make_rows(rows, &c.bundles);
	}
	bundles_free(&c.bundles);
	return status;
}

void firefox_rows_free(struct firefox_rows *rows)
{
	free(rows->list);
	timeline_free(&rows->timeline);
}
