/*
 * passes.c: the passes over a trace.
 *
 *	outline   resolves times, names and threads in the filter's words, which
 *	          needs clocks and snapshots from the end of the trace
 *	deciding  finds the selected blocks, if their ends decide
 *	counting  computes the measures
 *
 * The first two are made only if the options need them. The last pass notes
 * errors of the trace. A trace that is being written may grow between passes:
 * blocks that the deciding pass has not seen are not selected if their ends
 * decide.
 *
 * One thread per model.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/base/grow.h"
#include "cli/model/account.h"
#include "cli/model/model_observer.h"
#include "cli/model/filters.h"
#include "cli/model/block_lifetimes.h"
#include "cli/model/map_index.h"
#include "cli/model/model_state.h"
#include "cli/model/passes.h"
#include "cli/model/selection.h"
#include "cli/model/view.h"
#include "unwind/base/assertion.h"

/* `notes`: for the reader. */
static int run(struct model *model, const char *path, bool outline,
	       struct notes *notes)
{
	struct reader_sink sink;
	int status;

	model_sink(model, &sink);
	sink.extras_only = outline;
	model->trace = intern_string(&model->names, path);
	status = reader_run(path, &sink, &model->report, notes);
	model_finish(model);
	if (model->with_maps)
		maps_finish(&model->maps);
	return status;
}

/* ---- with a companion ---- */

static enum reader_chunk along_chunk(void *owner, const struct chunk *chunk)
{
	const struct model *model = owner;

	return model->companion->chunk(model->companion->owner, chunk);
}

static uint32_t along_lane(void *owner, uint32_t ring, bool *nested)
{
	const struct model *model = owner;

	return model->companion->lane(model->companion->owner, ring, nested);
}

static void along_live(void *owner, const struct trace_live *block)
{
	const struct model *model = owner;

	model->companion->live(model->companion->owner, block);
}

static void along_events(void *owner, uint32_t lane,
			 const struct trace_event *events, size_t count)
{
	const struct model *model = owner;

	model->companion->events(model->companion->owner, lane, events, count);
}

void model_sink_along(struct model *model,
		      const struct model_observer *companion,
		      struct reader_sink *sink)
{
	model_sink(model, sink);
	sink->chunk = along_chunk;
	sink->lane = along_lane;
	sink->live = along_live;
	sink->events = along_events;
	model->companion = companion;
}

int model_read_along(struct model *model, const char *path,
		     const struct model_observer *companion,
		     struct notes *notes)
{
	struct reader_sink sink;
	int status;

	model_sink_along(model, companion, &sink);
	model->trace = intern_string(&model->names, path);
	status = reader_run(path, &sink, &model->report, notes);
	model->companion = NULL;
	return status;
}

/* ---- passes ---- */

/* A model for another pass over a trace that was read. */
static struct model *new_model_like(const struct model *known,
				    const struct model_options *options,
				    const struct block_keys *keys)
{
	struct model *model = model_new(options, keys);

	contexts_free(&model->contexts);
	contexts_init_known(&model->contexts, &known->contexts);
	model->selection = known->selection;
	model->block_lifetimes = known->block_lifetimes;
	model->mappings = known->mappings;
	model->borrowed = true;
	return model;
}

/* If the file cannot be opened at all, the reader reports that. */
bool model_can_be_read_again(const char *path, struct notes *notes)
{
	struct stat status;

	if (stat(path, &status) != 0 || S_ISREG(status.st_mode) ||
	    S_ISDIR(status.st_mode))
		return true;
	notes_error(notes, "%s: is no regular file, but this request reads "
		    "it more than once: write it to a file first",
		    path);
	return false;
}

