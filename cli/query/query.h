/*
 * query.h: a question to a trace, as one value: which allocations, grouped by
 * what, which figures of them, in which order, how many rows. Options of
 * commands become one; how a trace is read for it follows from it alone.
 */
#ifndef GNOMON_QUERY_H
#define GNOMON_QUERY_H

#include "cli/model/filters.h"
#include "cli/model/model.h"
#include "cli/model/rows/rows_answer.h"
#include "cli/model/stats/figures.h"
#include "cli/query/keys.h"

/* What the command does not look at: it need not be found out, where that takes
 * time of its own (rows of an index). Own peaks are there if they order. */
enum query_spare {
	QUERY_SPARES_OWN_PEAKS = 1,	/* nor the most within a step */
	QUERY_SPARES_SIZES = 2,		/* model_histograms of the whole run */
	QUERY_SPARES_WHOLE = 4,		/* model_totals_of_all, model_pools */
	QUERY_SPARES_BLOCKS = 8,	/* model_next_block */
	QUERY_SPARES_STACKS = 16	/* which stacks blocks are of: an index
					 * need not tell them apart */
};

#define QUERY_KEYS_MAX 4
/* Of groups_max, where nobody says otherwise. */
#define QUERY_GROUPS_MAX 4000000

struct query {
	/* Which allocations. Views are a part of it: what is too late has not
	 * happened, what is too early is foreign. */
	const struct filter *filter;	/* NULL: all. Borrowed */
	uint64_t begin_ns, until_ns;	/* as struct model_options has them, */
	uint64_t temporary;		/* and this: what a fate means */
	/* In which groups. */
	const struct query_key *keys[QUERY_KEYS_MAX];
	unsigned key_count;
	uint64_t groups_max;	/* as struct model_options has it */
	/* Which figures of them. */
	unsigned wants;		/* enum model_want: not in all of them */
	bool all_figures;	/* of each row, not only what orders them */
	unsigned spares;	/* enum query_spare */
	bool over_time;		/* and its rows over time: series.h */
	bool at_snapshots;	/* what was live then: residency.h */
	/* In which order, and how many. */
	enum figure order;
	uint64_t limit;		/* rows; 0: all */
};

/* Of what the answer is made. Borrowed. */
struct query_source {
	struct model *model;		/* NULL: of several traces */
	struct frames *frames;		/* of the model */
	struct profile *profile;	/* NULL: not needed (query_needs_profile) */
	const char *trace;		/* for a second pass; NULL: none */
	uint64_t end_ns;		/* of the recording */
	/* By side of the profile; of one trace alone, the first. */
	const struct query_process *processes;
	/* Which contexts count; NULL: all. */
	bool (*keep)(void *owner, uint32_t node,
		     const struct figures *figures);
	void *keeper;
};

/*
 * Keys by their names, "library,thread". False: it makes no sense, and `why`
 * gets a sentence that says so.
 */
bool query_parse_keys(struct query *query, const char *names,
		      struct buffer *why);
/* The names again. */
void query_key_names(const struct query *query, struct buffer *names);
bool query_has(const struct query *query, enum query_of of);
bool query_has_block_key(const struct query *query, enum block_key key);
/* Is it the only key? */
bool query_is(const struct query *query, enum query_of of);
/* The one that is inclusive, or NULL. */
const struct query_key *query_inclusive(const struct query *query);
/* The keys that the model is to keep figures apart by. */
void query_block_keys(const struct query *query, struct block_keys *keys);
/* How the model is to read a trace for it, but for what its notes are. */
struct model_options query_model_options(const struct query *query);
/* What is looked at, for rows_read. */
struct rows_wanted query_rows_wanted(const struct query *query);
/* Whether live means at a moment (--alive-at). */
bool query_is_of_moment(const struct query *query);
/* Values that only normalised stacks have. */
bool query_needs_profile(const struct query *query);
/* "stack", "sites", "groups". */
const char *query_noun(const struct query *query, uint64_t count);

#endif
