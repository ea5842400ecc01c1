/*
 * trace_args.h: shared by all commands that read traces: which traces to read,
 * where symbols are, which blocks count. Options become a query here:
 * trace_args_take handles filters and definitions, the command itself the other
 * options.
 *
 *	struct reading reading;
 *
 *	trace_args_init(&reading);
 *	command_parse(…, take, …)	take: trace_args_take for its ids
 *	trace_args_find(&reading, operands, argv + 1)
 *	status = trace_args_model(&reading, &model, reading.traces[0]);
 *	trace_args_frames(&reading, &frames, model);
 *	trace_args_stack_filter(&reading, &frames, &filter);
 *	model_free(model);
 *	trace_args_free(&reading);
 */
#ifndef GNOMON_TRACE_ARGS_H
#define GNOMON_TRACE_ARGS_H

#include <stdbool.h>
#include <stddef.h>

#include "cli/base/terminal/command.h"
#include "cli/model/index/index_store.h"
#include "cli/query/query.h"
#include "cli/stack/frames.h"
#include "cli/stack/stack_filter.h"

/* Ids of these options begin here; ids of filters begin at 1000. */
#define TRACE_ARGS_IDS 2000

/* Groups for a command's `groups`. It lists the useful ones, and filter_options
 * (filters.h), whose options trace_args_take takes, too. */
extern const struct command_group trace_args_symbols;	/* -d, --sysroot, … */
extern const struct command_group trace_args_model_options; /* --temporary */
extern const struct command_group trace_args_index; /* --index, --no-index */

#define TRACE_ARGS_PATHS_MAX 64

struct trace_args {
	/* From options. */
	struct debugfile_places places;
	_Atomic unsigned missing;	/* files that places lack */
	const char *paths[TRACE_ARGS_PATHS_MAX];
	bool full_names;
	enum index_make index;	/* when the index of a trace is made */
	struct query query;	/* the predicate; the command sets the other
				 * members */
	/* From trace_args_find: the traces. */
	char **traces;
	size_t trace_count;
	size_t trace_capacity;
	bool many;	/* a directory or several traces were named */
	struct filter *filter;	/* the query's, while parsing options */
};

void trace_args_init(struct trace_args *args);
/* Whether the option is in one of the groups above, or a filter. */
bool trace_args_has(int id);
/* For the `take` of command_parse. */
int trace_args_take(struct trace_args *args, int id, const char *value);

/*
 * Find the traces that operands name: a file, a directory (all traces in it),
 * the id of a process being recorded; without operands, the newest trace here.
 * A name of a file means the file, even if it is a number. False: an error,
 * also in the filters, was logged, and the status is EXIT_NOTHING.
 */
bool trace_args_find(struct trace_args *args, int count, char **operands);
/* For commands that read one trace at a time: reading->traces[0]. */
bool trace_args_find_one(struct trace_args *args, int count, char **operands);

/*
 * Open the trace's index: the store of its blocks (index_store.h). If there is
 * none, it is made if --index was given, or if `twice` is set and the trace is
 * large, because it would be read more than once. NULL: no index, read the
 * trace instead; always with --no-index. On Ctrl-C the process first removes an
 * unfinished index. Main thread.
 */
struct store *trace_args_rows(const struct trace_args *args, const char *trace,
			      bool twice);
/*
 * Make a model (model_new) and read the trace into it for the query. Returns
 * the status of model_read; on EXIT_NOTHING *model is NULL.
 */
int trace_args_model(const struct trace_args *args, struct model **model,
		     const char *trace);
/* For the stacks of that model. */
void trace_args_frames(const struct trace_args *args, struct frames *frames,
		       struct model *model);
/*
 * Sets *filter to a filter of the stacks by the given options; NULL if there
 * are none. False: they do not fit the trace, which was logged.
 */
bool trace_args_stack_filter(const struct trace_args *args,
			     struct frames *frames,
			     struct stack_filter **filter);
void trace_args_free(struct trace_args *args);

#endif
