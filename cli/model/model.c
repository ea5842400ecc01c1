/*
 * model.c: reads a trace, and takes all records except events.
 *
 * Called by the reader's thread.
 */
#include "cli/model/model.h"

#include <stdlib.h>
#include <string.h>

#include "cli/base/grow.h"
#include "cli/model/account.h"
#include "cli/model/block_lifetimes.h"
#include "cli/model/map_index.h"
#include "cli/model/model_state.h"
#include "cli/model/selection.h"
#include "cli/model/stats/figures.h"
#include "cli/model/view.h"
#include "cli/store/store.h"
#include "unwind/base/assertion.h"

#define DEFAULT_WINDOW 4096	/* ticks; if INFO does not have it */
#define SAMPLE_MAX (UINT64_C(1) << 40)	/* larger means are taken as unknown */

void model_figures(const struct model *model, const struct context_cost *cost,
		   struct figures *figures)
{
	bool kept = cost->epoch == model->totals.epoch;

	DEBUG_ASSERT(cost->node < model->contexts.node_count);
	*figures = (struct figures){
		.count = cost->allocations,
		.total_bytes = cost->total_bytes,
		.frees = cost->frees,
		.temporary = cost->temporary,
		.live_blocks = cost->live_blocks,
		.live_bytes = cost->live_bytes,
		.peak_blocks = kept ? cost->peak_blocks : cost->live_blocks,
		.peak_bytes = kept ? cost->peak_bytes : cost->live_bytes,
		.own_peak_blocks = cost->own_peak_blocks,
		.own_peak_bytes = cost->own_peak_bytes,
		.lifetime_ns = cost->lifetime * clock_rate(&model->clock),
	};
	if (cost->allocations == 0)
		return;
	figures->first_ns = model_since_start_ns(model, cost->first);
	figures->last_ns = model_since_start_ns(model, cost->last);
	figures->own_peak_ns = model_since_start_ns(model,
						    cost->own_peak_stamp);
}

const struct block *model_next_block(const struct model *model, uint64_t *at)
{
	while (*at + 1 < model->edges.blocks.used) {
		const struct block *block = &model->edges.blocks.list[++*at];

		if (block->address != 0 && !block->left_out &&
		    !view_is_foreign(model, block))
			return block;
	}
	if (*at + 1 < model->edges.blocks.used + model->past_count)
		return &model->past[++*at - model->edges.blocks.used];
	return NULL;
}

uint32_t model_freed_by(const struct model *model, const struct block *block)
{
	/* compared as numbers: comparing pointers into different arrays is
	 * undefined */
	uintptr_t at = (uintptr_t)block - (uintptr_t)model->past;
	uint32_t node = FREED_UNKNOWN;

	DEBUG_ASSERT(at >= model->past_count * sizeof(*block) ||
		     at % sizeof(*block) == 0);
	if (model->has_freed_by && at < model->past_count * sizeof(*block))
		node = model->past_freed_by[at / sizeof(*block)];
	return node != FREED_UNKNOWN ? node : MODEL_NOT_FREED;
}

/* ---- records other than events ---- */

/* Records that are passed on unchanged to a part of the model. */
#define TAKE(name, record, part, add)					\
	static void take_##name(void *owner, const struct record *one)	\
	{								\
		add(&((struct model *)owner)->part, one);		\
	}

TAKE(skipped, trace_skipped, omitted, omitted_skipped)
TAKE(thread, trace_thread, threads, threads_record)
TAKE(capture, trace_capture, threads, threads_capture)
TAKE(usage, trace_usage, footprint, footprint_point)
TAKE(mapping, trace_mapping, footprint, footprint_mapping)
TAKE(snapshot, trace_snapshot, footprint, footprint_snapshot)
TAKE(run, trace_run, omitted, omitted_run)
TAKE(totals, trace_totals, omitted, omitted_totals)
TAKE(freed, trace_totals, omitted, omitted_freed)
TAKE(chains, trace_totals, omitted, omitted_chains)
TAKE(classes, trace_classes, omitted, omitted_classes)

/* The mean interval of a sample, in bytes. */
static void take_sample(struct model *model, const char *value)
{
	uint64_t mean = strtoull(value, NULL, 10);

	if (!model->begun)
		model->sample_mean = mean < SAMPLE_MAX ? mean : SAMPLE_MAX;
}

