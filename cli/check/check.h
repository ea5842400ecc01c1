/*
 * check.h: the parts of `gnomon check`: rules for a trace, and three output
 * formats of their verdicts. Called by the main thread.
 */
#ifndef GNOMON_CHECK_H
#define GNOMON_CHECK_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "cli/base/text/buffer.h"
#include "cli/base/text/json.h"
#include "cli/model/coverage.h"
#include "cli/model/model.h"
#include "cli/model/stats/figures.h"
#include "cli/stack/leaks.h"

/* The values that rules compare: bytes or counts of one trace. */
struct check_values {
	uint64_t of[MEASURES_MAX];	/* by enum figure; live: unsuppressed */
	uint64_t live_blocks;		/* unsuppressed */
};

/* Requested rules; the same for all traces. */
struct check_rules {
	bool limited[MEASURES_MAX];
	uint64_t limit[MEASURES_MAX];
	double growth;		/* allowed growth over the baseline, in
				 * percent */
};

struct check_verdict {
	char name[32];		/* max-live, growth-peak */
	enum measure cost;
	bool is_growth;
	bool passed;
	uint64_t value;
	uint64_t limit;		/* of a growth: the largest allowed value */
	uint64_t before;	/* of a growth: the baseline's value */
	uint64_t blocks;	/* live blocks */
};

#define CHECK_VERDICTS_MAX (2 * MEASURES_MAX)

/* The result for one trace. */
struct check_result {
	const char *trace;
	size_t number;		/* among the checked traces, from 0 */
	struct check_verdict verdicts[CHECK_VERDICTS_MAX];
	size_t count;
	size_t failed;
	const struct model *model;	/* NULL: it could not be read */
	const struct leaks *leaks;
	struct coverage coverage;	/* without suppressions */
	/* For each failed verdict, its largest stacks as text. */
	struct buffer stacks[CHECK_VERDICTS_MAX];
};

void check_values(const struct model *model, const struct leaks *leaks,
		  struct check_values *values);
/* Sets verdicts, count and failed; `baseline` is NULL without one. */
void check_evaluate(const struct check_rules *rules,
		    const struct check_values *values,
		    const struct check_values *baseline,
		    struct check_result *result);

void check_text(const struct check_result *result, FILE *out);
/* Elements of "rows". */
void check_json(const struct check_result *result, struct json *json);
/* Appends a <testsuite> to `suites`; writes them to a file. False: it could not
 * be written, which was logged. */
void check_junit_suite(const struct check_result *result,
		       struct buffer *suites);
bool check_junit_write(const char *path, const struct buffer *suites);

#endif
