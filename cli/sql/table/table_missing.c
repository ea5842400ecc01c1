/*
 * table_missing.c: the tables `left_out`, blocks that have only sums, and
 * `losses`, what is missing from a trace.
 */
#include <stdlib.h>

#include "cli/base/grow.h"
#include "cli/model/core/contexts.h"
#include "cli/model/core/threads.h"
#include "cli/model/coverage.h"
#include "cli/model/omitted.h"
#include "cli/sql/sql_tables.h"

/* ---- left_out ---- */

enum { CONTEXT = 1, THREAD, ALLOCATIONS, BYTES, FREES, FREED_BYTES, TEMPORARY,
       LIFETIME };

static const struct sql_column left_own[] = {
	{ "context", SQL_INTEGER, .help = "allocating call stack" },
	{ "thread", SQL_INTEGER, .help = "allocating thread; NULL: all, or "
	  "unknown" },
	{ "allocations", SQL_INTEGER, .help = "allocations left out" },
	{ "total_bytes", SQL_INTEGER, .help = "bytes of these allocations" },
	{ "frees", SQL_INTEGER, .help = "frees of these blocks" },
	{ "freed_bytes", SQL_INTEGER, .help = "bytes freed" },
	{ "temporary", SQL_INTEGER, .help = "temporary blocks among them" },
	{ "lifetime_ns", SQL_INTEGER, .help =
	  "sum of the lifetimes of the freed blocks" },
};

static const struct sql_column *left_columns(unsigned *count)
{
	*count = sizeof(left_own) / sizeof(left_own[0]);
	return left_own;
}

/* Models with filters do not count them. */
static size_t rows_of(const struct sql_cursor *cursor,
		      const struct trace_totals **rows)
{
	const struct omitted *omitted =
		model_leftout(sql_trace_model(cursor->trace));

	*rows = omitted->rows;
	return omitted->row_count;
}

/* Advance to the first row from `row` on that counts blocks: other rows hold a
 * context's own peak. */
static void left_pass(struct sql_cursor *cursor, uint64_t row)
{
	const struct trace_totals *rows;

	cursor->end = rows_of(cursor, &rows);
	while (row < cursor->end &&
	       rows[row].value[GT_TOTALS_ALLOCATIONS] == 0)
		row++;
	cursor->row = row;
}

static bool left_begin(struct sql_cursor *cursor, struct buffer *why)
{
	(void)why;
	left_pass(cursor, 0);
	return true;
}

static bool left_next(struct sql_cursor *cursor, struct buffer *why)
{
	(void)why;
	left_pass(cursor, cursor->row);
	return true;
}

static void put_thread(const struct model *model, uint32_t number,
		       sqlite3_context *to)
{
	uint32_t thread = threads_by_number(model_threads(model), number);

	if (thread != 0)
		sql_number(to, model_thread(model, thread)->tid);
}

static void left_value(struct sql_cursor *cursor, unsigned column,
		       sqlite3_context *to)
{
	static const unsigned values[] = {
		[ALLOCATIONS] = GT_TOTALS_ALLOCATIONS,
		[BYTES] = GT_TOTALS_BYTES, [FREES] = GT_TOTALS_FREES,
		[FREED_BYTES] = GT_TOTALS_FREED_BYTES,
		[TEMPORARY] = GT_TOTALS_TEMPORARY,
	};
	struct model *model = cursor->trace->model;
	const struct trace_totals *row;

	rows_of(cursor, &row);
	row += cursor->row;
	if (column == CONTEXT)
		sql_number(to, sql_id(cursor->trace,
				      model_node(model, row->context)));
	else if (column == THREAD)
		put_thread(model, row->thread, to);
	else if (column == LIFETIME)
		sql_number(to, model_span_ns(model,
					     row->value[GT_TOTALS_LIFETIME]));
	else
		sql_number(to, row->value[values[column]]);
}

