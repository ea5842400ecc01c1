/*
 * graph.h: measures over time as a graph: several series on one axis, and its
 * writers.
 *
 * Of one trace, the series are the first rows of a query, the sum of all other
 * rows, and the total. Of several traces, the series are the total of each.
 *
 *  I1  A series has axis.steps steps, of which [from, to) lie within its
 *      recording. All values outside are 0 and mean nothing.
 *  I2  If adds_up is set, the series share no blocks and have the same time
 *      axis: their values, except peaks, add up to the total.
 */
#ifndef GNOMON_GRAPH_H
#define GNOMON_GRAPH_H

#include "cli/command/export.h"
#include "cli/query/series.h"

enum graph_kind {
	GRAPH_ROW,
	GRAPH_OTHERS,		/* always last */
	GRAPH_TRACE
};

struct graph_series {
	char *name;		/* one line of text */
	enum graph_kind of;
	size_t from, to;
	struct series_step *steps;
};

struct graph {
	struct buffer title;	/* names the trace or traces */
	struct buffer about;	/* what is grouped, for any cost: "by file" */
	enum measure cost;
	bool adds_up, stacked;
	struct coverage coverage;	/* of all traces */
	struct series_axis axis;
	struct graph_series *list;
	size_t count, capacity;
	struct series_step *whole;	/* total; NULL: several traces */
};

/* Options for a graph of one trace. */
struct graph_wanted {
	size_t steps;
	bool full_names;
};

/* Fill in all but the title, the coverage, the cost, adds_up and stacked. The
 * graph has as many series, besides "others", as the query has rows. Same
 * return value as series_follow. */
int graph_gather(struct graph *graph, const struct query *query,
		 const struct graph_wanted *wanted,
		 const struct query_source *source);

/* The time of a recording. */
struct graph_time {
	uint64_t start_ns;	/* since 1970; 0: unknown. After graph_set_axis:
				 * on the axis */
	uint64_t duration_ns;
};
/*
 * Set the axis for several recordings: wall-clock time if they are near each
 * other, else time since each one's start. Sets adds_up.
 */
void graph_set_axis(struct graph *graph, struct graph_time *times,
		    size_t count, size_t steps);
/* Add a trace: the total of what the query selects. Same return value as
 * series_follow. */
int graph_add_trace(struct graph *graph, const struct query *query,
		    const struct query_source *source,
		    const struct graph_time *time);
/* Whether areas can be stacked. */
bool graph_can_stack(const struct graph *graph);
/* The unit of the values: "bytes live". */
const char *graph_meaning(enum measure cost);
void graph_free(struct graph *graph);

/* ---- writers ---- */

void graph_svg(const struct graph *graph, FILE *out);
void graph_html(const struct graph *graph, FILE *out);
/* One line for each step, series by series. RFC 4180, UTF-8. */
void graph_csv(const struct graph *graph, FILE *out);
/* One object, also embedded in the page (cli/page/graph_data.ts). Each measure
 * of a series is an array. */
void graph_json(const struct graph *graph, FILE *out);

/* Made from cli/page/ by mk/page.mk (graph_pages.c); NUL-terminated. */
extern const char graph_page_html[];
extern const char graph_page_html_css[];
extern const char graph_page_html_js[];
extern const char graph_page_svg_css[];

#endif