/* Blocks are left out, but some of their frees may be in the trace. */
static void take_partial(struct model *model, const char *value)
{
	model->edges.gap |= strtoull(value, NULL, 10) != 0;
}

static void take_line(void *owner, unsigned type, const char *key,
		      const char *value)
{
	struct model *model = owner;

	model_set_fact(model, type, key, value);
	if (type == GT_INFO && strcmp(key, "window_ticks") == 0)
		model->maps.window = model->edges.waiting.window =
			strtoull(value, NULL, 10);
	if (type == GT_INFO && strcmp(key, "start_monotonic_ns") == 0) {
		model->start_reported = true;
		model->start_ns = strtoull(value, NULL, 10);
	}
	if (type == GT_INFO && strcmp(key, "sample") == 0)
		take_sample(model, value);
	if (type == GT_INFO && (strcmp(key, "partial") == 0 ||
				strcmp(key, "sample") == 0))
		take_partial(model, value);
	/* a child frees blocks inherited from its parent */
	if (type == GT_INFO && strcmp(key, "parent_trace") == 0)
		model->edges.gap = true;
	if (type == GT_INFO && strcmp(key, "tick_ps") == 0)
		model->clock.tick_ps = strtoull(value, NULL, 10);
}

static void take_image(void *owner, const struct trace_image *record)
{
	static const enum format_error errors[] = {
		[IMAGES_OTHER] = FORMAT_ERROR_IMAGE_AGAIN,
		[IMAGES_UNKNOWN] = FORMAT_ERROR_IMAGE_GONE,
		[IMAGES_REFUSED] = FORMAT_ERROR_IMAGES_MANY,
	};
	struct model *model = owner;
	enum images_added added;
	struct trace_image image = *record;
	const char *program = model_fact(model, GT_INFO, "exe");

	/* the loader has no name for the main program, and the recorder was
	 * killed before it could read the kernel's */
	if (image.flags & GT_IMAGE_MAIN && image.path_size == 0 && program) {
		image.path = program;
		image.path_size = strlen(program);
	}
	added = images_add(&model->images, &image);
	format_errors_note(&model->report.errors, errors[added],
			   added != IMAGES_ADDED);
}

static void take_node(void *owner, const struct trace_node *record)
{
	static const enum format_error errors[] = {
		[CONTEXTS_ORPHAN] = FORMAT_ERROR_NODE_PARENT,
		[CONTEXTS_OTHER] = FORMAT_ERROR_NODE_AGAIN,
		[CONTEXTS_REFUSED] = FORMAT_ERROR_NODE_ID,
	};
	struct model *model = owner;
	enum contexts_defined defined = contexts_define(
		&model->contexts, &model->images, record);

	format_errors_note(&model->report.errors, errors[defined],
			   defined != CONTEXTS_DEFINED);
	model->undefined = model->contexts.undefined;
}

/* JIT compilers map the file in which they describe their code. */
static bool is_dump(const char *path, size_t size)
{
	const char *name = memrchr(path, '/', size);
	size_t length = name ? size - (size_t)(name + 1 - path) : 0;

	return length > 9 && memcmp(name + 1, "jit-", 4) == 0 &&
		memcmp(path + size - 5, ".dump", 5) == 0;
}

static void find_dumps(struct model *model, struct cursor records)
{
	struct trace_map map = { 0 };

	while (map_records_next(&records, &map)) {
		const char *path;
		size_t i = 0;

		if (map.what != GT_MAPS_NEW || map.path == NULL ||
		    !is_dump(map.path, map.path_size))
			continue;
		path = intern_bytes(&model->names, map.path, map.path_size);
		while (i < model->dump_count && model->dumps[i] != path)
			i++;
		DEBUG_ASSERT(model->dump_count <= MODEL_DUMPS);
		if (i == model->dump_count && i < MODEL_DUMPS)
			model->dumps[model->dump_count++] = path;
	}
}

static void take_maps(void *owner, const struct trace_maps *head,
		      struct cursor *records)
{
	struct model *model = owner;

	find_dumps(model, *records);
	if (model->with_maps)
		maps_take(&model->maps, head, records);
}

static void take_names(void *owner, const char *text, size_t size,
		       uint32_t node)
{
	struct model *model = owner;

	perfmap_add(&model->perfmap, text, size, node);
}

