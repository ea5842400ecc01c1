/*
 * sql_trace.c: see sql_trace.h.
 */
#include "cli/sql/sql_trace.h"

#include <stdlib.h>
#include <string.h>

#include "cli/base/grow.h"
#include "cli/base/sort.h"
#include "cli/base/terminal/log.h"
#include "cli/base/text/base_name.h"
#include "cli/model/core/contexts.h"
#include "cli/stack/frames_prepare.h"
#include "cli/model/index/index_answer.h"
#include "cli/model/index/index_maps.h"
#include "cli/model/index/index_store.h"
#include "cli/sql/sql_store.h"
#include "cli/store/store.h"
#include "unwind/base/assertion.h"

void sql_words_free(struct sql_words *words)
{
	for (unsigned i = 0; i < words->count; i++)
		free(words->list[i].text);
	words->count = 0;
}

/* ---- traces ---- */

void sql_trace_report(const struct note *note)
{
	if (note->error)
		log_error("%s", note->text);
	else
		log_note("%s", note->text);
}

/* Read the outline and log its errors. A trace that can be read only once is
 * read completely. */
static int read_outline(struct sql_trace *trace)
{
	const struct model_options options = { .notes = &trace->notes };
	int status;

	if (!model_can_be_read_again(trace->path, NULL)) {
		status = trace_args_model(trace->args, &trace->model,
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
		sql_trace_report(&trace->notes.list[i]);
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
		.args = traces->args, .cancel = &traces->cancel,
	};
	status = read_outline(trace);
	if (status != EXIT_COMPLETE)
		traces->status = EXIT_PARTIAL;
	if (status == EXIT_NOTHING)
		return false;
	trace_args_frames(traces->args, &trace->frames, trace->outline);
	program = model_fact(trace->outline, GT_INFO, "exe");
	trace->process = (struct query_process){
		.pid = model_number(trace->outline, GT_INFO, "pid", 0),
		.program = program ? base_name(program) : "",
	};
	trace->end_ns = model_duration_ns(trace->outline);
	trace->status = &traces->status;
	traces->count++;
	return true;
}

bool sql_traces_open(struct sql_traces *traces, struct trace_args *args)
{
	*traces = (struct sql_traces){
		.args = args,
		.list = grow_zeroed(args->trace_count,
				    sizeof(*traces->list)),
	};
	for (size_t i = 0; i < args->trace_count; i++)
		open_trace(traces, args->traces[i]);
	return traces->count > 0;
}

struct sql_trace *sql_trace_of(const struct sql_traces *traces, uint64_t id)
{
	return id >> 32 < traces->count ? &traces->list[id >> 32] : NULL;
}

bool sql_trace_was_said(const struct sql_trace *trace, const struct note *note)
{
	for (size_t i = 0; i < trace->said; i++)
		if (strcmp(trace->notes.list[i].text, note->text) == 0)
			return true;
	return false;
}

static void report_new(const struct sql_trace *trace, const struct notes *notes)
{
	for (size_t i = 0; i < notes->count; i++)
		if (!sql_trace_was_said(trace, &notes->list[i]))
			sql_trace_report(&notes->list[i]);
}

/* The trace's index, if it has the requested measures. Builds one for a large
 * trace. */
static struct store *index_for(struct sql_trace *trace,
			       const struct model_options *options)
{
	enum index_make make = trace->args->index;
	enum index_why why;
	struct store *store;

	if (!index_supports(options) || make == INDEX_MAKE_NEVER)
		return NULL;
	store = sql_store_find(trace, make, &why);
	if (store != NULL && index_can_answer(store, options))
		return store;
	store_close(store);
	return NULL;
}

int sql_trace_read(struct sql_trace *trace, const struct model_options *options,
		   const struct block_keys *keys,
		   const struct index_wanted *wanted, struct model **model)
{
	struct store *store = index_for(trace, options);
	int status, error;

	*model = model_new(options, keys);
	if (store != NULL) {
		status = index_read(*model, trace->path, store, wanted,
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
	struct query query = trace->args->query;
	struct model_options options = query_model_options(&query);
	struct index_wanted wanted;
	int status;

	query.spares = spares | QUERY_SPARES_SIZES;
	wanted = query_rows_wanted(&query);
	options.notes = &trace->model_notes;
	status = sql_trace_read(trace, &options, NULL, &wanted, &trace->model);
	report_new(trace, &trace->model_notes);
	notes_clear(&trace->model_notes);
	trace->model_notes.heard = sql_trace_report;
	return status;
}

static void find_model(struct sql_trace *trace, unsigned spares)
{
	int status = read_model(trace, spares);

	/* without a model, the filters are invalid */
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

/* A model read from events has own peaks already. The first model has logged
 * all messages. */
struct model *sql_trace_own_peaks(struct sql_trace *trace)
{
	const struct model_options options =
		query_model_options(&trace->args->query);

	if (trace->with_peaks != NULL)
		return trace->with_peaks;
	if (trace->model == NULL) {
		find_model(trace, 0);
		trace->with_peaks = trace->model;
	} else if (model_store(trace->model) == NULL) {
		trace->with_peaks = trace->model;
	} else {
		sql_trace_read(trace, &options, NULL, &index_all,
			     &trace->with_peaks);
	}
	return trace->with_peaks;
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

/* NULL: the index lacks the mappings. */
static struct model *maps_of_store(struct sql_trace *trace,
				   struct store *store)
{
	struct model *model;

	if (store == NULL)
		return NULL;
	model = model_new(NULL, NULL);
	if (model_read_outline(model, trace->path) != EXIT_NOTHING &&
	    index_fits(store, model) && index_maps_read(model, store))
		return model;
	model_free(model);
	return NULL;
}

/* The index is attached for live bytes at moments. */
const struct model *sql_trace_maps(struct sql_trace *trace)
{
	const struct model_options options = { 0 };
	struct store *store;

	if (trace->maps != NULL)
		return trace->maps;
	store = index_for(trace, &options);
	trace->maps = maps_of_store(trace, store);
	if (trace->maps == NULL) {
		trace->maps = model_new(&options, NULL);
		model_read_maps(trace->maps, trace->path);
	}
	if (store != NULL)
		index_attach(trace->maps, store);
	return trace->maps;
}

void sql_traces_close(struct sql_traces *traces)
{
	for (size_t i = 0; i < traces->count; i++) {
		struct sql_trace *trace = &traces->list[i];

		for (size_t v = 0; v < SQL_VIEWS_MAX; v++)
			if (trace->views[v] != NULL)
				sql_view_free(trace, trace->views[v]);
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
