/*
 * sql_json.c: see sql_json.h. The summary covers all traces with the command's
 * filters, whatever the statement selects.
 */
#include "cli/sql/sql_json.h"

#include <math.h>

#include "cli/base/grow.h"
#include "cli/base/text/json.h"
#include "cli/base/text/quantity.h"
#include "cli/command/print/report_parts.h"

static void add_trace(struct report_process *sum, struct sql_trace *trace)
{
	const struct report_options options = {
		.query = &trace->args->query,
	};
	struct stack_filter *filter = NULL;
	struct report report = {
		.options = &options, .places = &trace->args->places,
		.model = sql_trace_model(trace),
		.frames = sql_trace_frames(trace),
		.end_ns = trace->end_ns,
	};

	if (trace_args_stack_filter(trace->args, &trace->frames, &filter) &&
	    filter != NULL) {
		report.keep = stack_filter_keeps;
		report.keeper = filter;
	}
	report_about(&report, trace->path);
	figures_add(&sum->sum, &report.about.sum);
	coverage_add(&sum->coverage, &report.about.coverage);
	sum->threads += report.about.threads;
	sum->contexts += report.about.contexts;
	if (sum->duration_ns < report.about.duration_ns)
		sum->duration_ns = report.about.duration_ns;
	/* peaks of several traces are at different times */
	sum->peak_time_ns = trace->number == 1 ? report.about.peak_time_ns : 0;
	report_process_free(&report.about);
	stack_filter_free(filter);
}

static void put_summary(struct json *json, struct sql_session *session)
{
	struct report_process sum = { 0 };
	const struct sql_traces *traces = &session->traces;

	for (size_t i = 0; i < traces->count; i++)
		add_trace(&sum, &traces->list[i]);
	json_object(json, "summary");
	report_json_totals(json, &sum);
	json_uint(json, "traces", traces->count);
	json_end_object(json);
}

static void put_real(struct json *json, const char *name, double value)
{
	LOCAL_BUFFER text = { 0 };

	if (!isfinite(value)) {
		json_string(json, name, NULL);
		return;
	}
	buffer_printf(&text, "%.15g", value);
	json_number(json, name, text.data);
}

static void put_value(struct json *json, sqlite3_stmt *statement, int column)
{
	const char *name = sqlite3_column_name(statement, column), *text;

	switch (sqlite3_column_type(statement, column)) {
	case SQLITE_INTEGER:
		json_int(json, name, sqlite3_column_int64(statement, column));
		break;
	case SQLITE_FLOAT:
		put_real(json, name, sqlite3_column_double(statement, column));
		break;
	case SQLITE_NULL:
		json_string(json, name, NULL);
		break;
	case SQLITE_BLOB:
		json_string(json, name, COUNTED((uint64_t)sqlite3_column_bytes(
						statement, column), "byte"));
		break;
	default:
		text = (const char *)sqlite3_column_text(statement, column);
		json_bytes(json, name, text, (size_t)sqlite3_column_bytes(
				   statement, column));
	}
}

int sql_json_write(struct sql_session *session, sqlite3_stmt *statement)
{
	struct json json = { .out = session->out };
	int columns = sqlite3_column_count(statement), status;

	json_object(&json, NULL);
	json_uint(&json, "schema", 1);
	if (!session->no_summary)
		put_summary(&json, session);
	json_array(&json, "columns");
	for (int i = 0; i < columns; i++)
		json_string(&json, NULL, sqlite3_column_name(statement, i));
	json_end_array(&json);
	json_array(&json, "rows");
	while ((status = sqlite3_step(statement)) == SQLITE_ROW) {
		json_object(&json, NULL);
		for (int i = 0; i < columns; i++)
			put_value(&json, statement, i);
		json_end_object(&json);
	}
	json_end_array(&json);
	json_end_object(&json);
	return status;
}