/* Finds how blocks end: which are selected, and how long they live. */
static void decide(struct model *model, const char *path)
{
	const struct model_options options = {
		.temporary = model->options.temporary,
	};
	struct model *deciding = model_new(&options, NULL);

	deciding->deciding = model->selection != NULL &&
		selection_needs_ends(model->selection);
	deciding->borrowed = true;
	deciding->selection = model->selection;
	if (block_keys_have(&model->keys, BLOCK_KEY_LIFETIME)) {
		model->block_lifetimes =
			grow_zeroed(1, sizeof(*model->block_lifetimes));
		deciding->block_lifetimes = model->block_lifetimes;
		deciding->measuring = true;
	}
	deciding->until = model->until;
	view_set(deciding, model->controls.view);
	run(deciding, path, false, NULL);
	/* if the trace grows, only count what this pass has seen */
	if (deciding->measuring && deciding->report.being_written &&
	    deciding->totals.last_stamp < model->until)
		model->until = deciding->totals.last_stamp;
	model_free(deciding);
}

bool passes_resolve(struct model *model, const struct model *outline)
{
	const struct moment until = { .ns = model->options.until_ns };
	const struct moment begin = { .ns = model->options.begin_ns };
	uint64_t first, limit = UINT64_MAX;

	if (until.ns != 0 && !moment_stamp(outline, &until, &model->until))
		return false;
	if (begin.ns != 0 && !moment_stamp(outline, &begin, &limit))
		return false;
	if (model->until < limit)
		limit = model->until;
	if (filter_has_blocks(model->options.filter)) {
		model->selection = selection_new(model->options.filter,
						 outline);
		if (model->selection == NULL)
			return false;
		first = selection_moment(model->selection);
		if (first < limit)
			limit = first;
		/* Only "from start": that selects everything. */
		if (first == 0 && !filter_has(model->options.filter,
					      FILTER_TO, FILTER_STACKS - 1)) {
			selection_free(model->selection);
			model->selection = NULL;
		}
	}
	view_set(model, controls_view(&outline->controls, limit));
	return true;
}

/* Resolves the options' words in this trace. False: they have no meaning in it,
 * which was noted. */
static bool look_at_outline(struct model *model, const char *path)
{
	const struct model_options options = {
		.notes = model->options.notes,
	};
	struct model *outline = model_new(&options, NULL);
	bool mappings = block_keys_have(&model->keys, BLOCK_KEY_MAPPING);
	bool good = true;

	outline->with_maps = mappings || filter_has(model->options.filter,
						    FILTER_MAP, FILTER_MAP);
	/* If the trace cannot be read, the last pass notes the reason. */
	if (run(outline, path, true, NULL) == EXIT_NOTHING)
		mappings = false;
	else
		good = passes_resolve(model, outline);
	if (good && mappings) {
		model->mappings = map_index_new(NULL, outline,
						"--by mapping");
		good = model->mappings != NULL;
	}
	if (outline->report.folded)
		notes_hint(model->options.notes, "%s: recovered the last "
			   "events from its live file, which is removed "
			   "now", path);
	model_free(outline);
	return good;
}

bool model_needs_outline(const struct model_options *options,
			 const struct block_keys *keys)
{
	return filter_has_blocks(options->filter) || options->until_ns != 0 ||
	       options->begin_ns != 0 ||
	       block_keys_have(keys, BLOCK_KEY_MAPPING);
}

bool model_needs_ends(const struct model_options *options,
		      const struct block_keys *keys)
{
	return filter_needs_ends(options->filter) ||
	       block_keys_have(keys, BLOCK_KEY_LIFETIME);
}

/* Runs the passes before the one that counts. */
static bool prepare(struct model *model, const char *path)
{
	bool outline = model_needs_outline(&model->options, &model->keys);
	bool ends = model_needs_ends(&model->options, &model->keys);

	if (!outline && !ends)
		return true;
	if (!model_can_be_read_again(path, model->options.notes))
		return false;
	if (outline && !look_at_outline(model, path))
		return false;
	if (ends)
		decide(model, path);
	return true;
}

int model_read(struct model *model, const char *path)
{
	int status;

	if (!prepare(model, path))
		return EXIT_NOTHING;
	status = run(model, path, false, model->options.notes);
	if (model->beyond > 0)
		notes_hint(model->options.notes, "%s: %" PRIu64 " allocations "
			   "are beyond the limit of %" PRIu64 " groups: their "
			   "group is shown as not known", path,
			   model->beyond, model->options.groups_max);
	return status;
}

