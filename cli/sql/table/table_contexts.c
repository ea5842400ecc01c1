/*
 * table_contexts.c: the table `contexts`: the call stacks that allocated, with
 * their measures over the whole recording.
 */
#include <string.h>

#include "cli/model/core/contexts.h"
#include "cli/sql/sql_figures.h"
#include "cli/sql/sql_stack.h"
#include "cli/sql/sql_tables.h"

enum { CONTEXT = 1, FUNCTION, FILE_NAME, LINE, LIBRARY, DEPTH, STOPPED, STACK,
       FIGURES };

static const struct sql_column own[] = {
	{ "context", SQL_INTEGER, .equal = true,
	  .help = "number of the call stack, as in --json" },
	{ "function", SQL_TEXT, .help = "function of the site: the innermost "
	  "frame of the program's own code" },
	{ "file", SQL_TEXT, .help = "source file of the site; NULL: unknown" },
	{ "line", SQL_INTEGER, .help = "line of the site; NULL: unknown" },
	{ "library", SQL_TEXT, .help = "library of the site" },
	{ "depth", SQL_INTEGER, .help = "number of frames" },
	{ "stopped", SQL_TEXT, .help = "why the stack walk stopped early; "
	  "NULL: it did not" },
	{ "stack", SQL_TEXT, .help = "functions, innermost first, separated by "
	  ";" },
};

static const struct sql_column *contexts_columns(unsigned *count)
{
	static struct sql_column list[FIGURES + SQL_FIGURES_MAX];
	static unsigned known;

	if (known == 0) {
		memcpy(list, own, sizeof(own));
		known = sizeof(own) / sizeof(own[0]);
		sql_figures_columns(list, &known);
	}
	*count = known;
	return list;
}

static bool wants_own_peaks(uint64_t used)
{
	unsigned count;

	contexts_columns(&count);
	for (unsigned n = 0; FIGURES + n < count + 1; n++)
		if (sql_uses(used, FIGURES + n) && sql_figures_own_peak(n))
			return true;
	return false;
}

static bool contexts_begin(struct sql_cursor *cursor, struct buffer *why)
{
	const struct sql_stacks *stacks;

	(void)why;
	cursor->state = wants_own_peaks(cursor->used) ?
		sql_trace_own_peaks(cursor->trace) :
		sql_trace_model(cursor->trace);
	stacks = sql_trace_nodes(cursor->trace);
	sql_cursor_find(cursor, CONTEXT, stacks->nodes, stacks->count);
	return true;
}

static void contexts_value(struct sql_cursor *cursor, unsigned column,
			   sqlite3_context *to)
{
	struct sql_trace *trace = cursor->trace;
	uint32_t node = trace->stacks->nodes[cursor->row];
	const struct model *model = cursor->state;
	const struct contexts *contexts = model_contexts(model);
	struct figures figures;

	switch (column) {
	case CONTEXT:
		sql_number(to, sql_id(trace, node));
		break;
	case FUNCTION:
		sql_stack_function(trace, node, to);
		break;
	case FILE_NAME:
		sql_stack_file(trace, node, to);
		break;
	case LINE:
		sql_stack_line(trace, node, to);
		break;
	case LIBRARY:
		sql_stack_library(trace, node, to);
		break;
	case DEPTH:
		sql_stack_depth(trace, node, to);
		break;
	case STOPPED:
		sql_stack_stopped(trace, node, to);
		break;
	case STACK:
		sql_stack_text(trace, node, to);
		break;
	default:
		model_figures(model, &contexts->costs[
			contexts_find_cost(contexts, node, 0)], &figures);
		sql_figures_value(&figures, trace->end_ns, column - FIGURES,
				  to);
	}
}

const struct sql_table sql_table_contexts = {
	.name = "contexts",
	.help = "call stacks that allocated, with measures over the whole "
		"recording",
	.columns = contexts_columns,
	.begin = contexts_begin,
	.value = contexts_value,
	.rows = 100000,
};
