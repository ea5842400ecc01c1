/*
 * trace_cache.c: see trace_cache.h. A model from an index can answer another
 * query (index_request); a model from events cannot. But all models of a trace
 * number its contexts in the same way, so looked-up symbols stay valid.
 */
#include "cli/command/trace_cache.h"

#include <errno.h>
#include <string.h>

#include "cli/base/terminal/log.h"
#include "cli/model/core/contexts.h"
#include "cli/model/filters.h"
#include "cli/stack/frames_prepare.h"

static struct {
	const char *trace;	/* NULL: nothing is kept */
	const struct trace_args *args;
	struct model *model;	/* with a store; NULL: handed out, or from
				 * events */
	int status;		/* of reading it */
	struct frames frames;
	bool has_frames;
} kept;

static struct model *read_rows(struct trace_args *args,
			       const struct model_options *options,
			       const char *trace, int *status)
{
	/* Only the contexts. */
	const struct index_wanted none = { 0 };
	struct store *store = trace_args_rows(args, trace, true);
	struct model *model;
	int error;

	if (store == NULL || !index_can_answer(store, options)) {
		store_close(store);
		return NULL;
	}
	model = model_new(options, NULL);
	*status = index_read(model, trace, store, &none, NULL, &error);
	if (*status != EXIT_NOTHING && error == 0)
		return model;
	model_free(model);
	return NULL;
}

int trace_cache_read(struct trace_args *args, const char *trace)
{
	struct model_options options = query_model_options(&args->query);
	struct model *model;
	int status = EXIT_NOTHING;

	options.notes = log_notes();
	model = read_rows(args, &options, trace, &status);
	if (model != NULL)
		kept.model = model;
	else
		model = model_new(&options, NULL);
	if (kept.model == NULL)
		status = model_read(model, trace);
	if (status == EXIT_NOTHING) {
		model_free(model);
		return status;
	}
	kept.trace = trace;
	kept.args = args;
	kept.status = status;
	frames_init(&kept.frames, model, &args->places,
		    args->full_names);
	frames_prepare_all(&kept.frames);
	frames_find_sites(&kept.frames);
	kept.has_frames = true;
	return status;
}

static bool is_kept(const char *trace)
{
	return kept.trace != NULL && strcmp(kept.trace, trace) == 0;
}

/* The outline has no mappings. */
static bool needs_maps(const struct model_options *options,
		       const struct block_keys *keys)
{
	return block_keys_have(keys, BLOCK_KEY_MAPPING) ||
		filter_has(options->filter, FILTER_MAP, FILTER_MAP);
}

struct model *trace_cache_model(const char *trace,
				const struct model_options *options,
				const struct block_keys *keys,
				const struct index_wanted *wanted, int *status,
				int *error)
{
	struct model *model = kept.model;

	*error = 0;
	if (model == NULL || !is_kept(trace) || needs_maps(options, keys) ||
	    !index_can_answer(model_store(model), options))
		return NULL;
	kept.model = NULL;
	index_request(model, options, keys);
	*error = index_answer(model, wanted, NULL);
	*status = *error == -EINVAL ? EXIT_NOTHING : kept.status;
	return model;
}

bool trace_cache_frames(const struct trace_args *args, struct frames *frames,
			struct model *model)
{
	if (!kept.has_frames || args->trace_count != 1 ||
	    !is_kept(args->traces[0]) ||
	    args->full_names != kept.args->full_names ||
	    model_contexts(model)->node_count !=
	    kept.frames.contexts->node_count)
		return false;
	*frames = kept.frames;
	kept.has_frames = false;
	frames_turn_to(frames, model);
	/* Missing files were reported when they were looked for. */
	*args->places.missing = kept.args->missing;
	return true;
}
