/*
 * sql_view.c: views: the model, frames and measures of what a statement's
 * filters select in a trace (sql_trace.h). The last SQL_VIEWS_MAX are cached.
 *
 * Called by the session's thread.
 */
#include "cli/sql/sql_trace.h"

#include <stdlib.h>
#include <string.h>

#include "cli/base/grow.h"
#include "cli/base/terminal/log.h"
#include "cli/model/core/contexts.h"
#include "cli/model/index/index_answer.h"
#include "cli/stack/frames_prepare.h"
#include "unwind/base/assertion.h"

void sql_view_free(struct sql_trace *trace, struct sql_view *view)
{
	ASSERT(view->in_use == 0);
	if (view->frames == &trace->frames)
		frames_turn_to(&trace->frames, trace->outline);
	else
		frames_free(&view->own);
	if (view->profile != NULL)
		profile_free(view->profile);
	stack_filter_free(view->keeps);
	if (view->model != trace->model && view->model != trace->with_peaks)
		model_free(view->model);
	notes_free(&view->notes);
	filter_free(view->filter);
	free(view->key);
	free(view);
}

bool sql_trace_has_word(const struct sql_trace *trace, enum filter_id id)
{
	return filter_has(trace->args->query.filter, id, id);
}

/* Add the filters of the command line, then those of the statement. */
static bool take_words(struct filter *filter, const struct sql_trace *trace,
		       const struct sql_words *words, struct buffer *why)
{
	const struct filter *given = trace->args->query.filter;
	const struct filter_word *word;

	for (int id = FILTER_FIRST; id < FILTER_END; id++)
		for (size_t i = 0; (word = filter_word(
				given, (enum filter_id)id, i)) != NULL; i++)
			filter_take(filter, id, word->text);
	for (unsigned i = 0; i < words->count; i++) {
		const struct sql_word *one = &words->list[i];

		if (filter_take(filter, one->id, one->text) == 0)
			continue;
		buffer_printf(why, "'%s' is not a valid value of the filter "
				   "--%s: see `gnomon sql --help`", one->text,
			      filter_options.options[one->id - FILTER_FIRST]
				      .name);
		buffer_printable(why);
		return false;
	}
	return true;
}

/* Errors go to `why`; notes are logged. */
static bool take_notes(const struct sql_trace *trace, struct notes *notes,
		       struct buffer *why)
{
	bool good = true;

	for (size_t i = 0; i < notes->count; i++) {
		if (sql_trace_was_said(trace, &notes->list[i]))
			continue;
		if (!notes->list[i].error) {
			log_note("%s", notes->list[i].text);
			continue;
		}
		/* more specific than the error so far */
		if (good)
			buffer_clear(why);
		if (good)
			buffer_string(why, notes->list[i].text);
		good = false;
	}
	notes_clear(notes);
	return good;
}

static void make_key(const struct filter *filter, const struct query *query,
		     struct buffer *key)
{
	struct block_keys keys;

	query_block_keys(query, &keys);
	buffer_string(key, filter_text(filter));
	for (unsigned i = 0; i < keys.count; i++)
		buffer_printf(key, " /%d", keys.list[i]);
	if (query->spares != 0)
		buffer_printf(key, " /spares %u", query->spares);
}

static struct sql_view *find_view(struct sql_trace *trace, const char *key)
{
	for (size_t i = 0; i < SQL_VIEWS_MAX; i++)
		if (trace->views[i] != NULL &&
		    strcmp(trace->views[i]->key, key) == 0)
			return trace->views[i];
	return NULL;
}

/* A slot for another view: evicts the least recently used one that no cursor
 * uses. NULL: all are in use. */
static struct sql_view **place_for(struct sql_trace *trace)
{
	struct sql_view **oldest = NULL;

	for (size_t i = 0; i < SQL_VIEWS_MAX; i++) {
		struct sql_view **at = &trace->views[i];

		if (*at == NULL)
			return at;
		if ((*at)->in_use == 0 &&
		    (oldest == NULL || (*at)->used < (*oldest)->used))
			oldest = at;
	}
	if (oldest != NULL) {
		sql_view_free(trace, *oldest);
		*oldest = NULL;
	}
	return oldest;
}

/* The view's nodes have the numbers of the outline, so symbols already looked
 * up are valid. A trace that has grown may have more nodes. */
static void choose_frames(struct sql_trace *trace, struct sql_view *view)
{
	view->frames = &trace->frames;
	if (model_contexts(view->model)->node_count ==
	    model_contexts(trace->outline)->node_count)
		return;
	view->frames = &view->own;
	trace_args_frames(trace->args, &view->own, view->model);
}

/* The model of the command's filters. */
static struct model *known_model(struct sql_trace *trace, bool own_peaks,
				 int *status)
{
	struct model *model = own_peaks ? sql_trace_own_peaks(trace) :
					  sql_trace_model(trace);

	if (*trace->status == EXIT_NOTHING)
		*status = EXIT_NOTHING;
	return model;
}

/*
 * For queries that need stacks only for filters on stacks: finds the stacks
 * that pass first, so that the index can sum their blocks together. False: not
 * possible, or the trace has grown or has no index; a model that was read then
 * is an ordinary one.
 */
