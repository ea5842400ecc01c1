/*
 * trace_args.c: see trace_args.h. Called by the main thread.
 */
#include "cli/command/trace_args.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/base/grow.h"
#include "cli/base/sort.h"
#include "cli/base/terminal/log.h"
#include "cli/base/text/quantity.h"
#include "cli/command/recorder_start.h"
#include "cli/command/interrupt.h"
#include "cli/command/trace_cache.h"
#include "cli/model/index/index_answer.h"
#include "cli/query/passes_needed.h"
#include "cli/trace/live/live_recover.h"
#include "cli/trace/read/process_tree.h"
#include "cli/trace/read/locate.h"

#define PID_MAX_DIGITS 7	/* the kernel's limit is 4194304 */

enum {
	DEBUG_PATH = TRACE_ARGS_IDS,
	SYSROOT,
	NO_DEBUGINFOD,
	FULL_NAMES,
	TEMPORARY,
	INDEX,
	NO_INDEX,
	TRACE_ARGS_END
};

static const struct command_option symbol_options[] = {
	{ DEBUG_PATH, "debug-path", 'd', "PATH", NULL,
	  "where to look for programs, libraries and their debug files, in "
	  "addition to their recorded paths: a file, a directory or a "
	  ".build-id tree; may be repeated" },
	{ SYSROOT, "sysroot", 0, "DIR", "/",
	  "the paths in the trace are below DIR, or their files are in a "
	  "library folder there: for traces of another machine" },
	{ NO_DEBUGINFOD, "no-debuginfod", 0, NULL, NULL,
	  "do not query debuginfod servers, even if DEBUGINFOD_URLS is set; "
	  "files in its cache are still used" },
	{ FULL_NAMES, "full-names", 0, NULL, NULL,
	  "full demangled names, full paths of source files" },
};

const struct command_group trace_args_symbols = {
	"symbols", symbol_options,
	sizeof(symbol_options) / sizeof(symbol_options[0])
};

static const struct command_option model_options[] = {
	{ TEMPORARY, "temporary", 0, "N", "0",
	  "a block is temporary if its thread made at most N other allocations "
	  "between the block's allocation and its free" },
};

const struct command_group trace_args_model_options = {
	"definitions", model_options,
	sizeof(model_options) / sizeof(model_options[0])
};

static const struct command_option index_options[] = {
	{ INDEX, "index", 0, NULL, NULL,
	  "make the trace's index TRACE.idx, a table of its blocks, if there "
	  "is none" },
	{ NO_INDEX, "no-index", 0, NULL, NULL,
	  "neither make nor use an index" },
};

const struct command_group trace_args_index = {
	"index", index_options,
	sizeof(index_options) / sizeof(index_options[0])
};

void trace_args_init(struct trace_args *args)
{
	memset(args, 0, sizeof(*args));
	args->index = INDEX_MAKE_LARGE;
	args->places.paths = args->paths;
	args->places.notes = log_notes();
	args->places.missing = &args->missing;
	args->filter = filter_new(log_notes());
	args->query.filter = args->filter;
}

bool trace_args_has(int id)
{
	return (id >= TRACE_ARGS_IDS && id < TRACE_ARGS_END) ||
		filter_is_option(id);
}

/* Reports typing mistakes; the path's contents do not matter. */
static void report_unless_there(const char *option, const char *path)
{
	if (access(path, R_OK) != 0)
		log_note("%s: given with %s, cannot be read: %s: nothing "
			 "will be searched there", path, option,
			 strerror(errno));
}

int trace_args_take(struct trace_args *args, int id, const char *value)
{
	if (filter_is_option(id))
		return filter_take(args->filter, id, value);
	switch (id) {
	case DEBUG_PATH:
		if (args->places.path_count == TRACE_ARGS_PATHS_MAX)
			return -ERANGE;
		args->paths[args->places.path_count++] = value;
		report_unless_there("-d", value);
		return 0;
	case SYSROOT:
		report_unless_there("--sysroot", value);
		args->places.sysroot = value;
		return 0;
	case NO_DEBUGINFOD:
		args->places.no_debuginfod = true;
		return 0;
	case FULL_NAMES:
		args->full_names = true;
		return 0;
	case TEMPORARY:
		return quantity_parse_count(value, &args->query.temporary);
	case INDEX:
		args->index = INDEX_MAKE;
		return 0;
	case NO_INDEX:
		args->index = INDEX_MAKE_NEVER;
		return 0;
	default:
		return -EINVAL;
	}
}

/* ---- which traces ---- */

static void add_trace(struct trace_args *args, char *path)
{
	GROW(args->traces, args->trace_count, args->trace_capacity);
	args->traces[args->trace_count++] = path;
}

/* A trace that is a part of a recording. */
struct part_of {
	struct trace_facts facts;
	size_t index;
};

