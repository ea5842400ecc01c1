/*
 * cmd_report.c: `gnomon report`: read a trace, print who holds, leaks and
 * churns memory. Runs in the main thread; everything else does the work.
 */
#include <errno.h>
#include <string.h>

#include "cli/base/quantity.h"
#include "cli/base/tell.h"
#include "cli/commands.h"
#include "cli/reading.h"
#include "cli/report.h"

enum { SORT = 1, BY, TOP, OUTPUT, JSON };

static const struct command_option options[] = {
	{ SORT, "sort", 's', "live|peak|own-peak|total|count|temporary|"
	  "lifetime|age", NULL,
	  "only the table sorted by this: bytes live at the end, share of the "
	  "peak, bytes in total, number of allocations, number of temporary "
	  "ones (all five tables; live with --json)" },
	{ BY, "by", 'b', "stack|site", NULL,
	  "a row is a whole call stack, or a site: the innermost line of the "
	  "program's own code (site; stack with --json)" },
	{ TOP, "top", 'n', "N", NULL,
	  "rows of a table, 0 for all (10; 1000 with --json)" },
	{ OUTPUT, "output", 'o', "FILE", "standard output",
	  "write the report to FILE" },
	{ JSON, "json", 0, NULL, NULL,
	  "one JSON object for programs to read" },
	COMMAND_COMMON_OPTIONS,
};

static const struct command_group *const groups[] = {
	&reading_model_options,
	&reading_symbols,
	&filter_options,
	NULL
};

struct request {
	struct report_options report;
	struct reading reading;
	const char *output;
	bool json;
};

static int take(void *owner, int id, const char *value)
{
	struct request *request = owner;

	if (reading_has(id))
		return reading_take(&request->reading, id, value);
	switch (id) {
	case SORT:
		for (int key = 0; key < FIGURE_KEYS; key++)
			if (strcmp(value, figure_names[key]) == 0)
				request->report.key = (enum figure)key;
		request->report.one_key = true;
		break;
	case BY:
		request->report.by = strcmp(value, "site") == 0 ?
			REPORT_BY_SITE : REPORT_BY_STACK;
		break;
	case TOP:
		request->report.top_given = true;
		return quantity_parse_count(value, &request->report.top);
	case OUTPUT:
		request->output = value;
		break;
	case JSON:
		request->json = true;
		break;
	}
	return 0;
}

static FILE *open_output(const char *path)
{
	FILE *out = path ? fopen(path, "w") : stdout;

	if (out == NULL)
		tell_error("%s: cannot be written: %s", path,
			   strerror(errno));
	return out;
}

/* The status, unless the result did not get out. */
static int close_output(FILE *out, const char *path, int status)
{
	int failed = fflush(out) != 0 || ferror(out);

	if (out != stdout && fclose(out) != 0)
		failed = 1;
	if (!failed)
		return status;
	tell_error("%s: writing the report failed: %s",
		   path ? path : "standard output", strerror(errno));
	return EXIT_NOTHING;
}

static int report(struct request *request)
{
	static struct model model;
	struct frames frames;
	struct report report = {
		.options = &request->report,
		.model = &model,
		.frames = &frames,
	};
	int status;

	status = reading_model(&request->reading, &model,
			       request->report.trace);
	if (status == EXIT_NOTHING)
		return status;
	report.out = open_output(request->output);
	if (report.out == NULL)
		return EXIT_NOTHING;
	report.style = style_of(report.out);
	report.end_ns = model_duration_ns(&model);
	reading_frames(&request->reading, &frames, &model);
	report_add_up(&report);
	if (request->json)
		report_json(&report);
	else
		report_text(&report);
	frames_free(&frames);
	model_free(&model);
	return close_output(report.out, request->output, status);
}

static int run_report(const struct command *command, int argc, char **argv)
{
	struct request request = { 0 };
	int operands, status;

	reading_init(&request.reading);
	if (!command_parse(command, argc, argv, take, &request, &operands,
			   &status))
		return status;
	status = EXIT_NOTHING;
	if (reading_find_one(&request.reading, operands, argv + 1)) {
		request.report.full_names = request.reading.full_names;
		request.report.filters = request.reading.filters.data ?
			request.reading.filters.data : "";
		if (request.report.by == REPORT_BY_DEFAULT)
			request.report.by = request.json ? REPORT_BY_STACK :
				REPORT_BY_SITE;
		request.report.trace = request.reading.traces[0];
		status = report(&request);
	}
	reading_free(&request.reading);
	return status;
}

static const char *const description[] = {
	"Reads a trace and prints a summary, then the places in the program "
	"that hold the most memory at the end, held the most at its peak, "
	"allocated the most bytes, allocated most often, and allocated the "
	"most temporary blocks (freed before their thread's next allocation).",
	"TRACE is a file that `gnomon run` wrote, also while it is still being "
	"written, or the number of a process that is being recorded; left out, "
	"it is the newest trace in this directory.",
	"Exit status: 0 all was read; 2 wrong use, or nothing could be read; 3 "
	"parts of the trace were missing or damaged, which is said on standard "
	"error.",
	NULL
};

static const char *const examples[] = {
	"gnomon report", "the newest trace here",
	"gnomon report --sort peak --by stack --top 3 a.trace",
	"the three call stacks that held most when the program was largest",
	"gnomon report --json a.trace | jq .summary", "the figures alone",
	NULL
};

const struct command cmd_report = {
	.name = "report",
	.operands = "[TRACE]",
	.summary = "show which code holds, leaks and churns memory",
	.description = description,
	.examples = examples,
	.options = options,
	.option_count = sizeof(options) / sizeof(options[0]),
	.groups = groups,
	.wrong_use = EXIT_NOTHING,
	.main = run_report,
};
