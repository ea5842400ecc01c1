/*
 * cmd_sql.c: `gnomon sql`: SQL statements over the blocks, stacks and threads
 * of traces. Runs in the main thread; a separate process runs the statements
 * (sql_worker.h).
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/base/terminal/log.h"
#include "cli/base/text/buffer.h"
#include "cli/base/text/quantity.h"
#include "cli/base/io_full.h"
#include "cli/command/trace_args.h"
#include "cli/commands.h"
#include "cli/sql/sql_prompt.h"
#include "cli/sql/sql_worker.h"

enum { SCRIPT = 1, CSV, JSON, NO_SUMMARY, TIMEOUT, MEMORY };

struct request {
	struct trace_args args;
	struct sql_limits limits;
	enum sql_mode mode;
	bool no_summary;
	const char *script;	/* NULL: not given */
};

static int parse_option(void *owner, int id, const char *value)
{
	struct request *request = owner;

	if (trace_args_has(id))
		return trace_args_take(&request->args, id, value);
	switch (id) {
	case SCRIPT:
		request->script = value;
		break;
	case CSV:
		request->mode = SQL_MODE_CSV;
		break;
	case JSON:
		request->mode = SQL_MODE_JSON;
		break;
	case NO_SUMMARY:
		request->no_summary = true;
		break;
	case TIMEOUT:
		return quantity_parse_time(value, &request->limits.timeout_ns);
	case MEMORY:
		return quantity_parse_size(value, &request->limits.memory);
	}
	return 0;
}

/* Whether an operand is a statement rather than a file name. */
static bool is_statement(const char *text)
{
	struct stat status;

	if (stat(text, &status) == 0)
		return false;
	return text[0] == '.' ? strchr(text, '/') == NULL :
		strpbrk(text, " \t\n;(") != NULL;
}

static bool read_all(FILE *in, const char *name, struct buffer *text)
{
	char piece[4096];
	size_t n;

	while ((n = fread(piece, 1, sizeof(piece), in)) > 0)
		buffer_add(text, piece, n);
	if (!ferror(in))
		return true;
	log_error("%s: cannot read: %s", name, strerror(errno));
	return false;
}

static bool read_script(const char *path, struct buffer *text)
{
	FILE *in = fopen(path, "re");
	bool good;

	if (in == NULL) {
		log_error("%s: cannot read the script: %s", path,
			  strerror(errno));
		return false;
	}
	good = read_all(in, path, text);
	fclose(in);
	return good;
}

/* Find the statements to run. False: an error, after a message. No text: run
 * the prompt. */
static bool find_text(const struct request *request, const char *statement,
		      struct buffer *text)
{
	if (request->script != NULL && statement != NULL) {
		log_error("-f %s and a statement are both given: remove one",
			  request->script);
		return false;
	}
	if (statement != NULL)
		buffer_string(text, statement);
	else if (request->script != NULL)
		return read_script(request->script, text);
	else if (!isatty(STDIN_FILENO))
		return read_all(stdin, "standard input", text);
	return true;
}

/* End like a program killed by SIGINT. */
static int end_interrupted(void)
{
	signal(SIGINT, SIG_DFL);
	raise(SIGINT);
	return EXIT_NOTHING;
}

static int run(struct request *request, const char *statement)
{
	struct sql_worker worker = {
		.args = &request->args, .limits = request->limits,
		.mode = request->mode, .no_summary = request->no_summary,
	};
	LOCAL_BUFFER text = { 0 };
	int status;

	if (!find_text(request, statement, &text))
		return EXIT_NOTHING;
	sql_worker_catch();
	if (statement == NULL && request->script == NULL &&
	    isatty(STDIN_FILENO))
		status = sql_prompt(&worker);
	else
		status = sql_worker_run(&worker, buffer_text(&text));
	sql_worker_end(&worker);
	return status == SQL_WORKER_INTERRUPTED ? end_interrupted() : status;
}

/* Takes the statement out of the operands; NULL: none. It is the last operand,
 * or comes before the traces. */
static const char *take_statement(char **operands, int *count)
{
	int i = *count;
	const char *statement;

	while (i > 0 && !is_statement(operands[i - 1]))
		i--;
	if (i == 0)
		return NULL;
	statement = operands[i - 1];
	memmove(operands + i - 1, operands + i,
		(size_t)(*count - i) * sizeof(*operands));
	--*count;
	return statement;
}

static int run_sql(const struct command *command, int argc, char **argv)
{
	struct request request = { 0 };
	const char *statement;
	int operands, status;

	trace_args_init(&request.args);
	if (!command_parse(command, argc, argv, parse_option, &request,
			   &operands, &status))
		return status;
	statement = take_statement(argv + 1, &operands);
	status = EXIT_NOTHING;
	if (trace_args_find(&request.args, operands, argv + 1))
		status = run(&request, statement);
	trace_args_free(&request.args);
	return status;
}

static const char *const description[] = {
	"Runs SQL statements on allocations: each block is a row of the table "
	"`blocks`, and `sums` groups blocks. There are also tables of stacks, "
	"frames, threads, mappings, memory over time and more: `.tables` lists "
	"them, `.schema` shows their columns. docs/SQL.md describes them all, "
	"with many example queries.",
	"Filters are columns that support only =, as in WHERE alive_at = '50%' "
	"AND size_min = 4096. They have the meaning of the options of the same "
	"names. With several traces, the column `process` tells which. Without "
	"a statement, statements are read from a prompt, or from standard "
	"input if it is not a terminal.",
	"Traces are never changed. Temporary tables and views can be created; "
	"they live in memory. Statements run in a separate process, which "
	"Ctrl-C, --timeout and --memory can stop.",
	"Exit status: 0: all was read; 2: wrong use, or a statement failed; "
	"3: parts of a trace are missing or damaged: see standard error.",
	NULL
};

static const char *const examples[] = {
	"gnomon sql app.trace \"select function(context), sum(bytes) from sums "
	"where alive_at = '50%' group by 1 order by 2 desc limit 20\"",
	"the functions with most live bytes halfway through the run",
	"gnomon sql app.trace --csv -f leaks.sql > leaks.csv",
	"run a script, with its result as CSV",
	"gnomon sql app.trace",
	"open a prompt",
	NULL
};

static const struct command_group *const groups[] = {
	&trace_args_model_options, &trace_args_symbols, &trace_args_index,
	&filter_options, NULL
};

static const struct command_option options[] = {
	{ SCRIPT, "file", 'f', "FILE", NULL, "run the statements in FILE" },
	{ CSV, "csv", 0, NULL, NULL, "write rows as comma-separated values" },
	{ JSON, "json", 0, NULL, NULL, "write rows as JSON: one object for "
				       "each statement that returns columns" },
	{ NO_SUMMARY, "no-summary", 0, NULL, NULL,
	  "with --json, leave out the summary of the traces, which may take "
	  "longer than the statement" },
	{ TIMEOUT, "timeout", 0, "DURATION", "none",
	  "stop a statement that runs longer; the first one includes the time "
	  "to read traces" },
	{ MEMORY, "memory", 0, "SIZE", "none",
	  "limit the address space of the process that runs statements, "
	  "including its program and libraries" },
	COMMAND_COLOR_OPTION,
	COMMAND_COMMON_OPTIONS,
};

const struct command cmd_sql = {
	.name = "sql",
	.operands = "[TRACE...] [STATEMENT]",
	.summary = "query every allocation with SQL",
	.description = description,
	.examples = examples,
	.options = options,
	.option_count = sizeof(options) / sizeof(options[0]),
	.groups = groups,
	.wrong_use = EXIT_NOTHING,
	.main = run_sql,
};
