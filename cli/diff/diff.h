/*
 * diff.h: the parts of `gnomon diff`: compares the two sides of a profile and
 * prints the differences. Called by the main thread.
 */
#ifndef GNOMON_DIFF_H
#define GNOMON_DIFF_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "cli/command/comparison.h"
#include "cli/stack/difference.h"
#include "cli/stack/profile.h"
#include "cli/query/query.h"
#include "cli/stack/profile_groups.h"

/* Differences up to the larger of these do not count. */
struct diff_threshold {
	double percent;		/* of the larger side's sum of the measure */
	uint64_t amount;	/* absolute */
};

struct diff {
	const struct compared_side *sides;	/* before, after */
	struct profile *profile;	/* sealed */
	/* Has one exclusive key of profiles; each measure has its own rows. */
	const struct query *query;
	bool one_cost;		/* only the query's sort key */
	struct diff_threshold threshold;
	bool full_names;
	bool runtime_frames;	/* text: show them, do not fold */
	struct profile_groups groups;
	struct differences found[MEASURES_MAX];	/* of printed measures */
	bool differs;
};

/* Whether this measure is compared: the requested one, or one of the default
 * ones. */
bool diff_shows(const struct diff *diff, enum measure cost);
/* How many new stacks have the functions of one that is gone: their lines
 * moved, or they call from another line. */
size_t diff_moved(const struct diff *diff, enum measure cost);
void diff_text(const struct diff *diff, FILE *out);
void diff_json(const struct diff *diff, FILE *out);

#endif
