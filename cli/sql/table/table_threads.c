/*
 * table_threads.c: the tables `threads` and `processes`.
 */
#include "cli/base/text/quantity.h"
#include "cli/model/core/contexts.h"
#include "cli/model/core/threads.h"
#include "cli/model/coverage.h"
#include "cli/sql/sql_tables.h"
#include "cli/trace/read/reader.h"

/* ---- threads ---- */

enum { NUMBER = 1, TID, NAME, MAIN, START, END, CREATOR, ALLOCATIONS };

static const struct sql_column thread_own[] = {
	{ "number", SQL_INTEGER, .help = "number in order of appearance: the "
	  "kernel may reuse its ids" },
	{ "thread", SQL_INTEGER, .help = "kernel's id (tid)" },
	{ "name", SQL_TEXT, .help = "last name" },
	{ "main", SQL_INTEGER, .help = "1: main thread" },
	{ "start_ns", SQL_INTEGER, .help = "start, since the start of the "
	  "recording" },
	{ "end_ns", SQL_INTEGER, .help = "end, found by checks at intervals; "
	  "NULL: not found before the end of its process" },
	{ "creator", SQL_INTEGER, .help = "creating thread; NULL: unknown" },
	{ "allocations", SQL_INTEGER, .help =
	  "number of its allocations, regardless of filters" },
};

static const struct sql_column *threads_columns(unsigned *count)
{
	*count = sizeof(thread_own) / sizeof(thread_own[0]);
	return thread_own;
}

/* Outlines have no measures. */
static const struct model *who(const struct sql_cursor *cursor)
{
	return sql_uses(cursor->used, ALLOCATIONS) ?
		sql_trace_model(cursor->trace) : cursor->trace->outline;
}

/* Number 0 is unused. */
static bool threads_begin(struct sql_cursor *cursor, struct buffer *why)
{
	(void)why;
	cursor->row = 1;
	cursor->end = model_threads(who(cursor))->count;
	return true;
}

static void threads_value(struct sql_cursor *cursor, unsigned column,
			  sqlite3_context *to)
{
	const struct model *model = who(cursor);
	const struct threads *threads = model_threads(model);
	const struct thread *thread = &threads->list[cursor->row];

	switch (column) {
	case NUMBER:
		sql_number(to, cursor->row);
		break;
	case TID:
		sql_number(to, thread->tid);
		break;
	case NAME:
		sql_text(to, threads_name(thread));
		break;
	case MAIN:
		sql_number(to, (thread->flags & GT_THREAD_MAIN) != 0);
		break;
	case START:
		sql_number(to, model_since_start_ns(model,
						    threads_start(thread)));
		break;
	case END:
		if (thread->end != 0)
			sql_number(to, model_since_start_ns(model,
							    thread->end));
		break;
	case CREATOR:
		if (thread->creator != 0)
			sql_number(to, threads->list[thread->creator].tid);
		break;
	case ALLOCATIONS:
		sql_number(to, thread->allocations);
		break;
	}
}

const struct sql_table sql_table_threads = {
	.name = "threads",
	.help = "the threads of each process",
	.columns = threads_columns,
	.begin = threads_begin,
	.value = threads_value,
	.rows = 100,
};

/* ---- processes ---- */

enum { PID = 1, PARENT, PROGRAM, COMMAND, TRACE, REALTIME, DURATION, EXIT_TEXT,
       COMPLETE, SAMPLE, PEAK_NS, VIEW_ALLOCATIONS, VIEW_BYTES, VIEW_FREES,
       VIEW_LIVE, VIEW_LIVE_BLOCKS, VIEW_PEAK, VIEW_PEAK_BLOCKS };

