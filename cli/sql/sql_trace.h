/*
 * sql_trace.h: the traces of an SQL session, and the models that answer its
 * statements. Only this module makes such models.
 *
 *	sql_trace ─┬─ outline   stacks, threads, moments: read at the start
 *	           ├─ model     measures of what the command's filters select
 *	           ├─ store     blocks
 *	           ├─ frames    symbols, looked up once for all models
 *	           └─ views     models of statements' filters, the last few
 *
 * Each trace has a number, from 1: the column `process` of tables. Numbers of
 * contexts and frames are unique over all traces: sql_id.
 *
 * Called by the session's thread.
 */
#ifndef GNOMON_SQL_TRACE_H
#define GNOMON_SQL_TRACE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/command/trace_args.h"
#include "cli/query/query.h"
#include "cli/stack/frame_table.h"
#include "cli/stack/profile.h"

struct store;

#define SQL_VIEWS_MAX 8		/* for each trace: each may be as large as a
				 * model */
#define SQL_WORDS_MAX 64	/* filter values for one table of a statement */

/* A filter's value in a statement. */
struct sql_word {
	enum filter_id id;
	char *text;
	bool of_some;		/* sql_moments_known */
};

struct sql_words {
	struct sql_word list[SQL_WORDS_MAX];
	unsigned count;
};

/* A model of what filters select, and data derived from it. */
struct sql_view {
	char *key;			/* filters and block keys */
	struct filter *filter;		/* the command's and the statement's */
	struct notes notes;		/* of the model, with its lifetime */
	struct model *model;
	struct stack_filter *keeps;	/* NULL: no filters on stacks */
	struct profile *profile;	/* NULL: not opened yet */
	struct frames own;		/* used if the trace's do not fit */
	struct frames *frames;
	uint64_t used;			/* time of last use */
	struct sql_trace *trace;
	unsigned in_use;		/* cursors that use it */
};

/* The frames of a trace's stacks, made on first use. */
struct sql_stacks {
	struct frame_table frames;
	uint32_t *nodes;		/* contexts that allocated, ascending */
	size_t count;
	uint64_t *first;		/* index of each in `numbers`; and the
					 * end */
	uint32_t *numbers;		/* frame numbers, innermost first */
	size_t number_count, number_capacity;
};

struct sql_trace {
	unsigned number;
	const char *path;
	struct notes notes;		/* of the outline */
	size_t said;			/* how many of them were logged */
	struct model *outline;		/* everything except measures of
					 * blocks */
	/* Outline plus measures; with own peaks of contexts, too. NULL: not
	 * made yet */
	struct model *model, *with_peaks;
	struct notes model_notes;
	struct frames frames;
	uint32_t loaded;		/* node whose frames are loaded, if */
	bool has_loaded;
	struct query_process process;
	uint64_t end_ns;
	struct sql_view *views[SQL_VIEWS_MAX];	/* NULL: unused */
	uint64_t uses;
	struct sql_stacks *stacks;	/* NULL: not made yet; without
					 * `first`: only nodes are known */
	/* Outline plus mappings; `maps` with their origins, `paths` without */
	struct model *maps, *paths;
	/* for sql_store.h */
	struct store *store;		/* NULL: not opened yet */
	unsigned store_uses;		/* cursors that use it */
	bool store_bad;			/* it is damaged */
	bool no_index;			/* no index is possible; logged */
	struct intern lacked;		/* missing names of moments, already
					 * logged */
	const struct trace_args *args;
	int *status;			/* exit status of all traces */
	const atomic_bool *cancel;	/* the session's */
};

struct sql_traces {
	struct trace_args *args;
	struct sql_trace *list;
	size_t count;
	atomic_bool cancel;	/* set to end the running statement */
	int status;		/* EXIT_PARTIAL: some damaged or missing */
};

/* Makes a number unique over all traces. */
static inline uint64_t sql_id(const struct sql_trace *trace, uint32_t number)
{
	return (uint64_t)(trace->number - 1) << 32 | number;
}

/* Read all traces. False, after a message: none could be read. `reading` is
 * borrowed. Call sql_traces_close in either case. */
bool sql_traces_open(struct sql_traces *traces, struct trace_args *args);
void sql_traces_close(struct sql_traces *traces);
/* The trace of an sql_id; NULL: none. */
struct sql_trace *sql_trace_of(const struct sql_traces *traces, uint64_t id);

/* Whether the command line has this filter: then statements must not use it. */
bool sql_trace_has_word(const struct sql_trace *trace, enum filter_id id);
/* Makes a filter of the command's filters and these; the caller frees it. NULL:
 * they are invalid; `why` says why. */
struct filter *sql_trace_filter(const struct sql_trace *trace,
				const struct sql_words *words,
				struct buffer *why);
/* The model of what the command's filters select, read once. It may lack own
 * peaks of contexts; sql_trace_own_peaks has them, and the same contexts. */
struct model *sql_trace_model(struct sql_trace *trace);
struct model *sql_trace_own_peaks(struct sql_trace *trace);
/* The symbols of the trace's stacks. */
struct frames *sql_trace_frames(struct sql_trace *trace);
/*
 * The view of these filters, with measures by the query's block keys, without
 * what the query spares. NULL: the filters are invalid; `why` says why. It
 * stays until sql_view_release.
 */
struct sql_view *sql_view_of(struct sql_trace *trace,
			     const struct sql_words *words,
			     const struct query *query, struct buffer *why);
void sql_view_release(struct sql_view *view);
/* The frames of its contexts; valid until called for another view. */
struct frames *sql_view_frames(struct sql_view *view);
/* Its profile, with the self value of each cost. */
struct profile *sql_view_profile(struct sql_view *view);

/* The contexts that allocated; with their frames and stacks. */
const struct sql_stacks *sql_trace_nodes(struct sql_trace *trace);
const struct sql_stacks *sql_trace_stacks(struct sql_trace *trace);
/* A model of all mappings with times and paths. */
const struct model *sql_trace_paths(struct sql_trace *trace);
/* The same with origins: a pass over all events, unless the index has them. */
const struct model *sql_trace_maps(struct sql_trace *trace);

void sql_words_free(struct sql_words *words);

/* ---- between sql_trace.c and sql_view.c ---- */

/* Read a model from the index, or else from the events. Returns what model_read
 * does; *model may have read nothing. */
int sql_trace_read(struct sql_trace *trace, const struct model_options *options,
		   const struct block_keys *keys,
		   const struct index_wanted *wanted, struct model **model);
/* Whether the outline already logged this note. */
bool sql_trace_was_said(const struct sql_trace *trace,
			const struct note *note);
void sql_trace_report(const struct note *note);
void sql_view_free(struct sql_trace *trace, struct sql_view *view);

#endif