static int compare_parts(const void *left, const void *right)
{
	const struct trace_facts *a = &((const struct part_of *)left)->facts;
	const struct trace_facts *b = &((const struct part_of *)right)->facts;

	return sort_up((uint64_t)a->pid, (uint64_t)b->pid) ?:
	       sort_up(a->start_time, b->start_time) ?:
	       sort_up(a->begin_ns, b->begin_ns) ?: sort_up(a->part, b->part);
}

static bool is_same_recording(const struct part_of *a, const struct part_of *b)
{
	return a->facts.pid == b->facts.pid &&
	       a->facts.start_time == b->facts.start_time &&
	       a->facts.begin_ns == b->facts.begin_ns;
}

/* The last part of a recording has everything that earlier parts have: sets the
 * paths of earlier parts to NULL. */
static void keep_last_parts(const char *directory, char **paths, size_t count)
{
	struct part_of *parts = NULL;
	size_t n = 0, capacity = 0, left_out = 0;

	for (size_t i = 0; i < count; i++) {
		struct trace_facts facts;

		if (live_recover_facts(paths[i], &facts) != 0 ||
		    facts.part == 0)
			continue;
		GROW(parts, n, capacity);
		parts[n].facts = facts;
		parts[n++].index = i;
	}
	SORT(parts, n, compare_parts);
	for (size_t i = 0; i + 1 < n; i++) {
		if (!is_same_recording(&parts[i], &parts[i + 1]))
			continue;
		free(paths[parts[i].index]);
		paths[parts[i].index] = NULL;
		left_out++;
	}
	if (left_out > 0)
		log_note("%s: %zu earlier part%s of recordings %s left out: "
			 "the last part has the sums of all; name a part to "
			 "read it", directory, left_out,
			 left_out == 1 ? "" : "s",
			 left_out == 1 ? "is" : "are");
	free(parts);
}

static bool add_directory(struct trace_args *args, const char *directory)
{
	char **paths;
	size_t count;
	bool more;
	int error = locate_all(directory, &paths, &count, &more);

	if (error != 0) {
		log_error("%s: the directory cannot be listed: %s", directory,
			  strerror(-error));
		return false;
	}
	if (count == 0)
		log_error("%s: no trace in this directory: name one, or make "
			  "one with `gnomon run PROGRAM`", directory);
	if (more)
		log_note("%s: only %d of its files were examined: name traces "
			 "one by one", directory, LOCATE_MAX);
	keep_last_parts(directory, paths, count);
	for (size_t i = 0; i < count; i++)
		if (paths[i] != NULL)
			add_trace(args, paths[i]);
	free(paths);
	args->many = true;
	return count > 0;
}

static bool add_process(struct trace_args *args, const char *number)
{
	pid_t pid = (pid_t)strtol(number, NULL, 10);
	unsigned waited_us = 0;
	char *trace;
	int error;

	do
		trace = locate_process(pid, &error);
	while (trace == NULL && error == -ENOENT &&
	       recorder_start_pause(pid, &waited_us));
	if (trace != NULL) {
		add_trace(args, trace);
		return true;
	}
	if (error == -ESRCH)
		log_error("%s: neither a file nor a process, and no trace "
			  "here belongs to such a process: check the name",
			  number);
	else if (error == -EACCES || error == -EPERM)
		log_error("%s: no such file, and the process cannot be "
			  "examined: %s: name its trace", number,
			  strerror(-error));
	else
		log_error("%s: no such file, and the process is not being "
			  "recorded: start it with `gnomon run`", number);
	return false;
}

static bool is_number(const char *text)
{
	size_t size = strlen(text);

	return size > 0 && size <= PID_MAX_DIGITS &&
		strspn(text, "0123456789") == size;
}

static bool add_operand(struct trace_args *args, const char *operand)
{
	struct stat status;
	int found;

	if (strcmp(operand, "-") == 0)
		operand = "/dev/stdin";
	found = stat(operand, &status);
	if (found == 0 && S_ISDIR(status.st_mode))
		return add_directory(args, operand);
	if (found != 0 && errno == ENOENT && is_number(operand))
		return add_process(args, operand);
	/* The reader reports any other problem. */
	add_trace(args, grow_copy(operand, strlen(operand)));
	return true;
}

/* The newest trace here; or the trace of the process that started it, or of the
 * program that this process was meant to run. */
static char *newest_wanted(void)
{
	char *newest = locate_newest("."), *root, *wanted;

	if (newest == NULL)
		return NULL;
	root = process_tree_root(newest);
	if (root != NULL) {
		free(newest);
		newest = root;
	}
	wanted = process_tree_wanted(newest);
	if (wanted == NULL)
		return newest;
	log_note("%s: read instead of %s, which started it or became it by "
		 "exec; `gnomon report .` lists all", wanted, newest);
	free(newest);
	return wanted;
}

