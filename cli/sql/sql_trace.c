/*
 * sql_trace.c: see sql_trace.h.
 */
#include "cli/sql/sql_trace.h"

#include <stdlib.h>
#include <string.h>

#include "cli/base/grow.h"
#include "cli/base/sort.h"
#include "cli/base/terminal/tell.h"
#include "cli/base/text/last_part.h"
#include "cli/model/core/contexts.h"
#include "cli/stack/frames_prepare.h"
#include "cli/model/rows/rows_answer.h"
#include "cli/model/rows/rows_maps.h"
#include "cli/model/rows/rows_store.h"
#include "cli/sql/sql_store.h"
#include "cli/store/store.h"
#include "unwind/claim.h"

void sql_words_free(struct sql_words *words)
{
	for (unsigned i = 0; i < words->count; i++)
		free(words->list[i].text);
	words->count = 0;
}

/* ---- traces ---- */

static void tell(const struct note *note)
{
	if (note->error)
		tell_error("%s", note->text);
	else
		tell_note("%s", note->text);
}

/* What can be read once only is read with all that anybody may ask for. What is
 * wrong with a trace is said now. */
static int read_outline(struct sql_trace *trace)
{
	const struct model_options options = { .notes = &trace->notes };
	int status;

	if (!model_can_be_read_again(trace->path, NULL)) {
		status = reading_model(trace->reading, &trace->model,
				       trace->path);
		trace->outline = trace->model;
		return status;
	}
	notes_init(&trace->notes);
	notes_init(&trace->model_notes);
	trace->outline = model_new(&options, NULL);
	status = model_read_outline(trace->outline, trace->path);
	trace->said = trace->notes.count;
	for (size_t i = 0; i < trace->said; i++)
		tell(&trace->notes.list[i]);
	if (status == EXIT_NOTHING) {
		model_free(trace->outline);
		notes_free(&trace->notes);
	}
	return status;
}

static bool open_trace(struct sql_traces *traces, const char *path)
{
	struct sql_trace *trace = &traces->list[traces->count];
	const char *program;
	int status;

	*trace = (struct sql_trace){
		.number = (unsigned)traces->count + 1, .path = path,
		.reading = traces->reading, .cancel = &traces->cancel,
	};
	status = read_outline(trace);
	if (status != EXIT_COMPLETE)
		traces->status = EXIT_PARTIAL;
	if (status == EXIT_NOTHING)
		return false;
	reading_frames(traces->reading, &trace->frames, trace->outline);
	program = model_fact(trace->outline, GT_INFO, "exe");
	trace->process = (struct query_process){
		.pid = model_number(trace->outline, GT_INFO, "pid", 0),
		.program = program ? last_part(program) : "",
	};
	trace->end_ns = model_duration_ns(trace->outline);
	trace->status = &traces->status;
	traces->count++;
	return true;
}

bool sql_traces_open(struct sql_traces *traces, struct reading *reading)
{
	*traces = (struct sql_traces){
		.reading = reading,
		.list = grow_zeroed(reading->trace_count,
				    sizeof(*traces->list)),
	};
	for (size_t i = 0; i < reading->trace_count; i++)
		open_trace(traces, reading->traces[i]);
	return traces->count > 0;
}

struct sql_trace *sql_trace_of(const struct sql_traces *traces, uint64_t id)
{
	return id >> 32 < traces->count ? &traces->list[id >> 32] : NULL;
}

/* What the outline had to say is not said again. */
static bool was_said(const struct sql_trace *trace, const struct note *note)
{
	for (size_t i = 0; i < trace->said; i++)
		if (strcmp(trace->notes.list[i].text, note->text) == 0)
			return true;
	return false;
}

static void tell_new(const struct sql_trace *trace, const struct notes *notes)
{
	for (size_t i = 0; i < notes->count; i++)
		if (!was_said(trace, &notes->list[i]))
			tell(&notes->list[i]);
}

