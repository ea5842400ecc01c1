/*
 * report_coverage.h: prints how much of the program's allocations a result
 * covers. Called by the main thread.
 */
#ifndef GNOMON_REPORT_COVERAGE_H
#define GNOMON_REPORT_COVERAGE_H

#include "cli/base/text/buffer.h"
#include "cli/base/text/json.h"
#include "cli/model/coverage.h"

/* The member "coverage". */
void report_coverage_json(struct json *json, const struct coverage *coverage);
/* Values of it that summaries have had for longer, as members of their own. */
void report_coverage_missing(struct json *json,
			     const struct coverage *coverage);
/* A sentence about stacks that filters could not judge; "" if there are
 * none. */
void report_coverage_cut(const struct coverage *coverage, struct buffer *text);
/* The same about all allocations that filters could not judge. */
void report_coverage_undecided(const struct coverage *coverage,
			       struct buffer *text);

#endif
