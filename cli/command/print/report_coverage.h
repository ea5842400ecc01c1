/*
 * report_coverage.h: how much a result is about, as it is told with it. Called
 * by the main thread.
 */
#ifndef GNOMON_REPORT_COVERAGE_H
#define GNOMON_REPORT_COVERAGE_H

#include "cli/base/text/buffer.h"
#include "cli/base/text/json.h"
#include "cli/model/coverage.h"

/* The member "coverage". */
void report_coverage_json(struct json *json, const struct coverage *coverage);
/* What of it has been a summary's for longer, in its own members. */
void report_coverage_missing(struct json *json,
			     const struct coverage *coverage);
/* A sentence about stacks that filters could not judge; "": they could judge
 * all. */
void report_coverage_cut(const struct coverage *coverage, struct buffer *text);
/* The same about all that filters could not judge. */
void report_coverage_undecided(const struct coverage *coverage,
			       struct buffer *text);

#endif
