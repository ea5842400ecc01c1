/*
 * sql_functions.c: see sql_functions.h. Called by the session's thread.
 */
#include "cli/sql/sql_functions.h"

#include <stdint.h>
#include <string.h>

#include "cli/base/text/pattern.h"
#include "cli/base/text/quantity.h"
#include "cli/model/core/contexts.h"
#include "cli/sql/sql_stack.h"
#include "cli/sql/sql_table.h"


static struct sql_trace *find(struct sql_traces *traces, sqlite3_value *value,
			      uint32_t *node)
{
	uint64_t id = (uint64_t)sqlite3_value_int64(value);
	struct sql_trace *trace;

	if (sqlite3_value_type(value) != SQLITE_INTEGER)
		return NULL;
	trace = sql_trace_of(traces, id);
	*node = (uint32_t)id;
	return trace != NULL && *node < model_contexts(trace->outline)->node_count
		? trace : NULL;
}

static void call_stack(sqlite3_context *to, sqlite3_value **argv,
		       sql_stack_value *value)
{
	uint32_t node;
	struct sql_trace *trace = find(sqlite3_user_data(to), argv[0], &node);

	if (trace != NULL)
		value(trace, node, to);
}

#define OF_STACK(name, value)						\
	static void name(sqlite3_context *to, int argc,			\
			 sqlite3_value **argv)				\
	{								\
		(void)argc;						\
		call_stack(to, argv, value);				\
	}

OF_STACK(call_text, sql_stack_text)
OF_STACK(call_function, sql_stack_function)
OF_STACK(call_file, sql_stack_file)
OF_STACK(call_line, sql_stack_line)
OF_STACK(call_library, sql_stack_library)

/* Real numbers, like those of avg(), are rounded. */
static bool whole_number(sqlite3_value *value, int64_t *number)
{
	double real = sqlite3_value_double(value);

	*number = sqlite3_value_int64(value);
	if (sqlite3_value_type(value) == SQLITE_FLOAT && real < 9e18 &&
	    real > -9e18)
		*number = (int64_t)(real + (real < 0 ? -0.5 : 0.5));
	return sqlite3_value_numeric_type(value) == SQLITE_INTEGER ||
	       sqlite3_value_numeric_type(value) == SQLITE_FLOAT;
}

static void call_human(sqlite3_context *to, int argc, sqlite3_value **argv)
{
	int64_t number;

	(void)argc;
	if (whole_number(argv[0], &number))
		sql_text(to, SIZE_TEXT(number));
}

static void call_duration(sqlite3_context *to, int argc, sqlite3_value **argv)
{
	int64_t number;

	(void)argc;
	if (whole_number(argv[0], &number) && number >= 0)
		sql_text(to, TIME_TEXT((uint64_t)number));
}

static void free_pattern(void *pattern)
{
	pattern_free(pattern);
}

/* TEXT REGEXP EXPRESSION calls regexp(EXPRESSION, TEXT). */
static void call_regexp(sqlite3_context *to, int argc, sqlite3_value **argv)
{
	const char *expression = (const char *)sqlite3_value_text(argv[0]);
	const char *text = (const char *)sqlite3_value_text(argv[1]);
	struct pattern *pattern = sqlite3_get_auxdata(to, 0);
	LOCAL_BUFFER said = { 0 };
	char why[160];

	(void)argc;
	if (expression == NULL || text == NULL)
		return;
	if (pattern == NULL) {
		pattern = pattern_new(expression, why, sizeof(why));
		if (pattern == NULL) {
			buffer_printf(&said, "invalid expression `%s`: %s",
				      expression, why);
			sqlite3_result_error(to, said.data, -1);
			return;
		}
		sqlite3_result_int(to, pattern_matches(pattern, text));
		sqlite3_set_auxdata(to, 0, pattern, free_pattern);
		return;
	}
	sqlite3_result_int(to, pattern_matches(pattern, text));
}

static const struct {
	const char *name, *arguments, *help;
	int count;
	void (*call)(sqlite3_context *to, int argc, sqlite3_value **argv);
} functions[] = {
	{ "stack", "context", "the functions of a call stack, innermost first, "
	  "separated by ;", 1, call_text },
	{ "function", "context", "the function of the call stack's site: the "
	  "innermost frame of the program's own code", 1, call_function },
	{ "file", "context", "the source file of the site", 1, call_file },
	{ "line", "context", "the line of the site", 1, call_line },
	{ "library", "context", "the library of the site", 1, call_library },
	{ "human", "bytes", "a size in human-readable form: 1.5M", 1,
	  call_human },
	{ "duration", "ns", "a time in human-readable form: 3.21s", 1,
	  call_duration },
	{ "regexp", "expression, text", "whether a regular expression (PCRE2) "
	  "matches; also TEXT REGEXP EXPRESSION", 2, call_regexp },
};
#define FUNCTIONS (sizeof(functions) / sizeof(functions[0]))

int sql_functions_add(sqlite3 *db, struct sql_traces *traces)
{
	int status = SQLITE_OK;

	for (size_t i = 0; i < FUNCTIONS && status == SQLITE_OK; i++)
		status = sqlite3_create_function_v2(
			db, functions[i].name, functions[i].count,
			SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS,
			traces, functions[i].call, NULL, NULL, NULL);
	return status;
}

void sql_functions_help(struct buffer *text)
{
	for (size_t i = 0; i < FUNCTIONS; i++)
		buffer_printf(text, "  %s(%s)  %s\n", functions[i].name,
			      functions[i].arguments, functions[i].help);
}

const char *sql_functions_name(size_t n)
{
	return n < FUNCTIONS ? functions[n].name : NULL;
}