/* The index of a trace, if it tells that: one is made if the trace is large. */
static struct store *rows_for(struct sql_trace *trace,
			      const struct model_options *options)
{
	enum rows_make make = trace->reading->index;
	enum rows_why why;
	struct store *store;

	if (!rows_tell(options) || make == ROWS_MAKE_NEVER)
		return NULL;
	store = sql_store_find(trace, make, &why);
	if (store != NULL && rows_can_answer(store, options))
		return store;
	store_close(store);
	return NULL;
}

/* By rows of the index, or else by passes over the events. Returns what
 * model_read does; *model may have read nothing. */
static int read_figures(struct sql_trace *trace,
			const struct model_options *options,
			const struct block_keys *keys,
			const struct rows_wanted *wanted, struct model **model)
{
	struct store *store = rows_for(trace, options);
	int status, error;

	*model = model_new(options, keys);
	if (store != NULL) {
		status = rows_read(*model, trace->path, store, wanted,
				   trace->cancel, &error);
		if (status == EXIT_NOTHING || error == 0)
			return status;
		model_free(*model);
		*model = model_new(options, keys);
	}
	return model_read(*model, trace->path);
}

static int read_model(struct sql_trace *trace, unsigned spares)
{
	struct query query = trace->reading->query;
	struct model_options options = query_model_options(&query);
	struct rows_wanted wanted;
	int status;

	query.spares = spares | QUERY_SPARES_SIZES;
	wanted = query_rows_wanted(&query);
	options.notes = &trace->model_notes;
	status = read_figures(trace, &options, NULL, &wanted, &trace->model);
	tell_new(trace, &trace->model_notes);
	notes_clear(&trace->model_notes);
	trace->model_notes.heard = tell;
	return status;
}

static void find_model(struct sql_trace *trace, unsigned spares)
{
	int status = read_model(trace, spares);

	/* without one, the filters make no sense there */
	if (status == EXIT_NOTHING || *trace->status == EXIT_COMPLETE)
		*trace->status = status;
	if (model_duration_ns(trace->model) > trace->end_ns)
		trace->end_ns = model_duration_ns(trace->model);
}

struct model *sql_trace_model(struct sql_trace *trace)
{
	if (trace->model == NULL)
		find_model(trace, QUERY_SPARES_OWN_PEAKS);
	return trace->model;
}

/* Events tell them with the rest. What is to be said, the first model has said. */
struct model *sql_trace_own_peaks(struct sql_trace *trace)
{
	const struct model_options options =
		query_model_options(&trace->reading->query);

	if (trace->with_peaks != NULL)
		return trace->with_peaks;
	if (trace->model == NULL) {
		find_model(trace, 0);
		trace->with_peaks = trace->model;
	} else if (model_store(trace->model) == NULL) {
		trace->with_peaks = trace->model;
	} else {
		read_figures(trace, &options, NULL, &rows_all,
			     &trace->with_peaks);
	}
	return trace->with_peaks;
}

/* ---- views ---- */

static void free_view(struct sql_trace *trace, struct sql_view *view)
{
	CLAIM(view->in_use == 0);
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
	return filter_has(trace->reading->query.filter, id, id);
}

/* The words of the command line, and those of the statement. */
static bool take_words(struct filter *filter, const struct sql_trace *trace,
		       const struct sql_words *words, struct buffer *why)
{
	const struct filter *given = trace->reading->query.filter;
	const struct filter_word *word;

	for (int id = FILTER_FIRST; id < FILTER_END; id++)
		for (size_t i = 0; (word = filter_word(
				given, (enum filter_id)id, i)) != NULL; i++)
			filter_take(filter, id, word->text);
	for (unsigned i = 0; i < words->count; i++) {
		const struct sql_word *one = &words->list[i];

		if (filter_take(filter, one->id, one->text) == 0)
			continue;
		buffer_printf(why, "'%s' is no value of the filter --%s: see "
			      "`gnomon sql --help`", one->text,
			      filter_options.options[one->id - FILTER_FIRST]
				      .name);
		buffer_printable(why);
		return false;
	}
	return true;
}

