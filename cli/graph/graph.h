/*
 * graph.h: figures over time as a graph: several series on one axis, and what
 * writes them.
 *
 * Of one trace they are the first rows of a query, all others in sum, and
 * beside them the whole; of several, the whole of each.
 *
 *  I1  A series has axis.steps steps, of which [from, to) lie in the time of
 *      its recording: beyond there is nothing to tell, and all figures are 0.
 *  I2  Where adds_up is set, series have no blocks in common, and are of one
 *      time: what they tell, but for peaks, adds up to what all have then.
 * Called by the main thread.
 */
#ifndef GNOMON_GRAPH_H
#define GNOMON_GRAPH_H

#include "cli/command/export.h"
#include "cli/query/series.h"

enum graph_of {
	GRAPH_ROW,
	GRAPH_OTHERS,		/* comes last */
	GRAPH_TRACE
};

struct graph_series {
	char *name;		/* a line */
	enum graph_of of;
	size_t from, to;
	struct series_step *steps;
};

struct graph {
	struct buffer title;	/* which trace, or traces */
	struct buffer about;	/* what of them, whichever cost: "by file" */
	enum figure cost;
	bool adds_up, stacked;
	struct coverage coverage;	/* of all traces */
	struct series_axis axis;
	struct graph_series *list;
	size_t count, capacity;
	struct series_step *whole;	/* NULL: of several traces */
};

/* How what is asked of one trace is told. */
struct graph_wanted {
	size_t steps;
	bool full_names;
};

/* Fills in all but the title, the coverage, the cost, adds_up and stacked, of
 * as many series
 * beside the others as the query has rows. Returns what series_follow does. */
int graph_gather(struct graph *graph, const struct query *query,
		 const struct graph_wanted *wanted,
		 const struct query_source *source);

/* When a recording was. */
struct graph_time {
	uint64_t start_ns;	/* since 1970; 0: not known. Once there is an
				 * axis: on it */
	uint64_t duration_ns;
};
/*
 * The axis of several recordings: the clock, if they are near each other, or
 * else each from its own start. Sets adds_up.
 */
void graph_set_axis(struct graph *graph, struct graph_time *times,
		    size_t count, size_t steps);
/* One more trace: its whole, of what the query asks for. Returns what
 * series_follow does. */
int graph_add_trace(struct graph *graph, const struct query *query,
		    const struct query_source *source,
		    const struct graph_time *time);
/* Whether areas can stand upon each other. */
bool graph_can_stack(const struct graph *graph);
/* What the figures mean: "bytes live". */
const char *graph_meaning(enum figure cost);
void graph_free(struct graph *graph);

/* ---- what writes it ---- */

void graph_svg(const struct graph *graph, FILE *out);
void graph_html(const struct graph *graph, FILE *out);
/* Series by series, a line for each step. RFC 4180, UTF-8. */
void graph_csv(const struct graph *graph, FILE *out);
/* One object, which is in the page, too (cli/page/graph_data.ts); each figure
 * of a series is an array. */
void graph_json(const struct graph *graph, FILE *out);

/* What mk/page.mk made of cli/page/ (graph_pages.c); each ends with a NUL. */
extern const char graph_page_html[];
extern const char graph_page_html_css[];
extern const char graph_page_html_js[];
extern const char graph_page_svg_css[];

#endif
