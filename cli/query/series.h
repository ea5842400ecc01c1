/*
 * series.h: the answer to a query over time: measures of its first rows, of all
 * others together, and of the whole, in steps of equal width.
 *
 *	    0        1        2            steps
 *	├────────┼────────┼────────┤
 *	0        │                 end_ns
 *	         an event at this moment belongs to step 1
 *
 * The last step includes its end, and all later events. Live memory is given at
 * the end of a step, and as the maximum within it, including its beginning. All
 * other values count events within the step. So the sums over all steps equal
 * the row's measures, and live at the end of the last step equals the row's
 * live. A realloc ends one block and begins another. A temporary block counts
 * in the step in which it is freed. A block that ends without a free, because
 * events are missing, is no longer live, and counts as no free.
 *
 * A block counts for each row that it belongs to, with an inclusive key for
 * several; for "the others" if it belongs to none of the shown rows.
 *
 * Called by the main thread.
 */
#ifndef GNOMON_QUERY_SERIES_H
#define GNOMON_QUERY_SERIES_H

#include "cli/query/rows.h"

#define SERIES_STEPS_MAX 2048
/* Limit on the steps of all series; rows beyond it are among the others. */
#define SERIES_CELLS_MAX (1u << 22)

struct series_step {
	uint64_t live_bytes, live_blocks;	/* at the step's end */
	uint64_t live_bytes_max;
	uint64_t allocations, allocated_bytes;	/* within it */
	uint64_t frees, freed_bytes;
	uint64_t temporary;			/* among the frees */
};

/* The time range. */
struct series_axis {
	uint64_t offset_ns;	/* where the recording starts on the axis */
	uint64_t end_ns;
	size_t steps;		/* 1 … SERIES_STEPS_MAX */
};

struct series {
	struct series_axis axis;
	size_t shown;		/* rows; then the others, and the whole */
	struct series_step *list;	/* series after series */
};

/* Parses an option's value. 0, or a negative errno. */
int series_parse_steps(const char *text, uint64_t *steps);
/*
 * Compute the first `shown` rows, or as many as fit, by a second pass over
 * source->trace. Rows must be those of one trace, the filter not about a
 * moment, and a profile, if any, must have costs. Returns the status of
 * model_follow. To be freed by series_free.
 */
int series_follow(struct query_rows *rows, size_t shown,
		  const struct series_axis *axis, struct series *series);
void series_free(struct series *series);

/* Begin of a step; for the step after the last, the end. */
static inline uint64_t series_begin_ns(const struct series_axis *axis,
				       size_t step)
{
	return (uint64_t)((unsigned __int128)axis->end_ns * step /
			  axis->steps);
}

/* The steps of a row; for row `shown`, of the others. */
static inline const struct series_step *
series_of(const struct series *series, size_t row)
{
	return series->list + row * series->axis.steps;
}

static inline const struct series_step *
series_others(const struct series *series)
{
	return series_of(series, series->shown);
}

static inline const struct series_step *
series_whole(const struct series *series)
{
	return series_of(series, series->shown + 1);
}

/* The value of a sort key in a step: live at its end, maximum within it (peak,
 * own-peak), allocated bytes (total), allocations, temporary blocks. */
uint64_t series_value(const struct series_step *step, enum measure order);
/* Whether the sort key has such a value. */
bool series_has(enum measure order);
/* Calls `each` for each value and its name, always in the same order. */
void series_each(const struct series_step *step,
		 void (*each)(void *owner, const char *name, uint64_t value),
		 void *owner);

#endif