/* Errors become the reason; hints are told. */
static bool take_notes(const struct sql_trace *trace, struct notes *notes,
		       struct buffer *why)
{
	bool good = true;

	for (size_t i = 0; i < notes->count; i++) {
		if (was_said(trace, &notes->list[i]))
			continue;
		if (!notes->list[i].error) {
			tell_note("%s", notes->list[i].text);
			continue;
		}
		/* it says more than what is known of it so far */
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

/* A place for another one: that of the one that was not used for longest, of
 * those that nobody looks at. NULL: all are looked at. */
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
		free_view(trace, *oldest);
		*oldest = NULL;
	}
	return oldest;
}

/* Nodes are numbered as the trace has them, so that the names that were looked
 * up hold; but of a trace that has grown there may be more. */
static void choose_frames(struct sql_trace *trace, struct sql_view *view)
{
	view->frames = &trace->frames;
	if (model_contexts(view->model)->node_count ==
	    model_contexts(trace->outline)->node_count)
		return;
	view->frames = &view->own;
	reading_frames(trace->reading, &view->own, view->model);
}

/* What the command's filters select. */
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
 * Where stacks need not be told apart but for the words about them: which ones
 * those keep is found out first, so that the index may add up their blocks
 * together. False: it cannot be known first, or the trace has grown, or has no
 * index: then a model that was read is as any other.
 */
