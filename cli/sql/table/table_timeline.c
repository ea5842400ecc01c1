/*
 * table_timeline.c: the table `timeline`: live, allocated and freed memory of
 * the selected blocks in equal time steps (cli/query/series.h).
 */
#include <stdlib.h>

#include "cli/base/grow.h"
#include "cli/model/stats/footprint.h"
#include "cli/query/series.h"
#include "cli/sql/sql_tables.h"

#define DEFAULT_STEPS 100

enum { STEP = 1, STEPS, BEGIN, END, RSS, FIGURES };

static const struct sql_column own[] = {
	{ "step", SQL_INTEGER, .help = "number of the step, from 0" },
	{ "steps", SQL_INTEGER, .hidden = true, .equal = true, .help =
	  "number of steps: WHERE steps = 500; default 100" },
	{ "begin_ns", SQL_INTEGER, .help = "start of the step, since the start "
	  "of the recording" },
	{ "end_ns", SQL_INTEGER, .help = "end of the step" },
	{ "rss_bytes", SQL_INTEGER, .help = "most resident memory in this "
	  "step, or the last value before it; NULL: unknown" },
	{ "live_bytes", SQL_INTEGER, .help =
	  "live bytes at the end of the step" },
	{ "live_blocks", SQL_INTEGER, .help =
	  "live blocks at the end of the step" },
	{ "live_bytes_max", SQL_INTEGER, .help =
	  "most live bytes within the step" },
	{ "allocations", SQL_INTEGER, .help = "allocations within the step" },
	{ "allocated_bytes", SQL_INTEGER, .help =
	  "bytes allocated within the step" },
	{ "frees", SQL_INTEGER, .help = "frees within the step" },
	{ "freed_bytes", SQL_INTEGER, .help = "bytes freed within the step" },
	{ "temporary", SQL_INTEGER, .help = "temporary blocks among the "
					    "frees" },
};

struct steps {
	struct query query;
	struct query_source source;
	struct query_rows rows;
	struct series series;
	struct sql_view *view;
	uint64_t *rss;		/* by step */
};

static const struct sql_column *timeline_columns(unsigned *count)
{
	*count = sizeof(own) / sizeof(own[0]);
	return own;
}

static bool choose_steps(const struct sql_cursor *cursor, uint64_t *steps,
			 struct buffer *why)
{
	const struct sql_term *term = sql_cursor_term(
		cursor, STEPS, SQLITE_INDEX_CONSTRAINT_EQ);

	*steps = DEFAULT_STEPS;
	if (term == NULL)
		return true;
	if (!term->is_number || term->number < 1 ||
	    term->number > SERIES_STEPS_MAX) {
		buffer_printf(why, "steps must be a number from 1 to %d",
			      SERIES_STEPS_MAX);
		return false;
	}
	*steps = (uint64_t)term->number;
	return true;
}

/* Points are in order of time. */
static void find_rss(struct steps *steps, const struct model *model)
{
	const struct footprint *f = model_footprint(model);
	size_t point = 0, count = steps->series.axis.steps;
	uint64_t before = 0;

	steps->rss = grow_zeroed(count, sizeof(*steps->rss));
	for (size_t i = 0; i < count; i++) {
		uint64_t end = series_begin_ns(&steps->series.axis, i + 1);
		uint64_t max = 0;

		for (; point < f->point_count &&
		       (model_since_start_ns(model, f->points[point].stamp) <
			end || i + 1 == count); point++) {
			before = footprint_value(&f->points[point],
						 GT_USAGE_RSS);
			if (before > max)
				max = before;
		}
		steps->rss[i] = max > 0 ? max : before;
	}
}

