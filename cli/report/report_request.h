/*
 * report_request.h: the options of `gnomon report`: whether they are compatible,
 * and what must be read for them. Main thread.
 */
#ifndef GNOMON_REPORT_REQUEST_H
#define GNOMON_REPORT_REQUEST_H

#include <stdbool.h>

#include "cli/command/trace_args.h"
#include "cli/report/report.h"

struct report_request {
	struct report_options report;
	struct trace_args args;
	const char *output;
	bool json;
	bool csv;
	bool explain;
	bool merge;
	bool skip_empty;
};

/* Parses --by, and checks all options against each other and against the number
 * of traces. False: they are incompatible, which was logged. */
bool report_request_is_possible(struct report_request *request);
/* Derives what the query reads and which parts the report has. Call it once the
 * request is possible. */
void report_request_choose(struct report_request *request);

#endif
