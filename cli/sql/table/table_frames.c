/*
 * table_frames.c: the tables `frames`, the places in code that occur in call
 * stacks, and `stacks`, the frames of each call stack.
 */
#include "cli/sql/sql_tables.h"

/* ---- frames ---- */

enum { FRAME = 1, FUNCTION, SYMBOL, FILE_NAME, LINE, COLUMN, LIBRARY, PATH,
       INLINED, NAMED, GLUE, ADDRESS, OFFSET };

static const struct sql_column frame_own[] = {
	{ "frame", SQL_INTEGER, .help = "number of the frame: stacks.frame" },
	{ "function", SQL_TEXT, .help = "LIBRARY+0xOFFSET if it has no name; "
	  "NULL: code in no file" },
	{ "symbol", SQL_TEXT, .help = "linker symbol, if it differs" },
	{ "file", SQL_TEXT, .help = "source file; NULL: unknown" },
	{ "line", SQL_INTEGER, .help = "line; NULL: unknown" },
	{ "col", SQL_INTEGER, .help = "column in the line; NULL: unknown" },
	{ "library", SQL_TEXT, .help = "file name of the library" },
	{ "path", SQL_TEXT, .help = "path of the library" },
	{ "inlined", SQL_INTEGER, .help = "1: inlined into its caller" },
	{ "named", SQL_INTEGER, .help = "1: the function has a name" },
	{ "glue", SQL_INTEGER, .help = "1: allocator or runtime frame: never a "
	  "site" },
	{ "address", SQL_INTEGER, .help = "return address" },
	{ "module_offset", SQL_INTEGER, .help =
	  "return address relative to the library" },
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
	.help = "each place in code once: function, file, line",
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
	  .help = "number of the call stack: contexts.context" },
	{ "depth", SQL_INTEGER, .help = "0 is the innermost frame" },
	{ "frame", SQL_INTEGER, .help = "frames.frame" },
	{ "function", SQL_TEXT, .help = "as in frames" },
	{ "file", SQL_TEXT, .help = "as in frames" },
	{ "line", SQL_INTEGER, .help = "as in frames" },
	{ "library", SQL_TEXT, .help = "as in frames" },
	{ "caller", SQL_TEXT, .help = "function of the caller's frame; NULL: "
	  "outermost frame" },
	{ "callee", SQL_TEXT, .help = "function of the called frame; NULL: "
	  "innermost frame" },
};

static const struct sql_column *stacks_columns(unsigned *count)
{
	*count = sizeof(stack_own) / sizeof(stack_own[0]);
	return stack_own;
}

/* A row number is an index in `numbers`. */
static bool stacks_begin(struct sql_cursor *cursor, struct buffer *why)
{
	const struct sql_stacks *stacks = sql_trace_stacks(cursor->trace);

	(void)why;
	sql_cursor_find(cursor, STACK_CONTEXT, stacks->nodes, stacks->count);
	cursor->row = stacks->first[cursor->row];
	cursor->end = stacks->first[cursor->end];
	return true;
}

/* The stack that contains this row. */
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
	/* skip empty stacks */
	while (stacks->first[low + 1] <= row)
		low++;
	return low;
}

/* The function of this row's frame, if the row belongs to the stack. */
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
		/* row - 1 of row 0 wraps around and is out of range */
		stack = stack_of(stacks, cursor->row);
		put_function(stacks, stack, cursor->row - 1, to);
		break;
	default:
		frame_value(&stacks->frames.list[frame], of_frame[column], to);
	}
}

const struct sql_table sql_table_stacks = {
	.name = "stacks",
	.help = "one row for each frame of each call stack",
	.columns = stacks_columns,
	.begin = stacks_begin,
	.value = stacks_value,
	.rows = 1000000,
};
