/*
 * table_frames.c: the tables `frames`, places in the code that are in some call
 * stack, and `stacks`, which of them each call stack consists of.
 */
#include "cli/sql/sql_tables.h"

/* ---- frames ---- */

enum { FRAME = 1, FUNCTION, SYMBOL, FILE_NAME, LINE, COLUMN, LIBRARY, PATH,
       INLINED, NAMED, GLUE, ADDRESS, OFFSET };

static const struct sql_column frame_own[] = {
	{ "frame", SQL_INTEGER, .help = "its number: stacks.frame" },
	{ "function", SQL_TEXT, .help = "LIBRARY+0xOFFSET where it has no "
	  "name; NULL: code in no file" },
	{ "symbol", SQL_TEXT, .help = "the linker's name, where that is "
	  "another one" },
	{ "file", SQL_TEXT, .help = "the source file; NULL: not known" },
	{ "line", SQL_INTEGER, .help = "NULL: not known" },
	{ "col", SQL_INTEGER, .help = "the column of the line; NULL: not "
	  "known" },
	{ "library", SQL_TEXT, .help = "the last part of its path" },
	{ "path", SQL_TEXT, .help = "of the library" },
	{ "inlined", SQL_INTEGER, .help = "1: into the frame around it" },
	{ "named", SQL_INTEGER, .help = "1: the function has a name" },
	{ "glue", SQL_INTEGER, .help = "1: an allocator's, or the language's "
	  "own: no site" },
	{ "address", SQL_INTEGER, .help = "where the call returns to" },
	{ "module_offset", SQL_INTEGER, .help = "the same in the library" },
};

static const struct sql_column *frames_columns(unsigned *count)
{
	*count = sizeof(frame_own) / sizeof(frame_own[0]);
	return frame_own;
}

static bool frames_begin(struct sql_cursor *cursor, struct buffer *why)
{
	(void)why;
	cursor->row = 0;
	cursor->end = sql_trace_stacks(cursor->trace)->frames.count;
	return true;
}

static void positive(sqlite3_context *to, uint64_t number)
{
	if (number > 0)
		sql_number(to, number);
}

static void frame_value(const struct frame *frame, unsigned column,
			sqlite3_context *to)
{
	switch (column) {
	case FUNCTION:
		sql_text(to, frame->function);
		break;
	case SYMBOL:
		sql_text(to, frame->symbol);
		break;
	case FILE_NAME:
		sql_text(to, frame->file);
		break;
	case LINE:
		positive(to, frame->line);
		break;
	case COLUMN:
		positive(to, frame->column);
		break;
	case LIBRARY:
		sql_text(to, frame->library);
		break;
	case PATH:
		sql_text(to, frame->path);
		break;
	case INLINED:
		sql_number(to, frame->inlined);
		break;
	case NAMED:
		sql_number(to, frame->function && !frame->nameless);
		break;
	case GLUE:
		sql_number(to, frame->glue);
		break;
	case ADDRESS:
		sql_number(to, frame->address);
		break;
	case OFFSET:
		sql_number(to, frame->module_offset);
		break;
	}
}

static void frames_value(struct sql_cursor *cursor, unsigned column,
			 sqlite3_context *to)
{
	const struct frame *frame =
		&cursor->trace->stacks->frames.list[cursor->row];

	if (column == FRAME)
		sql_number(to, sql_id(cursor->trace, (uint32_t)cursor->row));
	else
		frame_value(frame, column, to);
}

const struct sql_table sql_table_frames = {
	.name = "frames",
	.help = "places in the code, each once: functions with file and line",
	.columns = frames_columns,
	.begin = frames_begin,
	.value = frames_value,
	.rows = 10000,
};

/* ---- stacks ---- */

enum { STACK_CONTEXT = 1, STACK_DEPTH, STACK_FRAME, STACK_FUNCTION, STACK_FILE,
       STACK_LINE, STACK_LIBRARY, STACK_CALLER, STACK_CALLEE };

