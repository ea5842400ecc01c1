/*
 * reading.h: what all commands that read traces share: which traces are
 * meant, where symbols are, which blocks count. Here options become a query:
 * words of filters and meanings by reading_take, what else it has by the
 * command's own.
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

/* Ids of their options begin here; filters have those from 1000. */
#define READING_IDS 2000

/* What a command lists as its `groups`: those that make sense for it, and
 * filter_options (filters.h), which also go through reading_take. */
extern const struct command_group reading_symbols;	/* -d, --sysroot, … */
extern const struct command_group reading_model_options; /* --temporary */
extern const struct command_group reading_index;	/* --index, --no-index */

#define READING_PATHS_MAX 64

struct reading {
	/* What was asked for. */
	struct debugfile_places places;
	_Atomic unsigned missing;	/* of places */
	const char *paths[READING_PATHS_MAX];
	bool full_names;
	enum rows_make index;	/* when the index of a trace is made */
	struct query query;	/* its predicate; the rest is the command's */
	/* reading_find: the traces. */
	char **traces;
	size_t trace_count;
	size_t trace_capacity;
	bool many;	/* a directory was named, or several traces */
	struct filter *filter;	/* the query's, while options are taken */
};

void reading_init(struct reading *reading);
/* Is the option one of the groups above, or a filter? */
bool reading_has(int id);
/* As command_parse wants of its `take`. */
int reading_take(struct reading *reading, int id, const char *value);

/*
 * The traces that operands mean: a file, a directory (all in it), the number
 * of a process being recorded; without any, the newest trace here. A name
 * that is a file is that file, also if it is a number. False: what is wrong,
 * also with the filters, was said, and the status is EXIT_NOTHING.
 */
bool reading_find(struct reading *reading, int count, char **operands);
/* The same for commands that read one trace at a time; reading->traces[0]. */
bool reading_find_one(struct reading *reading, int count, char **operands);

/*
 * The index of the trace: the store of its blocks (rows_store.h). Made now, if
 * it is not there, where it was asked for by --index, or, if `twice` is set,
 * where the trace is large: it would be read more than once. NULL: there is
 * none, and the trace is to be read instead; never any with --no-index. Ctrl-C
 * ends the process when what was begun is gone again. The main thread.
 */
struct store *reading_rows(const struct reading *reading, const char *trace,
			   bool twice);
/*
 * A new model (model_new) that has read the trace for the query. Returns what model_read
 * does; with EXIT_NOTHING there is none, and *model is NULL.
 */
int reading_model(const struct reading *reading, struct model **model,
		  const char *trace);
/* For the stacks of that model. */
void reading_frames(const struct reading *reading, struct frames *frames,
		    struct model *model);
/*
 * Sets *filter to what keeps the stacks that words were given about; NULL
 * where none were. False: they do not fit the trace, which was said.
 */
bool reading_stack_filter(const struct reading *reading,
			  struct frames *frames,
			  struct stack_filter **filter);
void reading_free(struct reading *reading);

#endif