static bool read_chosen(struct sql_trace *trace, struct sql_view *view,
			const struct query *query,
			const struct model_options *options,
			const struct block_keys *keys, int *status)
{
	struct index_wanted wanted = query_rows_wanted(query);
	struct stack_filter *filter;
	uint64_t *chosen;

	if (!(query->spares & QUERY_SPARES_STACKS) ||
	    !filter_has_stacks(view->filter) ||
	    !stack_filter_is_of_frames(view->filter) ||
	    trace->args->index == INDEX_MAKE_NEVER)
		return false;
	filter = stack_filter_new(view->filter, sql_trace_frames(trace));
	if (filter == NULL)
		return false;
	chosen = stack_filter_chosen(filter, &wanted.nodes);
	stack_filter_free(filter);
	wanted.merged = true;
	wanted.chosen = chosen;
	*status = sql_trace_read(trace, options, keys, &wanted, &view->model);
	free(chosen);
	/* a model from events has all stacks anyway */
	if (*status == EXIT_NOTHING || model_store(view->model) == NULL)
		return false;
	if (model_contexts(view->model)->node_count == wanted.nodes)
		return true;
	model_free(view->model);
	view->model = NULL;
	return false;
}

static bool read_view(struct sql_trace *trace, struct sql_view *view,
		      const struct query *query, bool same)
{
	struct query asked = *query;
	struct index_wanted wanted;
	struct block_keys keys;
	struct model_options options;
	int status = EXIT_COMPLETE;
	bool chosen = false;

	query_block_keys(query, &keys);
	asked.filter = view->filter;
	options = query_model_options(&asked);
	options.notes = &view->notes;
	wanted = query_rows_wanted(&asked);
	if (same && keys.count == 0)
		view->model = known_model(trace, !(query->spares &
						   QUERY_SPARES_OWN_PEAKS),
					  &status);
	else
		chosen = read_chosen(trace, view, &asked, &options, &keys,
				     &status);
	if (view->model == NULL)
		status = sql_trace_read(trace, &options, &keys, &wanted,
				      &view->model);
	if (status == EXIT_NOTHING)
		return false;
	choose_frames(trace, view);
	if (chosen || !filter_has_stacks(view->filter))
		return true;
	view->keeps = stack_filter_new(view->filter, sql_view_frames(view));
	return view->keeps != NULL;
}

struct filter *sql_trace_filter(const struct sql_trace *trace,
				const struct sql_words *words,
				struct buffer *why)
{
	struct notes notes;
	struct filter *filter;
	bool good;

	notes_init(&notes);
	filter = filter_new(&notes);
	good = take_words(filter, trace, words, why) &&
	       filter_fits(filter, &notes);
	if (!take_notes(trace, &notes, why))
		good = false;
	notes_free(&notes);
	if (good)
		return filter;
	filter_free(filter);
	return NULL;
}

/* NULL: failed; `why` says why. */
static struct sql_view *new_view(struct sql_trace *trace,
				 const struct sql_words *words,
				 const struct query *query,
				 struct filter *filter, const char *key,
				 struct buffer *why)
{
	struct sql_view **place = place_for(trace), *view;
	bool good;

	if (place == NULL) {
		buffer_printf(why, "a statement can use at most %d different "
				   "selections", SQL_VIEWS_MAX);
		filter_free(filter);
		return NULL;
	}
	view = grow_zeroed(1, sizeof(*view));
	view->trace = trace;
	view->filter = filter;
	view->frames = &trace->frames;
	view->key = grow_copy(key, strlen(key));
	notes_init(&view->notes);
	good = read_view(trace, view, query, words->count == 0);
	if (!take_notes(trace, &view->notes, why))
		good = false;
	view->notes.heard = sql_trace_report;	/* later notes */
	if (good)
		return *place = view;
	if (why->size == 0)
		buffer_printf(why, "%s: cannot read the trace with these "
				   "filters",
			      trace->path);
	sql_view_free(trace, view);
	return NULL;
}

struct sql_view *sql_view_of(struct sql_trace *trace,
			     const struct sql_words *words,
			     const struct query *query, struct buffer *why)
{
	struct filter *filter = sql_trace_filter(trace, words, why);
	LOCAL_BUFFER key = { 0 };
	struct sql_view *view;

	if (filter == NULL)
		return NULL;
	make_key(filter, query, &key);
	view = find_view(trace, buffer_text(&key));
	if (view != NULL)
		filter_free(filter);
	else
		view = new_view(trace, words, query, filter,
				buffer_text(&key), why);
	if (view == NULL)
		return NULL;
	view->used = ++trace->uses;
	view->in_use++;
	return view;
}

void sql_view_release(struct sql_view *view)
{
	ASSERT(view->in_use > 0);
	view->in_use--;
}

struct frames *sql_view_frames(struct sql_view *view)
{
	if (view->frames != &view->own)
		frames_turn_to(view->frames, view->model);
	return view->frames;
}

struct profile *sql_view_profile(struct sql_view *view)
{
	struct frames *frames = sql_view_frames(view);

	view->trace->has_loaded = false;
	if (view->profile != NULL)
		return view->profile;
	frames_prepare_all(frames);
	view->profile = profile_new(1);
	view->profile->with_costs = true;
	profile_add(view->profile, 0, frames,
		    view->keeps ? stack_filter_keeps : NULL, view->keeps);
	profile_seal(view->profile);
	return view->profile;
}
