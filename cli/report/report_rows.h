/*
 * report_rows.h: the rows of a report: what each is about, its figures, and
 * the largest of the stacks that it consists of.
 */
#ifndef GNOMON_REPORT_ROWS_H
#define GNOMON_REPORT_ROWS_H

#include "cli/report/report.h"
#include "cli/stack/profile_groups.h"

#define REPORT_PARTS 3		/* stacks shown under a row */

struct report_rows {
	struct rows rows;	/* largest first */
	size_t nonzero;		/* of all, those that have anything of the key */
	bool grouped;		/* rows consist of stacks */
	bool exact;		/* their own peaks are, and no sums */
	/* With a profile: numbered by a row's `group`. */
	struct profile_groups groups;
};

/* What a stack has of a row. */
struct report_part {
	struct figures figures;
	uint32_t node;		/* the context */
};

/* The largest ones, largest first, and how many have anything of the key. */
struct report_parts {
	struct report_part list[REPORT_PARTS];
	size_t count;
	uint64_t nonzero;
};

/* What makes contexts one row, where that is no profile's: its `group`; NULL:
 * each is a row. Its owner is the report's frames. */
typedef uint64_t report_group(void *frames, const struct context_cost *cost);
report_group *report_rows_grouping(const struct report *report);
/* At least the first `top`; 0: all. */
void report_rows_collect(const struct report *report, enum figure key,
			 uint64_t top, struct report_rows *rows);
/* For each of the first `shown` rows; to be freed. */
struct report_parts *report_rows_parts(const struct report *report,
				       const struct report_rows *rows,
				       size_t shown);
void report_rows_free(struct report_rows *rows);

/* Their name: "stacks", "sites". */
const char *report_rows_name(const struct report *report, uint64_t count);

#endif
