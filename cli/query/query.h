/*
 * query.h: a query about a trace: which allocations, grouped by which keys,
 * which measures, in which order, how many rows. Options of commands become a
 * query; it alone determines how the trace is read.
 */
#ifndef GNOMON_QUERY_H
#define GNOMON_QUERY_H

#include "cli/model/filters.h"
#include "cli/model/model.h"
#include "cli/model/index/index_answer.h"
#include "cli/model/stats/figures.h"
#include "cli/query/keys.h"

/* Results that the command does not use, so they need not be computed if that
 * takes extra time (rows of an index). Own peaks are computed anyway if rows
 * are sorted by them. */
enum query_spare {
	QUERY_SPARES_OWN_PEAKS = 1,	/* also maxima within steps */
	QUERY_SPARES_SIZES = 2,		/* model_histograms of the whole run */
	QUERY_SPARES_WHOLE = 4,		/* model_totals_of_all, model_pools */
	QUERY_SPARES_BLOCKS = 8,	/* model_next_block */
	QUERY_SPARES_STACKS = 16	/* the stack of each block: an index
					 * need not distinguish them */
};

#define QUERY_KEYS_MAX 4
/* Default of groups_max. */
#define QUERY_GROUPS_MAX 4000000

struct query {
	/* Which allocations. With a view, later events have not happened yet,
	 * and earlier blocks are foreign. */
	const struct filter *filter;	/* NULL: all. Borrowed */
	uint64_t begin_ns, until_ns;	/* as in struct model_options */
	uint64_t temporary;		/* the same; defines a fate */
	/* Grouped by. */
	const struct query_key *keys[QUERY_KEYS_MAX];
	unsigned key_count;
	uint64_t groups_max;	/* as in struct model_options */
	/* Which measures. */
	unsigned wants;		/* enum model_want: extra results */
	bool all_figures;	/* of each row, not only the sort key */
	unsigned spares;	/* enum query_spare */
	bool over_time;		/* also rows over time: series.h */
	bool at_snapshots;	/* also live memory then: residency.h */
	/* Order and limit. */
	enum measure order;
	uint64_t limit;		/* rows; 0: all */
};

/* The data that answers a query. Borrowed. */
struct query_source {
	struct model *model;		/* NULL: several traces */
	struct frames *frames;		/* of the model */
	struct profile *profile;	/* NULL: not needed (query_needs_profile) */
	const char *trace;		/* for a second pass; NULL: none */
	uint64_t end_ns;		/* of the recording */
	/* By side of the profile; for one trace, only the first. */
	const struct query_process *processes;
	/* The stack filter of contexts; NULL: all pass. */
	bool (*keep)(void *owner, uint32_t node,
		     const struct figures *figures);
	void *keeper;
};

/*
 * Parses names of keys, "library,thread". False: they are invalid, and `why`
 * gets a sentence about it.
 */
bool query_parse_keys(struct query *query, const char *names,
		      struct buffer *why);
/* The names of the keys, in the same form. */
void query_key_names(const struct query *query, struct buffer *names);
bool query_has(const struct query *query, enum query_of of);
bool query_has_block_key(const struct query *query, enum block_key key);
/* Whether it is the only key. */
bool query_is(const struct query *query, enum query_of of);
/* The inclusive key, or NULL. */
const struct query_key *query_inclusive(const struct query *query);
/* The keys by which the model must keep separate measures. */
void query_block_keys(const struct query *query, struct block_keys *keys);
/* How the model must read a trace for the query, except its notes. */
struct model_options query_model_options(const struct query *query);
/* The results that are used, for index_read. */
struct index_wanted query_rows_wanted(const struct query *query);
/* Whether live means live at a moment (--alive-at). */
bool query_is_of_moment(const struct query *query);
/* Whether the keys need normalised stacks. */
bool query_needs_profile(const struct query *query);
/* "stack", "sites", "groups". */
const char *query_noun(const struct query *query, uint64_t count);

#endif
