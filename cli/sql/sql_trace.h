/*
 * sql_trace.h: the traces of a session of SQL, and the models that statements
 * are answered from. This is the one place where such models are made.
 *
 *	sql_trace ─┬─ outline   stacks, threads, moments: read at first
 *	           ├─ model     figures of all that the command's filters select
 *	           ├─ store     blocks
 *	           ├─ frames    names, looked up once for all models
 *	           └─ views     models of further filters, the last few of them
 *
 * Each trace has a number, from 1: what is a process in tables. Numbers of
 * contexts and frames are unique over all traces: sql_id.
 *
 * Called by the thread that has the session.
 */
#ifndef GNOMON_SQL_TRACE_H
#define GNOMON_SQL_TRACE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/command/reading.h"
#include "cli/query/query.h"
#include "cli/stack/frame_table.h"
#include "cli/stack/profile.h"

struct store;

#define SQL_VIEWS_MAX 8		/* of a trace: each may be as large as a model */
#define SQL_WORDS_MAX 64	/* values of filters in one statement's table */

/* A filter's value, as a statement has it. */
struct sql_word {
	enum filter_id id;
	char *text;
	bool of_some;		/* sql_moments_known */
};

struct sql_words {
	struct sql_word list[SQL_WORDS_MAX];
	unsigned count;
};

/* A model of what filters select, and what is made of it. */
struct sql_view {
	char *key;			/* filters, and keys of blocks */
	struct filter *filter;		/* the command's, and the statement's */
	struct notes notes;		/* of the model, as long as that */
	struct model *model;
	struct stack_filter *keeps;	/* NULL: no words about stacks */
	struct profile *profile;	/* NULL: not asked for yet */
	struct frames own;		/* where those of the trace do not fit */
	struct frames *frames;
	uint64_t used;			/* when it was asked for last */
	struct sql_trace *trace;
	unsigned in_use;		/* cursors that look at it */
};

/* What the stacks of a trace consist of, once somebody asks. */
struct sql_stacks {
	struct frame_table frames;
	uint32_t *nodes;		/* contexts that allocated, ascending */
	size_t count;
	uint64_t *first;		/* of each, in `numbers`; and the end */
	uint32_t *numbers;		/* of frames, innermost first */
	size_t number_count, number_capacity;
};

struct sql_trace {
	unsigned number;
	const char *path;
	struct notes notes;		/* of the outline: */
	size_t said;			/* those that were told */
	struct model *outline;		/* all but figures of blocks */
	/* With these; with contexts' own peaks, too. NULL: not asked for */
	struct model *model, *with_peaks;
	struct notes model_notes;
	struct frames frames;
	uint32_t loaded;		/* node: of the frames' list, if */
	bool has_loaded;
	struct query_process process;
	uint64_t end_ns;
	struct sql_view *views[SQL_VIEWS_MAX];	/* NULL: none */
	uint64_t uses;
	struct sql_stacks *stacks;	/* NULL: not asked for yet;
					 * without `first`: only nodes were */
	/* The same, with what was mapped, and by whom; without the latter */
	struct model *maps, *paths;
	/* for sql_store.h */
	struct store *store;		/* NULL: not asked for yet */
	unsigned store_uses;		/* cursors that look at it */
	bool store_bad;			/* it is of no use any more */
	bool no_index;			/* none can be made, which was said */
	struct intern lacked;		/* names of moments; they were told */
	const struct reading *reading;
	int *status;			/* of all traces */
	const atomic_bool *cancel;	/* the session's */
};

struct sql_traces {
	struct reading *reading;
	struct sql_trace *list;
	size_t count;
	atomic_bool cancel;	/* what runs is to end */
	int status;		/* EXIT_PARTIAL: some were damaged, or missing */
};

/* A number that no other trace has. */
static inline uint64_t sql_id(const struct sql_trace *trace, uint32_t number)
{
	return (uint64_t)(trace->number - 1) << 32 | number;
}

/* Read all traces that were found; false: none could be read, which was said.
 * `reading` is borrowed. To be closed in any case. */
bool sql_traces_open(struct sql_traces *traces, struct reading *reading);
void sql_traces_close(struct sql_traces *traces);
/* The trace of a number that sql_id made; NULL: there is none. */
struct sql_trace *sql_trace_of(const struct sql_traces *traces, uint64_t id);

/* Whether the command line has this filter; then no statement may. */
bool sql_trace_has_word(const struct sql_trace *trace, enum filter_id id);
/* A filter of the command's words and of these; NULL: they make no sense, and
 * `why` says so. To be freed. */
struct filter *sql_trace_filter(const struct sql_trace *trace,
				const struct sql_words *words,
				struct buffer *why);
/* What the command's filters select: a pass over the trace, once. Contexts may
 * lack their own peaks: sql_trace_own_peaks has them, and the same contexts. */
struct model *sql_trace_model(struct sql_trace *trace);
struct model *sql_trace_own_peaks(struct sql_trace *trace);
/* The names of its stacks. */
struct frames *sql_trace_frames(struct sql_trace *trace);
/*
 * The view of these words, with figures kept apart by the keys of the query
 * that are of blocks; without what the query spares.
 * NULL: the words make no sense, and `why` says so. It stays until
 * sql_view_release.
 */
struct sql_view *sql_view_of(struct sql_trace *trace,
			     const struct sql_words *words,
			     const struct query *query, struct buffer *why);
void sql_view_release(struct sql_view *view);
/* The frames of its contexts, ready to be asked; until another view is. */
struct frames *sql_view_frames(struct sql_view *view);
/* Its profile, which knows the self of each cost. */
struct profile *sql_view_profile(struct sql_view *view);

/* The contexts that allocated; and with their frames and stacks. */
const struct sql_stacks *sql_trace_nodes(struct sql_trace *trace);
const struct sql_stacks *sql_trace_stacks(struct sql_trace *trace);
/* A model that knows what was mapped when, and its path. */
const struct model *sql_trace_paths(struct sql_trace *trace);
/* And by whom, which takes a pass over all events where no index has it. */
const struct model *sql_trace_maps(struct sql_trace *trace);

void sql_words_free(struct sql_words *words);

/* ---- between sql_trace.c and sql_view.c ---- */

/* By rows of the index, or else by passes over the events. Returns what
 * model_read does; *model may have read nothing. */
int sql_trace_read(struct sql_trace *trace, const struct model_options *options,
		   const struct block_keys *keys,
		   const struct rows_wanted *wanted, struct model **model);
/* What the outline had to say is not said again. */
bool sql_trace_was_said(const struct sql_trace *trace,
			const struct note *note);
void sql_trace_tell(const struct note *note);
void sql_view_free(struct sql_trace *trace, struct sql_view *view);

#endif
