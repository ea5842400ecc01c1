/*
 * cmd_export.c: `gnomon export`: converts a trace to another tool's format.
 * Runs in the main thread; cli/export/ does the work.
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "cli/base/terminal/log.h"
#include "cli/command/export_run.h"
#include "cli/command/measure_words.h"
#include "cli/commands.h"
#include "cli/export/exporters.h"

enum { FORMAT = 1, COST, BY, THREADS, OUTPUT };

struct request {
	struct trace_args args;
	struct export export;
	const struct exporter *format;
};

static int parse_option(void *owner, int id, const char *value)
{
	struct request *request = owner;

	if (trace_args_has(id))
		return trace_args_take(&request->args, id, value);
	switch (id) {
	case FORMAT:
		request->format = exporter_named(value);
		return request->format ? 0 : -EINVAL;
	case COST:
		return export_run_measure(&request->export, value);
	case BY:
		request->export.blocks = strcmp(value, "block") == 0;
		break;
	case THREADS:
		request->export.threads = true;
		break;
	case OUTPUT:
		request->export.output = value;
		break;
	}
	return 0;
}

/* Whether the options are compatible. */
static bool options_are_consistent(const struct request *request)
{
	const struct exporter *format = request->format;

	if (format == NULL)
		log_error("missing format: `gnomon export --format F`; "
			  "`gnomon export --help` lists formats");
	else if (request->export.threads && !format->can_split_threads &&
		 (format->has_threads || request->export.blocks))
		log_error("--threads: %s always has the thread of each block: "
			  "remove the option", format->name);
	else if (request->export.threads && !format->can_split_threads &&
		 format->can_list_blocks)
		log_error("--threads: %s does not split stacks by thread; "
			  "--by block lists each block with its thread",
			  format->name);
	else if (request->export.threads && !format->can_split_threads)
		log_error("--threads: %s does not support threads",
			  format->name);
	else if (request->export.blocks && !format->can_list_blocks)
		log_error("--by block: %s does not support single blocks; "
			  "json, ndjson and csv do", format->name);
	else if (request->export.blocks && request->export.cost_given)
		log_error("--by block and --cost conflict: blocks are listed "
			  "in order of their ends");
	else if (format->binary && request->export.output == NULL &&
		 isatty(STDOUT_FILENO))
		log_error("%s is a binary format: write it to a file with -o "
			  "FILE",
			  format->name);
	else
		return true;
	return false;
}

static int run_export(const struct command *command, int argc, char **argv)
{
	struct request request = { 0 };
	int operands, status;

	trace_args_init(&request.args);
	if (!command_parse(command, argc, argv, parse_option, &request,
			   &operands, &status))
		return status;
	status = EXIT_NOTHING;
	if (options_are_consistent(&request) &&
	    trace_args_find_one(&request.args, operands, argv + 1))
		status = export_run(&request.export, &request.args,
				    request.format);
	trace_args_free(&request.args);
	return status;
}

static const char *const description[] = {
	"Converts a trace to a file that other tools read. Sums and numbers "
	"are those of `gnomon report`, with or without filters.",
	"Exit status: 0: all was read; 2: wrong use, or nothing could be "
	"read; 3: parts of the trace are missing or damaged: see standard "
	"error.",
	NULL
};

static const char *const examples[] = {
	"gnomon export --format collapsed a.trace | flamegraph.pl > a.svg",
	"a flame graph of the blocks live at the end",
	NULL
};

static const struct command_group *const groups[] = {
	&trace_args_model_options, &trace_args_index,
	&trace_args_symbols, &filter_options, NULL
};

static const char *format_word(size_t n, const char **meaning)
{
	if (exporters[n] == NULL)
		return NULL;
	*meaning = exporters[n]->what;
	return exporters[n]->name;
}

static const struct command_words choices[] = {
	{ FORMAT, format_word },
	{ COST, measure_words_exported },
	{ 0, NULL },
};

static const struct command_option options[] = {
	{ FORMAT, "format", 'F', COMMAND_WORDS, NULL, "%s" },
	{ COST, "cost", 'c', COMMAND_WORDS, "live",
	  "the cost to write, or to show first if the format holds several; "
	  "%s" },
	{ BY, "by", 'b', "stack|block", "stack",
	  "json, ndjson, csv: list stacks with all their measures, or each "
	  "allocation with its address, size, thread, times and stack" },
	{ THREADS, "threads", 0, NULL, NULL,
	  "split stacks by thread, if the format supports it" },
	{ OUTPUT, "output", 'o', "FILE", "standard output",
	  "write the result to FILE" },
	COMMAND_COMMON_OPTIONS,
};

const struct command cmd_export = {
	.name = "export",
	.operands = "[TRACE]",
	.summary = "convert a trace to another tool's format",
	.description = description,
	.examples = examples,
	.options = options,
	.option_count = sizeof(options) / sizeof(options[0]),
	.groups = groups,
	.words = choices,
	.wrong_use = EXIT_NOTHING,
	.main = run_export,
};