static const struct sql_column process_own[] = {
	{ "pid", SQL_INTEGER, .help = "process id; NULL, here and below: "
				      "unknown" },
	{ "parent_pid", SQL_INTEGER, .help = "process id of the parent" },
	{ "program", SQL_TEXT, .help = "path of the program" },
	{ "command", SQL_TEXT, .help = "command line in shell syntax" },
	{ "trace", SQL_TEXT, .help = "path of the trace" },
	{ "start_realtime_ns", SQL_INTEGER, .help =
	  "start of the recording, since 1970" },
	{ "duration_ns", SQL_INTEGER, .help = "duration of the recording" },
	{ "exit", SQL_TEXT, .help = "how the process ended" },
	{ "complete", SQL_INTEGER, .help = "1: the trace is complete" },
	{ "sample_mean", SQL_INTEGER, .help =
	  "mean bytes between samples; 0: every block was recorded" },
	{ "peak_ns", SQL_INTEGER, .help = "time of the peak" },
	{ "allocations", SQL_INTEGER, .help =
	  "allocations selected by the command's filters, like the columns "
	  "below" },
	{ "total_bytes", SQL_INTEGER, .help = "bytes of these allocations" },
	{ "frees", SQL_INTEGER, .help = "frees of these blocks" },
	{ "live_bytes", SQL_INTEGER, .help = "live bytes at the end" },
	{ "live_blocks", SQL_INTEGER, .help = "live blocks at the end" },
	{ "peak_bytes", SQL_INTEGER, .help = "live bytes at the peak" },
	{ "peak_blocks", SQL_INTEGER, .help = "live blocks at the peak" },
};

static const struct sql_column *processes_columns(unsigned *count)
{
	*count = sizeof(process_own) / sizeof(process_own[0]);
	return process_own;
}

static bool processes_begin(struct sql_cursor *cursor, struct buffer *why)
{
	(void)why;
	cursor->row = 0;
	cursor->end = 1;
	return true;
}

static void positive(sqlite3_context *to, uint64_t number)
{
	if (number > 0)
		sql_number(to, number);
}

static void put_command(const struct model *model, sqlite3_context *to)
{
	LOCAL_BUFFER text = { 0 };

	model_command(model, &text);
	sql_text(to, text.data);
}

static void put_exit(const struct model *model, sqlite3_context *to)
{
	LOCAL_BUFFER text = { 0 };

	model_exit_text(model, &text);
	sql_text(to, text.data);
}

static void put_totals(const struct model *model, unsigned column,
		       sqlite3_context *to)
{
	const struct totals *totals = model_totals(model);

	switch (column) {
	case PEAK_NS:
		if (totals->peak_bytes > 0)
			sql_number(to, model_since_start_ns(
					   model, totals->peak_stamp));
		break;
	case VIEW_ALLOCATIONS:
		sql_number(to, totals->allocations);
		break;
	case VIEW_BYTES:
		sql_number(to, totals->total_bytes);
		break;
	case VIEW_FREES:
		sql_number(to, totals->frees);
		break;
	case VIEW_LIVE:
		sql_number(to, totals->live_bytes);
		break;
	case VIEW_LIVE_BLOCKS:
		sql_number(to, totals->live_blocks);
		break;
	case VIEW_PEAK:
		sql_number(to, totals->peak_bytes);
		break;
	case VIEW_PEAK_BLOCKS:
		sql_number(to, totals->peak_blocks);
		break;
	}
}

static void processes_value(struct sql_cursor *cursor, unsigned column,
			    sqlite3_context *to)
{
	struct sql_trace *trace = cursor->trace;
	const struct model *model = sql_trace_model(trace);

	switch (column) {
	case PID:
		positive(to, trace->process.pid);
		break;
	case PARENT:
		positive(to, model_number(model, GT_INFO, "ppid", 0));
		break;
	case PROGRAM:
		sql_text(to, model_fact(model, GT_INFO, "exe"));
		break;
	case COMMAND:
		put_command(model, to);
		break;
	case TRACE:
		sql_text(to, trace->path);
		break;
	case REALTIME:
		positive(to, model_number(model, GT_INFO, "start_realtime_ns",
					  0));
		break;
	case DURATION:
		sql_number(to, trace->end_ns);
		break;
	case EXIT_TEXT:
		put_exit(model, to);
		break;
	case COMPLETE:
		sql_number(to, model_reader_report(model)->ended);
		break;
	case SAMPLE:
		sql_number(to, model_sample_mean(model));
		break;
	default:
		put_totals(model, column, to);
	}
}

const struct sql_table sql_table_processes = {
	.name = "processes",
	.help = "the traces, one for each process, with their totals",
	.columns = processes_columns,
	.begin = processes_begin,
	.value = processes_value,
	.rows = 2,
};
