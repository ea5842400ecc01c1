/*
 * list.c: see list.h. Called by the main thread.
 */
#include "cli/export/list/list.h"

#include <stdlib.h>

#include "cli/base/grow.h"
#include "cli/base/sort.h"
#include "cli/model/core/contexts.h"
#include "cli/model/core/pools.h"
#include "cli/model/core/threads.h"

/* ---- blocks ---- */

struct listing {
	const struct model *model;
	void (*each)(void *owner, const struct list_block *block);
	void *owner;
};

static const char *const fates[] = {
	[EDGE_FREED] = "freed",
	[EDGE_MOVED] = "moved",
	[EDGE_LOST] = "lost",
};

static void list(const struct listing *listing, const struct block *block,
		 uint32_t node, struct list_block *listed)
{
	const struct model *model = listing->model;
	const struct threads *threads = model_threads(model);

	listed->address = pools_address(block->address);
	listed->heap = block->pooled ? pools_name_of(
		model_pools(model), pools_number(block->address)) : NULL;
	listed->size = block->size;
	listed->alloc_ns = model_since_start_ns(model, block->alloc);
	listed->thread = &threads->list[block->thread < threads->count ?
					block->thread : 0];
	listed->context = node;
	listing->each(listing->owner, listed);
}

static void list_ended(void *owner, const struct export_block *block)
{
	const struct listing *listing = owner;
	struct list_block listed = {
		.end_ns = model_since_start_ns(listing->model, block->stamp),
		.fate = fates[block->end],
		.temporary = block->block->temporary,
	};

	list(listing, block->block, block->node, &listed);
}

static void list_live(void *owner, const struct export_block *block)
{
	struct list_block listed = { .end_ns = LIST_NOT_ENDED,
				     .fate = "live" };

	list(owner, block->block, block->node, &listed);
}

int list_blocks(struct export *export,
		void (*each)(void *owner, const struct list_block *block),
		void *owner)
{
	struct listing listing = { .model = export->model, .each = each,
				   .owner = owner };
	const struct export_follower follower = {
		.owner = &listing, .end = list_ended, .live = list_live,
	};

	return export_follow(export, &follower);
}

void list_block_json(struct json *json, const struct list_block *block)
{
	json_uint(json, "address", block->address);
	json_uint(json, "size", block->size);
	if (block->heap != NULL)
		json_string(json, "heap", block->heap);
	json_uint(json, "tid", block->thread->tid);
	json_string(json, "thread", threads_name(block->thread));
	json_uint(json, "time_ns", block->alloc_ns);
	if (block->end_ns == LIST_NOT_ENDED)
		json_string(json, "end_ns", NULL);
	else
		json_uint(json, "end_ns", block->end_ns);
	json_string(json, "fate", block->fate);
	json_bool(json, "temporary", block->temporary);
	json_uint(json, "context", block->context);
}

/* ---- contexts ---- */

struct order {
	struct export *export;
	struct ranked {
		uint64_t value;
		uint32_t node;
	} *list;
	size_t count, capacity;
};

static void add_place(void *owner, uint32_t node, uint32_t part,
		      const struct figures *figures)
{
	struct order *order = owner;

	(void)part;
	GROW(order->list, order->count, order->capacity);
	order->list[order->count++] = (struct ranked){
		export_value(order->export, figures), node
	};
}

static int by_value(const void *a, const void *b)
{
	const struct ranked *x = a, *y = b;

	return sort_down(x->value, y->value) ?: sort_up(x->node, y->node);
}

void list_contexts(struct export *export,
		   void (*each)(void *owner, uint32_t node,
				const struct figures *figures),
		   void *owner)
{
	const struct contexts *contexts = model_contexts(export->model);
	struct order order = { .export = export };

	export_contexts(export, add_place, &order);
	SORT(order.list, order.count, by_value);
	for (size_t i = 0; i < order.count; i++) {
		uint32_t node = order.list[i].node;
		struct figures figures;

		model_figures(export->model, &contexts->costs[
				contexts_find_cost(contexts, node, 0)],
			      &figures);
		each(owner, node, &figures);
	}
	free(order.list);
}

static void put_figure(void *owner, const char *name, uint64_t value)
{
	json_uint(owner, name, value);
}

void list_context_json(struct json *json, struct export *export,
		       uint32_t node, const struct figures *figures,
		       struct frame_table *once)
{
	struct frames *frames = export->frames;
	const char *stop;

	json_uint(json, "context", node);
	figures_each(figures, model_duration_ns(export->model), put_figure,
		     json);
	frames_of(frames, node);
	stop = frames_stop_text(frames->stop);
	if (stop != NULL)
		json_string(json, "stopped", stop);
	if (frames->count > 0)
		json_uint(json, "site", frames->site);
	json_array(json, "stack");
	for (size_t i = 0; i < frames->count; i++)
		if (once != NULL)
			json_uint(json, NULL, frame_table_number(
					once, &frames->list[i]));
		else
			frame_table_frame(json, &frames->list[i]);
	json_end_array(json);
}