static bool read_chosen(struct sql_trace *trace, struct sql_view *view,
			const struct query *query,
			const struct model_options *options,
			const struct block_keys *keys, int *status)
{
	struct rows_wanted wanted = query_rows_wanted(query);
	struct stack_filter *filter;
	uint64_t *chosen;

	if (!(query->spares & QUERY_SPARES_STACKS) ||
	    !filter_has_stacks(view->filter) ||
	    !stack_filter_is_of_frames(view->filter) ||
	    trace->reading->index == ROWS_MAKE_NEVER)
		return false;
	filter = stack_filter_new(view->filter, sql_trace_frames(trace));
	if (filter == NULL)
		return false;
	chosen = stack_filter_chosen(filter, &wanted.nodes);
	stack_filter_free(filter);
	wanted.merged = true;
	wanted.chosen = chosen;
	*status = read_figures(trace, options, keys, &wanted, &view->model);
	free(chosen);
	/* events tell stacks apart all the same */
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
	struct rows_wanted wanted;
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
		status = read_figures(trace, &options, &keys, &wanted,
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

/* NULL: it cannot be read. */
static struct sql_view *new_view(struct sql_trace *trace,
				 const struct sql_words *words,
				 const struct query *query,
				 struct filter *filter, const char *key,
				 struct buffer *why)
{
	struct sql_view **place = place_for(trace), *view;
	bool good;

	if (place == NULL) {
		buffer_printf(why, "a statement looks at %d different "
			      "selections at most at once", SQL_VIEWS_MAX);
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
	view->notes.heard = tell;	/* what is found out later */
	if (good)
		return *place = view;
	if (why->size == 0)
		buffer_printf(why, "%s: cannot be read with these filters",
			      trace->path);
	free_view(trace, view);
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
	CLAIM(view->in_use > 0);
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

/* ---- stacks, mappings ---- */

static int by_number(const void *a, const void *b)
{
	return sort_up(*(const uint32_t *)a, *(const uint32_t *)b);
}

static void list_nodes(struct sql_trace *trace,
		       struct sql_stacks *stacks)
{
	const struct contexts *contexts =
		model_contexts(sql_trace_model(trace));

	stacks->nodes = grow_resize(NULL, contexts->cost_count,
				    sizeof(*stacks->nodes));
	for (size_t i = 0; i < contexts->cost_count; i++)
		if (contexts->costs[i].allocations > 0)
			stacks->nodes[stacks->count++] =
				contexts->costs[i].node;
	SORT(stacks->nodes, stacks->count, by_number);
}

const struct sql_stacks *sql_trace_nodes(struct sql_trace *trace)
{
	if (trace->stacks == NULL) {
		trace->stacks = grow_zeroed(1, sizeof(*trace->stacks));
		list_nodes(trace, trace->stacks);
	}
	return trace->stacks;
}

const struct sql_stacks *sql_trace_stacks(struct sql_trace *trace)
{
	struct sql_stacks *stacks;

	sql_trace_nodes(trace);
	stacks = trace->stacks;
	if (stacks->first != NULL)
		return stacks;
	frames_prepare_all(&trace->frames);
	trace->has_loaded = false;
	stacks->first = grow_resize(NULL, stacks->count + 1,
				    sizeof(*stacks->first));
	for (size_t i = 0; i < stacks->count; i++) {
		stacks->first[i] = stacks->number_count;
		frames_of(&trace->frames, stacks->nodes[i]);
		for (size_t f = 0; f < trace->frames.count; f++) {
			GROW(stacks->numbers, stacks->number_count,
			     stacks->number_capacity);
			stacks->numbers[stacks->number_count++] =
				frame_table_number(&stacks->frames,
						   &trace->frames.list[f]);
		}
	}
	stacks->first[stacks->count] = stacks->number_count;
	return stacks;
}

static void free_stacks(struct sql_stacks *stacks)
{
	if (stacks == NULL)
		return;
	frame_table_free(&stacks->frames);
	free(stacks->nodes);
	free(stacks->first);
	free(stacks->numbers);
	free(stacks);
}

struct frames *sql_trace_frames(struct sql_trace *trace)
{
	frames_turn_to(&trace->frames, trace->outline);
	trace->has_loaded = false;
	return &trace->frames;
}

const struct model *sql_trace_paths(struct sql_trace *trace)
{
	const struct model_options options = { .wants = MODEL_WANT_MAPS };

	if (trace->maps != NULL)
		return trace->maps;
	if (trace->paths == NULL) {
		trace->paths = model_new(&options, NULL);
		model_read_outline(trace->paths, trace->path);
	}
	return trace->paths;
}

/* NULL: the index does not tell them. */
static struct model *maps_of_store(struct sql_trace *trace,
				   struct store *store)
{
	struct model *model;

	if (store == NULL)
		return NULL;
	model = model_new(NULL, NULL);
	if (model_read_outline(model, trace->path) != EXIT_NOTHING &&
	    rows_fit(store, model) && rows_maps_read(model, store))
		return model;
	model_free(model);
	return NULL;
}

/* With the index, which tells what was live at moments. */
const struct model *sql_trace_maps(struct sql_trace *trace)
{
	const struct model_options options = { 0 };
	struct store *store;

	if (trace->maps != NULL)
		return trace->maps;
	store = rows_for(trace, &options);
	trace->maps = maps_of_store(trace, store);
	if (trace->maps == NULL) {
		trace->maps = model_new(&options, NULL);
		model_read_maps(trace->maps, trace->path);
	}
	if (store != NULL)
		rows_take(trace->maps, store);
	return trace->maps;
}

void sql_traces_close(struct sql_traces *traces)
{
	for (size_t i = 0; i < traces->count; i++) {
		struct sql_trace *trace = &traces->list[i];

		for (size_t v = 0; v < SQL_VIEWS_MAX; v++)
			if (trace->views[v] != NULL)
				free_view(trace, trace->views[v]);
		free_stacks(trace->stacks);
		model_free(trace->maps);
		model_free(trace->paths);
		store_close(trace->store);
		intern_free(&trace->lacked);
		frames_free(&trace->frames);
		if (trace->with_peaks != trace->model)
			model_free(trace->with_peaks);
		if (trace->model != trace->outline)
			model_free(trace->model);
		notes_free(&trace->model_notes);
		model_free(trace->outline);
		notes_free(&trace->notes);
	}
	free(traces->list);
}