static const struct sql_column stack_own[] = {
	{ "context", SQL_INTEGER, .equal = true,
	  .help = "the call stack: contexts.context" },
	{ "depth", SQL_INTEGER, .help = "0 is the innermost frame" },
	{ "frame", SQL_INTEGER, .help = "frames.frame" },
	{ "function", SQL_TEXT, .help = "as in frames" },
	{ "file", SQL_TEXT, .help = "as in frames" },
	{ "line", SQL_INTEGER, .help = "as in frames" },
	{ "library", SQL_TEXT, .help = "as in frames" },
	{ "caller", SQL_TEXT, .help = "the function of the frame around it; "
	  "NULL: it is the outermost" },
	{ "callee", SQL_TEXT, .help = "the function of the frame that it "
	  "called; NULL: it is the innermost" },
};

static const struct sql_column *stacks_columns(unsigned *count)
{
	*count = sizeof(stack_own) / sizeof(stack_own[0]);
	return stack_own;
}

/* Rows are places in `numbers`. */
static bool stacks_begin(struct sql_cursor *cursor, struct buffer *why)
{
	const struct sql_stacks *stacks = sql_trace_stacks(cursor->trace);

	(void)why;
	sql_cursor_find(cursor, STACK_CONTEXT, stacks->nodes, stacks->count);
	cursor->row = stacks->first[cursor->row];
	cursor->end = stacks->first[cursor->end];
	return true;
}

/* The stack that has this place. */
static size_t stack_of(const struct sql_stacks *stacks, uint64_t row)
{
	size_t low = 0, high = stacks->count;

	while (low + 1 < high) {
		size_t middle = low + (high - low) / 2;

		if (stacks->first[middle] <= row)
			low = middle;
		else
			high = middle;
	}
	/* an empty stack has none */
	while (stacks->first[low + 1] <= row)
		low++;
	return low;
}

/* Of the frame at this place, if it is one of the stack. */
static void put_function(const struct sql_stacks *stacks, size_t stack,
			 uint64_t row, sqlite3_context *to)
{
	if (row >= stacks->first[stack] && row < stacks->first[stack + 1])
		frame_value(&stacks->frames.list[stacks->numbers[row]],
			    FUNCTION, to);
}

static void stacks_value(struct sql_cursor *cursor, unsigned column,
			 sqlite3_context *to)
{
	static const unsigned of_frame[] = {
		[STACK_FUNCTION] = FUNCTION, [STACK_FILE] = FILE_NAME,
		[STACK_LINE] = LINE, [STACK_LIBRARY] = LIBRARY,
	};
	const struct sql_stacks *stacks = cursor->trace->stacks;
	uint32_t frame = stacks->numbers[cursor->row];
	size_t stack;

	switch (column) {
	case STACK_CONTEXT:
		stack = stack_of(stacks, cursor->row);
		sql_number(to, sql_id(cursor->trace, stacks->nodes[stack]));
		break;
	case STACK_DEPTH:
		stack = stack_of(stacks, cursor->row);
		sql_number(to, cursor->row - stacks->first[stack]);
		break;
	case STACK_FRAME:
		sql_number(to, sql_id(cursor->trace, frame));
		break;
	case STACK_CALLER:
		stack = stack_of(stacks, cursor->row);
		put_function(stacks, stack, cursor->row + 1, to);
		break;
	case STACK_CALLEE:
		/* before the first row there is none, as behind the last */
		stack = stack_of(stacks, cursor->row);
		put_function(stacks, stack, cursor->row - 1, to);
		break;
	default:
		frame_value(&stacks->frames.list[frame], of_frame[column], to);
	}
}

const struct sql_table sql_table_stacks = {
	.name = "stacks",
	.help = "the frames of each call stack, a row each",
	.columns = stacks_columns,
	.begin = stacks_begin,
	.value = stacks_value,
	.rows = 1000000,
};
