/*
 * kept.c: see kept.h. A model from an index can answer another query
 * (rows_ask); a model from events cannot. But all models of a trace number its
 * contexts in the same way, so looked-up symbols stay valid.
 */
#include "cli/command/kept.h"

#include <errno.h>
#include <string.h>

#include "cli/base/terminal/tell.h"
#include "cli/model/core/contexts.h"
#include "cli/model/filters.h"
#include "cli/stack/frames_prepare.h"

static struct {
	const char *trace;	/* NULL: nothing is kept */
	const struct reading *reading;
	struct model *model;	/* with a store; NULL: handed out, or from
				 * events */
	int status;		/* of reading it */
	struct frames frames;
	bool has_frames;
} kept;

static struct model *read_rows(struct reading *reading,
			       const struct model_options *options,
			       const char *trace, int *status)
{
	/* Only the contexts. */
	const struct rows_wanted none = { 0 };
	struct store *store = reading_rows(reading, trace, true);
	struct model *model;
	int error;

	if (store == NULL || !rows_can_answer(store, options)) {
		store_close(store);
		return NULL;
	}
	model = model_new(options, NULL);
	*status = rows_read(model, trace, store, &none, NULL, &error);
	if (*status != EXIT_NOTHING && error == 0)
		return model;
	model_free(model);
	return NULL;
}

int kept_read(struct reading *reading, const char *trace)
{
	struct model_options options = query_model_options(&reading->query);
	struct model *model;
	int status = EXIT_NOTHING;

	options.notes = tell_notes();
	model = read_rows(reading, &options, trace, &status);
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
	kept.reading = reading;
	kept.status = status;
	frames_init(&kept.frames, model, &reading->places,
		    reading->full_names);
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

struct model *kept_model(const char *trace,
			 const struct model_options *options,
			 const struct block_keys *keys,
			 const struct rows_wanted *wanted, int *status,
			 int *error)
{
	struct model *model = kept.model;

	*error = 0;
	if (model == NULL || !is_kept(trace) || needs_maps(options, keys) ||
	    !rows_can_answer(model_store(model), options))
		return NULL;
	kept.model = NULL;
	rows_ask(model, options, keys);
	*error = rows_answer(model, wanted, NULL);
	*status = *error == -EINVAL ? EXIT_NOTHING : kept.status;
	return model;
}

bool kept_frames(const struct reading *reading, struct frames *frames,
		 struct model *model)
{
	if (!kept.has_frames || reading->trace_count != 1 ||
	    !is_kept(reading->traces[0]) ||
	    reading->full_names != kept.reading->full_names ||
	    model_contexts(model)->node_count !=
	    kept.frames.contexts->node_count)
		return false;
	*frames = kept.frames;
	kept.has_frames = false;
	frames_turn_to(frames, model);
	/* Missing files were reported when they were looked for. */
	*reading->places.missing = kept.reading->missing;
	return true;
}
