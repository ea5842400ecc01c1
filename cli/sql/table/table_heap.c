/*
 * table_heap.c: the tables `heaps`, custom heaps of the program, and `tuning`,
 * calls that tune the C library's allocator.
 */
#include "cli/model/core/pools.h"
#include "cli/model/core/threads.h"
#include "cli/model/core/tuning.h"
#include "cli/sql/sql_tables.h"

/* ---- heaps ---- */

enum { HEAP = 1, NAME, ALLOCATIONS, BYTES, FREES, LIVE, LIVE_BLOCKS, PEAK,
       PEAK_BLOCKS, PEAK_NS };

static const struct sql_column heap_own[] = {
	{ "number", SQL_INTEGER, .help = "the program's number for the heap; 0 "
	  "is malloc, whose measures are in processes" },
	{ "heap", SQL_TEXT, .help = "name of the heap" },
	{ "allocations", SQL_INTEGER, .help = "number of its allocations" },
	{ "total_bytes", SQL_INTEGER, .help = "bytes of its allocations" },
	{ "frees", SQL_INTEGER, .help = "number of its frees" },
	{ "live_bytes", SQL_INTEGER, .help = "live bytes at the end" },
	{ "live_blocks", SQL_INTEGER, .help = "live blocks at the end" },
	{ "peak_bytes", SQL_INTEGER, .help = "most live bytes at any time" },
	{ "peak_blocks", SQL_INTEGER, .help = "live blocks at that peak" },
	{ "peak_ns", SQL_INTEGER, .help = "time of that peak" },
};

static const struct sql_column *heaps_columns(unsigned *count)
{
	*count = sizeof(heap_own) / sizeof(heap_own[0]);
	return heap_own;
}

static bool heaps_begin(struct sql_cursor *cursor, struct buffer *why)
{
	(void)why;
	cursor->row = 0;
	cursor->end = model_pools(sql_trace_model(cursor->trace))->count;
	return true;
}

static void put_heap_figure(const struct model *model,
			    const struct totals *figures, unsigned column,
			    sqlite3_context *to)
{
	switch (column) {
	case ALLOCATIONS:
		sql_number(to, figures->allocations);
		break;
	case BYTES:
		sql_number(to, figures->total_bytes);
		break;
	case FREES:
		sql_number(to, figures->frees);
		break;
	case LIVE:
		sql_number(to, figures->live_bytes);
		break;
	case LIVE_BLOCKS:
		sql_number(to, figures->live_blocks);
		break;
	case PEAK:
		sql_number(to, figures->peak_bytes);
		break;
	case PEAK_BLOCKS:
		sql_number(to, figures->peak_blocks);
		break;
	case PEAK_NS:
		sql_number(to, model_since_start_ns(model,
						    figures->peak_stamp));
		break;
	}
}

static void heaps_value(struct sql_cursor *cursor, unsigned column,
			sqlite3_context *to)
{
	const struct model *model = cursor->trace->model;
	const struct pools *pools = model_pools(model);

	if (column == HEAP)
		sql_number(to, cursor->row);
	else if (column == NAME)
		sql_text(to, pools_name_of(pools, (uint32_t)cursor->row));
	else if (cursor->row > 0)
		put_heap_figure(model, &pools->list[cursor->row].figures,
				column, to);
}

const struct sql_table sql_table_heaps = {
	.name = "heaps",
	.help = "custom heaps of the program; no rows if there are none",
	.columns = heaps_columns,
	.begin = heaps_begin,
	.value = heaps_value,
	.rows = 10,
};

/* ---- tuning ---- */

enum { TIME = 1, FUNCTION, THREAD, CONTEXT, PARAMETER, VALUE, RESULT };

static const struct sql_column tuning_own[] = {
	{ "time_ns", SQL_INTEGER, .help = "since the start of the "
	  "recording" },
	{ "called", SQL_TEXT, .help = "called function: mallopt or "
				      "malloc_trim" },
	{ "thread", SQL_INTEGER, .help = "calling thread" },
	{ "context", SQL_INTEGER, .help = "call stack of the call" },
	{ "parameter", SQL_TEXT, .help = "name of mallopt's parameter, or its "
	  "number if it has no name" },
	{ "value", SQL_INTEGER, .help = "mallopt's value; for malloc_trim, the "
	  "bytes to keep" },
	{ "result", SQL_INTEGER, .help = "return value" },
};

static const struct sql_column *tuning_columns(unsigned *count)
{
	*count = sizeof(tuning_own) / sizeof(tuning_own[0]);
	return tuning_own;
}

static bool tuning_begin(struct sql_cursor *cursor, struct buffer *why)
{
	(void)why;
	cursor->row = 0;
	cursor->end = model_tuning(cursor->trace->outline)->call_count;
	return true;
}

static void put_parameter(const struct tuning_call *call, sqlite3_context *to)
{
	const char *name = tuning_parameter(call->parameter);
	LOCAL_BUFFER number = { 0 };

	if (call->what == GT_EXTRA_TRIM)
		return;
	buffer_printf(&number, "%d", call->parameter);
	sql_text(to, name != NULL ? name : number.data);
}

static void tuning_value(struct sql_cursor *cursor, unsigned column,
			 sqlite3_context *to)
{
	const struct model *model = cursor->trace->outline;
	const struct tuning_call *call =
		&model_tuning(model)->calls[cursor->row];

	switch (column) {
	case TIME:
		sql_number(to, model_since_start_ns(model, call->stamp));
		break;
	case FUNCTION:
		sql_text(to, tuning_function(call));
		break;
	case THREAD:
		sql_number(to, model_thread(model, call->thread)->tid);
		break;
	case CONTEXT:
		sql_number(to, sql_id(cursor->trace, call->node));
		break;
	case PARAMETER:
		put_parameter(call, to);
		break;
	case VALUE:
		if (call->what == GT_EXTRA_TRIM)
			sql_number(to, call->pad);
		else
			sqlite3_result_int(to, call->value);
		break;
	case RESULT:
		sqlite3_result_int(to, call->result);
		break;
	}
}

const struct sql_table sql_table_tuning = {
	.name = "tuning",
	.help = "calls of mallopt and malloc_trim",
	.columns = tuning_columns,
	.begin = tuning_begin,
	.value = tuning_value,
	.rows = 100,
};
