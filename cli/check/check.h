/*
 * check.h: the parts of `gnomon check`: rules about a trace, and the three
 * shapes in which their verdicts are told. Called by the main thread.
 */
#ifndef GNOMON_CHECK_H
#define GNOMON_CHECK_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "cli/base/text/buffer.h"
#include "cli/base/text/json.h"
#include "cli/model/model.h"
#include "cli/model/stats/figures.h"
#include "cli/stack/leaks.h"

/* What is compared: bytes or numbers of one trace. */
struct check_values {
	uint64_t of[FIGURES_MAX];	/* by enum figure; live: unsuppressed */
	uint64_t live_blocks;		/* of these */
};

/* Rules asked for; the same for all traces. */
struct check_rules {
	bool limited[FIGURES_MAX];
	uint64_t limit[FIGURES_MAX];
	double growth;		/* percent by which each may be more than the
				 * baseline's */
};

struct check_verdict {
	char name[32];		/* max-live, growth-peak */
	enum figure cost;
	bool is_growth;
	bool passed;
	uint64_t value;
	uint64_t limit;		/* of a growth: the most that would pass */
	uint64_t before;	/* of a growth: the baseline's value */
	uint64_t blocks;	/* of what is live */
};

#define CHECK_VERDICTS_MAX (2 * FIGURES_MAX)

/* One trace. */
struct check_result {
	const char *trace;
	size_t number;		/* among those checked, from 0 */
	struct check_verdict verdicts[CHECK_VERDICTS_MAX];
	size_t count;
	size_t failed;
	const struct model *model;	/* NULL: it could not be read */
	const struct leaks *leaks;
	/* Of each verdict that failed, the stacks behind it, as text. */
	struct buffer stacks[CHECK_VERDICTS_MAX];
};

void check_values(const struct model *model, const struct leaks *leaks,
		  struct check_values *values);
/* Fills in verdicts, count and failed; `baseline` is NULL without one. */
void check_judge(const struct check_rules *rules,
		 const struct check_values *values,
		 const struct check_values *baseline,
		 struct check_result *result);

void check_text(const struct check_result *result, FILE *out);
/* Elements of "rows". */
void check_json(const struct check_result *result, struct json *json);
/* A <testsuite>, appended to `suites`; and the file around them. False: it
 * could not be written, which was said. */
void check_junit_suite(const struct check_result *result,
		       struct buffer *suites);
bool check_junit_write(const char *path, const struct buffer *suites);

#endif