int model_read_maps(struct model *model, const char *path)
{
	model->with_maps = true;
	return run(model, path, false, model->options.notes);
}

int model_read_outline(struct model *model, const char *path)
{
	return run(model, path, true, model->options.notes);
}

/* ---- groups ---- */

struct grouping {
	uint32_t (*group)(void *owner, uint32_t node, uint32_t key);
	void *owner;
	const struct block_keys *keys, *known;	/* of this pass, of the first */
	size_t nodes;		/* that the first pass has seen */
	size_t count;
};

static uint32_t group_of(void *owner, uint32_t node, uint32_t key)
{
	const struct grouping *grouping = owner;
	uint32_t group;

	if (node >= grouping->nodes ||
	    !block_keys_translate(grouping->known, grouping->keys, key, &key))
		return MODEL_NO_GROUP;
	group = grouping->group(grouping->owner, node, key);
	return group < grouping->count ? group : MODEL_NO_GROUP;
}

int model_group_peaks(const struct model *model, const char *path,
		      uint32_t (*group)(void *owner, uint32_t node,
					uint32_t key), void *owner,
		      struct group_peak *peaks, size_t count)
{
	struct grouping grouping = {
		.group = group, .owner = owner, .known = &model->keys,
		.nodes = model->contexts.node_count, .count = count,
	};
	struct model *groups;
	int status;

	memset(peaks, 0, count * sizeof(*peaks));
	if (!model_can_be_read_again(path, model->options.notes))
		return EXIT_NOTHING;
	groups = new_model_like(model, NULL, &model->keys);
	groups->until = model->until;
	view_set(groups, model->controls.view);
	grouping.keys = &groups->keys;
	groups->contexts.group = group_of;
	groups->contexts.group_owner = &grouping;
	status = run(groups, path, false, NULL);
	for (size_t i = 0; i < groups->contexts.cost_count; i++) {
		const struct context_cost *cost = &groups->contexts.costs[i];

		if (cost->key >= count)
			continue;
		DEBUG_ASSERT(peaks[cost->key].bytes == 0);
		peaks[cost->key] = (struct group_peak){
			.bytes = cost->own_peak_bytes,
			.blocks = cost->own_peak_blocks,
			.ns = model_since_start_ns(groups,
						   cost->own_peak_stamp),
		};
	}
	model_free(groups);
	return status;
}

/* ---- blocks one by one ---- */

/* The end of the trace when it was read, up to the last event that counts. */
static uint64_t end_of(const struct model *model)
{
	return model->report.being_written &&
		model->totals.last_stamp < model->until ?
		model->totals.last_stamp : model->until;
}

int model_follow(const struct model *model, const char *path,
		 const struct block_observer *observer)
{
	const bool keyed = observer->key != NULL;
	/* separate and merge the same blocks as the first pass */
	const struct model_options options = {
		.wants = MODEL_WANT_CHAINS,
		.temporary = model->options.temporary,
		.groups_max = keyed ? model->options.groups_max : 0,
	};
	struct model *again;
	int status;

	if (!model_can_be_read_again(path, model->options.notes))
		return EXIT_NOTHING;
	again = new_model_like(model, &options, keyed ? &model->keys : NULL);
	again->until = end_of(model);
	again->observer = observer;
	again->reported_keys = &model->keys;
	view_set(again, model->controls.view);
	status = run(again, path, false, NULL);
	model_free(again);
	return status;
}

/* ---- what is live at moments ---- */

int model_at_moments(const struct model *model, const char *path,
		     const struct model_looks *looks)
{
	struct model *again;
	int status;

	if (!model_can_be_read_again(path, model->options.notes))
		return EXIT_NOTHING;
	again = new_model_like(model, NULL, NULL);
	again->selection = NULL;	/* all blocks */
	again->block_lifetimes = NULL;
	again->mappings = NULL;
	again->until = end_of(model);
	again->looks = looks;
	view_set(again, model->controls.view);
	status = run(again, path, false, NULL);
	if (status != EXIT_NOTHING)
		account_sample(again, UINT64_MAX);
	model_free(again);
	return status;
}
