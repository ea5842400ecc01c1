/*
 * fuzz_sql.c: columns, filters and functions of SQL. The input chooses what a
 * statement is made of: tables, columns, comparisons with values that fit or do
 * not, functions with wrong arguments; or it is the statement itself. It runs
 * on a stored trace, which is a part of this program. Each statement gives a
 * result or an error; one that would take long is interrupted.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cli/base/grow.h"
#include "cli/base/terminal/log.h"
#include "cli/sql/sql_functions.h"
#include "cli/sql/sql_session.h"
#include "cli/sql/sql_table.h"

#define STEPS_MAX 200		/* of a thousand instructions of SQLite's */
#define STATEMENT_MAX 4096

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

__asm__(".section .rodata\n"
	"fuzz_sql_trace:\n"
	".incbin \"tests/outputs/medley.trace\"\n"
	"fuzz_sql_trace_end:\n"
	".byte 0\n"
	".previous\n");
extern const uint8_t fuzz_sql_trace[], fuzz_sql_trace_end[];

static struct sql_session session;
static unsigned steps;

static int count_steps(void *owner)
{
	(void)owner;
	return ++steps > STEPS_MAX;
}

static void open_session(void)
{
	static struct trace_args args;
	size_t size = (size_t)(fuzz_sql_trace_end - fuzz_sql_trace);
	int fd = memfd_create("fuzz", 0);

	if (fd < 0 || write(fd, fuzz_sql_trace, size) != (ssize_t)size)
		abort();
	log_set_quiet(true);
	trace_args_init(&args);
	args.index = INDEX_MAKE_NEVER;
	args.traces = grow_zeroed(1, sizeof(*args.traces));
	args.traces[0] = grow_format("/proc/self/fd/%d", fd);
	args.trace_count = 1;
	session.out = fopen("/dev/null", "w");
	if (session.out == NULL || !sql_session_open(&session, &args))
		abort();
	sqlite3_progress_handler(session.db, 1000, count_steps, NULL);
	/* errors are most of what it has to say; a fuzzer has its own stream */
	stderr = session.out;
}

/* ---- statements ---- */

struct input {
	const uint8_t *at, *end;
};

static unsigned next(struct input *input)
{
	return input->at < input->end ? *input->at++ : 0;
}

static const char *pick(struct input *input, const char *const *words,
			size_t count)
{
	return words[next(input) % count];
}
#define PICK(input, words)						\
	pick((input), (words), sizeof(words) / sizeof((words)[0]))

static const struct sql_table *pick_table(struct input *input)
{
	size_t count = 0;

	while (sql_tables[count] != NULL)
		count++;
	return sql_tables[next(input) % count];
}

static void put_column(struct input *input, const struct sql_table *table,
		       struct buffer *text)
{
	char name[64];

	buffer_string(text, sql_table_column(
			table, next(input) % sql_table_count(table), name)
			.name);
}

/* Some bytes as they are, in quotes. */
static void put_bytes(struct input *input, struct buffer *text)
{
	unsigned size = next(input) % 16;

	buffer_string(text, "'");
	for (unsigned i = 0; i < size; i++) {
		char byte = (char)next(input);

		if (byte == '\'')
			buffer_string(text, "'");
		if (byte != 0)
			buffer_add(text, &byte, 1);
	}
	buffer_string(text, "'");
}

static void put_value(struct input *input, const struct sql_table *table,
		      struct buffer *text)
{
	static const char *const values[] = {
		"0", "1", "64", "-1", "1.5", "9223372036854775807", "1e300",
		"null", "'50%'", "'@late'", "'start'", "'live'", "'freed'",
		"'yes'", "'main'", "'medley'", "'.*'", "'('", "'64k'", "'1ms'",
		"x'00ff'", "4294967296", "(select context from contexts)",
		"(select max(begin_ns) from blocks)", "''", "1 + 1",
	};

	switch (next(input) % 8) {
	case 0:
		put_column(input, table, text);
		break;
	case 1:
		put_bytes(input, text);
		break;
	default:
		buffer_string(text, PICK(input, values));
	}
}

static void put_expression(struct input *input, const struct sql_table *table,
			   struct buffer *text)
{
	static const char *const around[] = {
		"count", "sum", "max", "human", "duration", "stack",
		"function", "file", "line", "library", "typeof", "hex",
	};
	bool call = next(input) % 2;

	if (call)
		buffer_printf(text, "%s(", PICK(input, around));
	if (next(input) % 4 == 0)
		put_value(input, table, text);
	else
		put_column(input, table, text);
	buffer_string(text, call ? ")" : "");
}

static void put_term(struct input *input, const struct sql_table *table,
		     struct buffer *text)
{
	static const char *const ops[] = {
		" = ", " < ", " <= ", " > ", " >= ", " <> ", " is ",
		" like ", " regexp ", " = ", " = ",
	};
	bool in = next(input) % 8 == 0;

	put_column(input, table, text);
	buffer_string(text, in ? " in (" : PICK(input, ops));
	put_value(input, table, text);
	if (!in)
		return;
	buffer_string(text, ", ");
	put_value(input, table, text);
	buffer_string(text, ")");
}

static void put_where(struct input *input, const struct sql_table *table,
		      struct buffer *text)
{
	static const char *const joiners[] = { " and ", " and ", " and ",
					       " or ", " and not " };
	unsigned count = next(input) % 4;

	for (unsigned i = 0; i < count; i++) {
		buffer_string(text, i == 0 ? " where " :
			      PICK(input, joiners));
		put_term(input, table, text);
	}
}

static void put_select(struct input *input, struct buffer *text)
{
	const struct sql_table *table = pick_table(input);
	unsigned count = next(input) % 4;

	buffer_string(text, next(input) % 16 == 0 ? "explain query plan " : "");
	buffer_string(text, count == 0 ? "select *" : "select ");
	for (unsigned i = 0; i < count; i++) {
		buffer_string(text, i > 0 ? ", " : "");
		put_expression(input, table, text);
	}
	buffer_printf(text, " from %s", table->name);
	if (next(input) % 4 == 0)
		buffer_printf(text, " join %s using (%s)",
			      pick_table(input)->name,
			      next(input) % 2 ? "process" : "context");
	put_where(input, table, text);
	if (next(input) % 4 == 0)
		buffer_string(text, " group by 1");
	if (next(input) % 4 == 0)
		buffer_string(text, " order by 1 desc");
	buffer_printf(text, " limit %u", next(input));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input input = { data, data + size };
	LOCAL_BUFFER text = { 0 };

	if (session.db == NULL)
		open_session();
	if (size > STATEMENT_MAX)
		return 0;
	session.mode = (enum sql_mode)(next(&input) % SQL_MODES);
	if (next(&input) % 8 == 0)
		buffer_add(&text, (const char *)input.at,
			   (size_t)(input.end - input.at));
	else
		put_select(&input, &text);
	steps = 0;
	sql_session_run(&session, buffer_text(&text));
	return 0;
}