static bool follow(struct sql_cursor *cursor, struct steps *steps,
		   uint64_t count, struct buffer *why)
{
	struct sql_trace *trace = cursor->trace;
	struct sql_view *view = steps->view;
	const struct series_axis axis = {
		.end_ns = trace->end_ns, .steps = (size_t)count,
	};

	steps->query.filter = view->filter;
	if (query_is_of_moment(&steps->query)) {
		buffer_string(why, "alive_at selects one moment, but timeline "
			      "needs a span of time: remove alive_at");
		return false;
	}
	steps->source = (struct query_source){
		.model = view->model, .frames = sql_view_frames(view),
		.trace = trace->path, .end_ns = trace->end_ns,
		.processes = &trace->process,
		.keep = view->keeps ? stack_filter_keeps : NULL,
		.keeper = view->keeps,
	};
	query_rows_collect(&steps->query, &steps->source, &steps->rows);
	if (series_follow(&steps->rows, 0, &axis, &steps->series) !=
	    EXIT_NOTHING)
		return true;
	buffer_printf(why, "%s: cannot read the trace a second time",
		      trace->path);
	return false;
}

/* The series finds the maxima within steps itself. */
static struct sql_view *find_view(const struct sql_cursor *cursor,
				  const struct query *query,
				  struct buffer *why)
{
	struct query selecting = *query;

	selecting.spares = QUERY_SPARES_OWN_PEAKS | QUERY_SPARES_SIZES |
			   QUERY_SPARES_WHOLE | QUERY_SPARES_BLOCKS;
	return sql_cursor_view(cursor, &selecting, why);
}

static bool timeline_begin(struct sql_cursor *cursor, struct buffer *why)
{
	const struct query *given = &cursor->trace->args->query;
	struct steps *steps = grow_zeroed(1, sizeof(*steps));
	uint64_t count;

	cursor->state = steps;
	if (!choose_steps(cursor, &count, why))
		return false;
	steps->query.temporary = given->temporary;
	steps->query.groups_max = QUERY_GROUPS_MAX;
	steps->query.keys[0] = query_key_stack();
	steps->query.key_count = 1;
	steps->query.limit = 1;
	steps->view = find_view(cursor, &steps->query, why);
	if (steps->view == NULL || !follow(cursor, steps, count, why))
		return false;
	find_rss(steps, cursor->trace->outline);
	cursor->row = 0;
	cursor->end = count;
	return true;
}

static void timeline_finish(struct sql_cursor *cursor)
{
	struct steps *steps = cursor->state;

	series_free(&steps->series);
	if (steps->rows.query != NULL)
		query_rows_free(&steps->rows);
	if (steps->view != NULL)
		sql_view_release(steps->view);
	free(steps->rss);
	free(steps);
}

/* Selects the n-th measure. */
struct choosing {
	unsigned n;
	uint64_t value;
};

static void choose(void *owner, const char *name, uint64_t value)
{
	struct choosing *choosing = owner;

	(void)name;
	if (choosing->n-- == 0)
		choosing->value = value;
}

static void timeline_value(struct sql_cursor *cursor, unsigned column,
			   sqlite3_context *to)
{
	const struct steps *steps = cursor->state;
	const struct series_axis *axis = &steps->series.axis;
	struct choosing choosing = { .n = column - FIGURES };
	size_t step = (size_t)cursor->row;

	switch (column) {
	case STEP:
		sql_number(to, step);
		break;
	case STEPS:
		sql_number(to, axis->steps);
		break;
	case BEGIN:
		sql_number(to, series_begin_ns(axis, step));
		break;
	case END:
		sql_number(to, series_begin_ns(axis, step + 1));
		break;
	case RSS:
		if (steps->rss[step] > 0)
			sql_number(to, steps->rss[step]);
		break;
	default:
		series_each(&series_whole(&steps->series)[step], choose,
			    &choosing);
		sql_number(to, choosing.value);
	}
}

const struct sql_table sql_table_timeline = {
	.name = "timeline",
	.help = "live, allocated and freed memory in equal time steps",
	.columns = timeline_columns,
	.filters = true,
	.begin = timeline_begin,
	.finish = timeline_finish,
	.value = timeline_value,
	.rows = DEFAULT_STEPS,
};
