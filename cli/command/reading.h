/*
 * reading.h: shared by all commands that read traces: which traces to read,
 * where symbols are, which blocks count. Options become a query here:
 * reading_take handles filters and definitions, the command itself the other
 * options.
 *
 *	struct reading reading;
 *
 *	reading_init(&reading);
 *	command_parse(…, take, …)	take: reading_take for its ids
 *	reading_find(&reading, operands, argv + 1)
 *	status = reading_model(&reading, &model, reading.traces[0]);
 *	reading_frames(&reading, &frames, model);
 *	reading_stack_filter(&reading, &frames, &filter);
 *	model_free(model);
 *	reading_free(&reading);
 */
#ifndef GNOMON_READING_H
#define GNOMON_READING_H

#include <stdbool.h>
#include <stddef.h>

#include "cli/base/terminal/command.h"
#include "cli/model/rows/rows_store.h"
#include "cli/query/query.h"
#include "cli/stack/frames.h"
#include "cli/stack/stack_filter.h"

/* Ids of these options begin here; ids of filters begin at 1000. */
#define READING_IDS 2000

/* Groups for a command's `groups`. It lists the useful ones, and filter_options
 * (filters.h), whose options reading_take takes, too. */
extern const struct command_group reading_symbols;	/* -d, --sysroot, … */
extern const struct command_group reading_model_options; /* --temporary */
extern const struct command_group reading_index;	/* --index, --no-index */

#define READING_PATHS_MAX 64

struct reading {
	/* From options. */
	struct debugfile_places places;
	_Atomic unsigned missing;	/* files that places lack */
	const char *paths[READING_PATHS_MAX];
	bool full_names;
	enum rows_make index;	/* when the index of a trace is made */
	struct query query;	/* the predicate; the command sets the other
				 * members */
	/* From reading_find: the traces. */
	char **traces;
	size_t trace_count;
	size_t trace_capacity;
	bool many;	/* a directory or several traces were named */
	struct filter *filter;	/* the query's, while parsing options */
};

void reading_init(struct reading *reading);
/* Whether the option is in one of the groups above, or a filter. */
bool reading_has(int id);
/* For the `take` of command_parse. */
int reading_take(struct reading *reading, int id, const char *value);

/*
 * Find the traces that operands name: a file, a directory (all traces in it),
 * the id of a process being recorded; without operands, the newest trace here.
 * A name of a file means the file, even if it is a number. False: an error,
 * also in the filters, was logged, and the status is EXIT_NOTHING.
 */
bool reading_find(struct reading *reading, int count, char **operands);
/* For commands that read one trace at a time: reading->traces[0]. */
bool reading_find_one(struct reading *reading, int count, char **operands);

/*
 * Open the trace's index: the store of its blocks (rows_store.h). If there is
 * none, it is made if --index was given, or if `twice` is set and the trace is
 * large, because it would be read more than once. NULL: no index, read the
 * trace instead; always with --no-index. On Ctrl-C the process first removes an
 * unfinished index. Main thread.
 */
struct store *reading_rows(const struct reading *reading, const char *trace,
			   bool twice);
/*
 * Make a model (model_new) and read the trace into it for the query. Returns
 * the status of model_read; on EXIT_NOTHING *model is NULL.
 */
int reading_model(const struct reading *reading, struct model **model,
		  const char *trace);
/* For the stacks of that model. */
void reading_frames(const struct reading *reading, struct frames *frames,
		    struct model *model);
/*
 * Sets *filter to a filter of the stacks by the given options; NULL if there
 * are none. False: they do not fit the trace, which was logged.
 */
bool reading_stack_filter(const struct reading *reading,
			  struct frames *frames,
			  struct stack_filter **filter);
void reading_free(struct reading *reading);

#endif