static void take_sync(void *owner, const struct trace_sync *sync)
{
	struct model *model = owner;

	if (model->clock.count == 0)
		model->first_sync = *sync;
	model->last_sync = *sync;
	clock_add(&model->clock, sync->ticks, sync->monotonic_ns);
	if (sync->dropped > model->dropped)
		model->dropped = sync->dropped;
}

static void take_file(void *owner, const struct trace_file *piece, uint64_t at)
{
	struct model *model = owner;

	embedded_add(&model->embedded, piece, at);
}

static void take_control(void *owner, const struct trace_control *record)
{
	struct model *model = owner;
	struct controls *controls = &model->controls;
	uint64_t open = model->totals.last_stamp;

	if (record->what == GT_CONTROL_HEAP) {
		model->special |= pools_name(&model->pools, &model->names,
					     record);
		return;
	}
	open += open > 0 && open < UINT64_MAX;
	controls_add(controls, &model->names, record, open);
	if (record->what == GT_CONTROL_MARKER || controls->count == 0)
		return;
	model->special = true;
	if (controls_next(controls) < model->alarm)
		model->alarm = controls_next(controls);
	/* Records about left-out blocks come before the end of their period
	 * (docs/FORMAT.md). */
	if (view_is_beginning(model, record))
		omitted_forget(&model->omitted);
}

uint32_t model_lane_of_ring(void *owner, uint32_t ring, bool *nested)
{
	struct model *model = owner;
	uint32_t thread = threads_of_ring(&model->threads, ring, nested);

	DEBUG_ASSERT(thread < model->threads.count);
	return model_lane(thread, *nested);
}

void model_live(void *owner, const struct trace_live *block)
{
	initial_live_add(owner, block);
}

struct model *model_new(const struct model_options *options,
			const struct block_keys *keys)
{
	struct model *model = grow_zeroed(1, sizeof(*model));

	if (options != NULL)
		model->options = *options;
	if (keys != NULL)
		block_keys_copy(&model->keys, keys);
	images_init(&model->images);
	contexts_init(&model->contexts);
	model_edges(model);
	threads_init(&model->threads);
	maps_init(&model->maps, &model->edges.blocks, &model->contexts);
	model->edges.waiting.window = DEFAULT_WINDOW;
	model->until = UINT64_MAX;
	model->with_maps = model->options.wants & MODEL_WANT_MAPS;
	return model;
}

void model_sink(struct model *model, struct reader_sink *sink)
{
	*sink = (struct reader_sink){
		.owner = model,
		.line = take_line,
		.thread = take_thread,
		.capture = take_capture,
		.image = take_image,
		.node = take_node,
		.maps = take_maps,
		.names = take_names,
		.usage = take_usage,
		.mapping = take_mapping,
		.snapshot = take_snapshot,
		.file = take_file,
		.run = take_run,
		.totals = take_totals,
		.freed = take_freed,
		.chains = take_chains,
		.classes = take_classes,
		.skipped = take_skipped,
		.control = take_control,
		.live = model_live,
		.sync = take_sync,
		.lane = model_lane_of_ring,
		.events = model_events,
	};
}

void model_free(struct model *model)
{
	if (model == NULL)
		return;
	free(model->chosen);
	images_free(&model->images);
	contexts_free(&model->contexts);
	edges_free(&model->edges);
	threads_free(&model->threads);
	tuning_free(&model->tuning);
	clock_free(&model->clock);
	perfmap_free(&model->perfmap);
	maps_free(&model->maps);
	footprint_free(&model->footprint);
	intern_free(&model->names);
	omitted_free(&model->omitted);
	controls_free(&model->controls);
	pools_free(&model->pools);
	initial_live_free(&model->part);
	block_keys_free(&model->keys);
	damages_free(&model->damages);
	embedded_free(&model->embedded);
	sidecar_free(&model->parent);
	sidecar_free(&model->parts);
	histograms_free(&model->histograms);
	timeline_free(&model->timeline);
	chains_free(&model->chains);
	freed_free(&model->freed);
	if (!model->borrowed) {
		selection_free(model->selection);
		block_lifetimes_free(model->block_lifetimes);
		map_index_free(model->mappings);
	}
	store_close(model->store);
	free(model->numbers);
	free(model->past);
	free(model->past_freed_by);
	free(model->facts);
	table_free(&model->fact_index);
	free(model);
}