bool trace_args_find(struct trace_args *args, int count, char **operands)
{
	char *newest;

	if (!filter_fits(args->query.filter, log_notes()))
		return false;
	newest = count == 0 ? newest_wanted() : NULL;
	if (newest != NULL)
		add_trace(args, newest);
	else if (count == 0)
		log_error("no trace in this directory: name one, or make one "
			  "with `gnomon run PROGRAM`");
	for (int i = 0; i < count; i++)
		if (!add_operand(args, operands[i]))
			return false;
	args->many |= count > 1;
	return args->trace_count > 0;
}

bool trace_args_find_one(struct trace_args *args, int count, char **operands)
{
	struct stat status;

	if (count > 1) {
		log_error("%s: one trace is read at a time: leave out %s",
			  operands[0], operands[1]);
		return false;
	}
	if (count == 1 && stat(operands[0], &status) == 0 &&
	    S_ISDIR(status.st_mode)) {
		log_error("%s: is a directory: name one of its traces; "
			  "`gnomon report %s` lists them", operands[0],
			  operands[0]);
		return false;
	}
	return trace_args_find(args, count, operands);
}

/* ---- reading them ---- */

struct store *trace_args_rows(const struct trace_args *args, const char *trace,
			      bool twice)
{
	struct index_asked asked = {
		.trace = trace, .notes = log_notes(),
		.cancel = interrupt_flag(),
		.make = twice || args->index == INDEX_MAKE ?
			args->index : INDEX_MAKE_NEVER,
	};
	struct store *store;

	if (args->index == INDEX_MAKE_NEVER)
		return NULL;
	interrupt_begin();
	store = index_store(&asked);
	interrupt_end();
	return store;
}

/* How often a query reads the trace's events. */
static unsigned event_passes(const struct query *query)
{
	return (unsigned)query_needs_pass(query, QUERY_PASS_ENDS) +
	       query_needs_pass(query, QUERY_PASS_FIGURES) +
	       query_needs_pass(query, QUERY_PASS_PEAKS) +
	       query_needs_pass(query, QUERY_PASS_SERIES);
}

/* Answers by the index. NULL: no index, or it cannot answer this; or *error: it
 * cannot be read. */
static struct model *read_index_rows(const struct trace_args *args,
				     const struct model_options *options,
				     const struct block_keys *keys,
				     const char *trace, int *status, int *error)
{
	struct index_wanted wanted = query_rows_wanted(&args->query);
	struct model *model;
	struct store *store;

	*error = 0;
	if (!index_supports(options) && args->index != INDEX_MAKE)
		return NULL;
	model = args->index == INDEX_MAKE_NEVER ? NULL :
		trace_cache_model(trace, options, keys, &wanted, status, error);
	if (model != NULL && (*status == EXIT_NOTHING || *error == 0))
		return model;
	model_free(model);
	store = trace_args_rows(args, trace,
				event_passes(&args->query) > 1);
	if (store == NULL || !index_can_answer(store, options)) {
		store_close(store);
		return NULL;
	}
	model = model_new(options, keys);
	*status = index_read(model, trace, store, &wanted, NULL, error);
	if (*status == EXIT_NOTHING || *error == 0)
		return model;
	model_free(model);
	return NULL;
}

/* The same; a bad index is deleted by then, and made again if requested. */
static struct model *read_rows(const struct trace_args *args,
			       const struct model_options *options,
			       const struct block_keys *keys,
			       const char *trace, int *status)
{
	int error;
	struct model *model =
		read_index_rows(args, options, keys, trace, status, &error);

	if (model == NULL && args->index == INDEX_MAKE &&
	    (error == -EBADMSG || error == -ESTALE))
		model = read_index_rows(args, options, keys, trace, status,
					&error);
	return model;
}

int trace_args_model(const struct trace_args *args, struct model **model,
		     const char *trace)
{
	struct model_options options = query_model_options(&args->query);
	struct block_keys keys;
	int status;

	options.notes = log_notes();
	query_block_keys(&args->query, &keys);
	*model = read_rows(args, &options, &keys, trace, &status);
	if (*model == NULL) {
		*model = model_new(&options, &keys);
		status = model_read(*model, trace);
	}
	if (status == EXIT_NOTHING) {
		model_free(*model);
		*model = NULL;
	}
	return status;
}

void trace_args_frames(const struct trace_args *args, struct frames *frames,
		       struct model *model)
{
	if (!trace_cache_frames(args, frames, model))
		frames_init(frames, model, &args->places,
			    args->full_names);
}

bool trace_args_stack_filter(const struct trace_args *args,
			     struct frames *frames,
			     struct stack_filter **filter)
{
	*filter = NULL;
	if (!filter_has_stacks(args->query.filter))
		return true;
	*filter = stack_filter_new(args->query.filter, frames);
	return *filter != NULL;
}

void trace_args_free(struct trace_args *args)
{
	for (size_t i = 0; i < args->trace_count; i++)
		free(args->traces[i]);
	free(args->traces);
	filter_free(args->filter);
}
