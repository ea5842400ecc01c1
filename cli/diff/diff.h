/*
 * diff.h: the parts of `gnomon diff`: two sides in one profile, and how their
 * differences are told. Called by the main thread.
 */
#ifndef GNOMON_DIFF_H
#define GNOMON_DIFF_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "cli/command/comparing.h"
#include "cli/stack/difference.h"
#include "cli/stack/profile.h"
#include "cli/query/query.h"
#include "cli/stack/profile_groups.h"

/* Not larger differences do not count. */
struct diff_threshold {
	double percent;		/* of the larger side's sum of the cost; */
	uint64_t amount;	/* and of these two the larger one */
};

struct diff {
	const struct compared_side *sides;	/* before, after */
	struct profile *profile;	/* sealed */
	/* Of one key, of a profile's, exclusive; rows are of each cost. */
	const struct query *query;
	bool one_cost;		/* the query's order, alone */
	struct diff_threshold threshold;
	bool full_names;
	struct profile_groups groups;
	struct differences found[FIGURES_MAX];	/* of costs that are shown */
	bool differs;
};

/* Is this the cost that is compared, or one of those that are where none was
 * chosen? */
bool diff_shows(const struct diff *diff, enum figure cost);
void diff_text(const struct diff *diff, FILE *out);
void diff_json(const struct diff *diff, FILE *out);

#endif
