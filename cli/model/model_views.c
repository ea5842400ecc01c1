/*
 * model_views.c: accessors of the model's parts, and values computed from
 * several of them.
 *
 * Called by the reader's thread while it reads, by any thread afterwards.
 */
#include "cli/model/model.h"

#include "cli/model/account.h"
#include "cli/model/model_state.h"
#include "cli/model/selection.h"
#include "unwind/base/assertion.h"

/* ---- parts ---- */

const struct totals *model_totals(const struct model *model)
{
	return &model->totals;
}

const struct totals *model_totals_of_all(const struct model *model)
{
	return &model->whole;
}

const struct contexts *model_contexts(const struct model *model)
{
	return &model->contexts;
}

const struct block_keys *model_block_keys(const struct model *model)
{
	return &model->keys;
}

const struct map_index *model_mappings(const struct model *model)
{
	return model->mappings;
}

const struct pools *model_pools(const struct model *model)
{
	return &model->pools;
}

const struct threads *model_threads(const struct model *model)
{
	return &model->threads;
}

const struct thread *model_thread(const struct model *model, uint32_t number)
{
	DEBUG_ASSERT(number < model->threads.count);
	return &model->threads.list[number];
}

const struct images *model_images(const struct model *model)
{
	return &model->images;
}

const struct image *model_image(const struct model *model, uint32_t index)
{
	DEBUG_ASSERT(index < model->images.count);
	return &model->images.list[index];
}

const struct histograms *model_histograms(const struct model *model)
{
	return &model->histograms;
}

const struct timeline *model_timeline(const struct model *model)
{
	return &model->timeline;
}

const struct chains *model_chains(const struct model *model)
{
	return &model->chains;
}

const struct freed *model_freed(const struct model *model)
{
	return &model->freed;
}

const struct omitted *model_leftout(const struct model *model)
{
	return &model->omitted;
}

const struct controls *model_controls(const struct model *model)
{
	return &model->controls;
}

const struct damages *model_damages(const struct model *model)
{
	return &model->damages;
}

const struct tuning *model_tuning(const struct model *model)
{
	return &model->tuning;
}

const struct footprint *model_footprint(const struct model *model)
{
	return &model->footprint;
}

const struct maps *model_maps(const struct model *model)
{
	return &model->maps;
}

const struct clock *model_clock(const struct model *model)
{
	return &model->clock;
}

/* ---- the request and the trace ---- */

struct notes *model_notes(const struct model *model)
{
	return model->options.notes;
}

const char *model_trace(const struct model *model)
{
	return model->trace;
}

const struct reader_report *model_reader_report(const struct model *model)
{
	return &model->report;
}

bool model_is_being_written(const struct model *model)
{
	return model->report.being_written;
}

bool model_is_sampled(const struct model *model)
{
	return model->sample_mean != 0;
}

uint64_t model_sample_mean(const struct model *model)
{
	return model->sample_mean;
}

bool model_is_selected(const struct model *model)
{
	return model->selection != NULL;
}

bool model_is_of_moment(const struct model *model)
{
	return model->selection != NULL &&
	       selection_is_of_moment(model->selection);
}

bool model_counts(const struct model *model, uint64_t stamp)
{
	return stamp <= model->until;
}

bool model_has_left_out(const struct model *model)
{
	return model->omitted.blocks > 0;
}

bool model_has_gap(const struct model *model)
{
	return model->edges.gap;
}

struct store *model_store(const struct model *model)
{
	return model->store;
}

bool model_has_too_many_groups(const struct model *model)
{
	return model->beyond > 0;
}

uint64_t model_live_at_begin(const struct model *model)
{
	return model->part.added;
}

void model_pair_alike(const struct model *model, struct edges *edges)
{
	edges->gap = model->edges.gap;
	edges->waiting.window = model->edges.waiting.window;
}

uint64_t model_span_ns(const struct model *model, uint64_t ticks)
{
	return account_span_ns(model, ticks);
}

/* ---- code ---- */

uint32_t model_node_of(const struct model *model, const struct block *block)
{
	DEBUG_ASSERT(block->cost < model->contexts.cost_count);
	return model->contexts.costs[block->cost].node;
}

uint32_t model_node(struct model *model, uint32_t id)
{
	return contexts_node(&model->contexts, id);
}

bool model_has_embedded(const struct model *model)
{
	return model->embedded.count > 0;
}

bool model_has_named_code(const struct model *model)
{
	return model->perfmap.count > 0;
}

const char *model_named_code(struct model *model, uint64_t pc, uint32_t node)
{
	DEBUG_ASSERT(node < model->contexts.node_count);
	return perfmap_find(&model->perfmap, pc,
			    contexts_id(&model->contexts, node));
}

const char *const *model_dumps(const struct model *model, size_t *count)
{
	*count = model->dump_count;
	return model->dumps;
}