const struct sql_table sql_table_left_out = {
	.name = "left_out",
	.help = "sums over blocks left out of a trace (--cull, gnomon strip), "
		"by call stack and thread",
	.columns = left_columns,
	.begin = left_begin,
	.next = left_next,
	.value = left_value,
	.rows = 1000,
};

/* ---- losses ---- */

enum { WHAT = 1, COUNT, LOSS_BYTES, HELP };

static const struct sql_column loss_own[] = {
	{ "what", SQL_TEXT, .help = "kind of loss" },
	{ "count", SQL_INTEGER, .help = "number; 0: none" },
	{ "bytes", SQL_INTEGER, .help = "bytes; NULL: unknown" },
	{ "meaning", SQL_TEXT, .help = "description" },
};

static const struct sql_column *losses_columns(unsigned *count)
{
	*count = sizeof(loss_own) / sizeof(loss_own[0]);
	return loss_own;
}

struct loss {
	const char *what, *meaning;
	uint64_t count, bytes;
	bool has_bytes;
};

#define LOSSES 8

/* With the command's filters. */
static bool find_coverage(const struct sql_cursor *cursor, struct coverage *c,
			  struct buffer *why)
{
	const struct query query = {
		.temporary = cursor->trace->args->query.temporary,
		.spares = QUERY_SPARES_OWN_PEAKS | QUERY_SPARES_SIZES |
			  QUERY_SPARES_BLOCKS,
	};
	struct sql_view *view = sql_cursor_view(cursor, &query, why);

	if (view == NULL)
		return false;
	coverage_of(view->model, NULL, NULL, c);
	sql_view_release(view);
	return true;
}

static bool losses_begin(struct sql_cursor *cursor, struct buffer *why)
{
	struct loss *losses;
	struct coverage c;

	if (!find_coverage(cursor, &c, why))
		return false;
	losses = grow_zeroed(LOSSES, sizeof(*losses));
	losses[0] = (struct loss){ "left_out", "blocks that have only sums",
		c.left_out.allocations, c.left_out.bytes, true };
	losses[1] = (struct loss){ "unrecorded", "allocations only counted, as "
		"requested", c.unrecorded.allocations, c.unrecorded.bytes,
		true };
	losses[2] = (struct loss){ "dropped", "events missing from the trace",
		c.dropped, 0, false };
	losses[3] = (struct loss){ "damaged", "damaged parts of the trace",
		c.damaged, c.lost_bytes, true };
	losses[4] = (struct loss){ "lost_ends", "blocks whose end was not "
		"recorded", c.lost_ends, 0, false };
	losses[5] = (struct loss){ "unpaired", "events without their "
		"counterpart", c.unpaired, 0, false };
	losses[6] = (struct loss){ "foreign_frees", "frees of blocks allocated "
		"before the recording, or not recorded", c.foreign_frees, 0,
		false };
	losses[7] = (struct loss){ "undecidable", "allocations for which the "
		"command's filters cannot be decided",
		c.undecidable.allocations, c.undecidable.bytes, true };
	cursor->state = losses;
	cursor->row = 0;
	cursor->end = LOSSES;
	return true;
}

static void losses_finish(struct sql_cursor *cursor)
{
	free(cursor->state);
}

static void losses_value(struct sql_cursor *cursor, unsigned column,
			 sqlite3_context *to)
{
	const struct loss *loss = (struct loss *)cursor->state + cursor->row;

	switch (column) {
	case WHAT:
		sql_text(to, loss->what);
		break;
	case COUNT:
		sql_number(to, loss->count);
		break;
	case LOSS_BYTES:
		if (loss->has_bytes)
			sql_number(to, loss->bytes);
		break;
	case HELP:
		sql_text(to, loss->meaning);
		break;
	}
}

const struct sql_table sql_table_losses = {
	.name = "losses",
	.help = "what is missing from each trace: one row for each kind",
	.columns = losses_columns,
	.begin = losses_begin,
	.finish = losses_finish,
	.value = losses_value,
	.rows = LOSSES,
};
