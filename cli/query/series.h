/*
 * series.h: the answer to a query over time: figures of its first rows, of all
 * others in sum, and of the whole, in steps of equal width.
 *
 *	    0        1        2            steps
 *	├────────┼────────┼────────┤
 *	0        │                 end_ns
 *	         an event at this moment belongs to step 1
 *
 * The last step has its end, too, and what may come behind it. What is live is
 * told at the end of a step, and at most within it, its beginning included.
 * All else is what happened within it: so the sums over all steps are what the
 * row's figures say, and what is live at the end of the last is what they say
 * is live. A realloc ends one block and begins another. A block is temporary
 * in the step in which it is freed. What ends without a free, since events are
 * missing, is live no longer, and no free.
 *
 * A block counts to each row that it belongs to, of an inclusive key to
 * several; to "the others" if it belongs to none of those that are shown.
 *
 * Called by the main thread.
 */
#ifndef GNOMON_QUERY_SERIES_H
#define GNOMON_QUERY_SERIES_H

#include "cli/query/rows.h"

#define SERIES_STEPS_MAX 2048
/* Steps of all series together: more, and rows are told among the others. */
#define SERIES_CELLS_MAX (1u << 22)

struct series_step {
	uint64_t live_bytes, live_blocks;	/* at its end */
	uint64_t live_bytes_max;
	uint64_t allocations, allocated_bytes;	/* within it */
	uint64_t frees, freed_bytes;
	uint64_t temporary;			/* of the frees */
};

/* The times that are told. */
struct series_axis {
	uint64_t offset_ns;	/* where the recording starts on it */
	uint64_t end_ns;
	size_t steps;		/* 1 … SERIES_STEPS_MAX */
};

struct series {
	struct series_axis axis;
	size_t shown;		/* rows; then the others, and the whole */
	struct series_step *list;	/* of the first, of the second … */
};

/* For an option. 0, or a negative errno. */
int series_parse_steps(const char *text, uint64_t *steps);
/*
 * Of the first `shown` rows, or as many as there is room for, by a second pass
 * over source->trace; rows are those of one trace, its filter is not about a
 * moment, and its profile, if there is one, has costs. Returns what
 * model_follow does. To be released.
 */
int series_follow(struct query_rows *rows, size_t shown,
		  const struct series_axis *axis, struct series *series);
void series_free(struct series *series);

/* When a step begins; of the one behind the last, the end. */
static inline uint64_t series_begin_ns(const struct series_axis *axis,
				       size_t step)
{
	return (uint64_t)((unsigned __int128)axis->end_ns * step /
			  axis->steps);
}

/* The steps of a row; of `shown`, of the others. */
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

/* What is told of an order over time: live at a step's end, at most within it
 * (peak, own-peak), allocated bytes (total), allocations, temporary ones. */
uint64_t series_value(const struct series_step *step, enum figure order);
/* Is it one of these? */
bool series_has(enum figure order);
/* Each figure by its name, always in the same order. */
void series_each(const struct series_step *step,
		 void (*each)(void *owner, const char *name, uint64_t value),
		 void *owner);

#endif
