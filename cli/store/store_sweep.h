/*
 * store_sweep.h: what depends on the order of births and ends of selected rows:
 * the peak of the selection, own peaks of groups, figures over time. Edges come
 * in the order in which pairing told them, so that maxima are those that the
 * model finds (cli/model/account.h): a maximum is told at the first birth after
 * which live bytes are more than ever before.
 *
 * Edges are put into order window by window (store_edges.c): chunks are read
 * about three times, and some 250 MiB are taken, however many rows there are.
 */
#ifndef GNOMON_STORE_SWEEP_H
#define GNOMON_STORE_SWEEP_H

#include "cli/store/store_group.h"

/* Of a selection or a group; without blocks all are 0. */
struct store_peak {
	uint64_t bytes, blocks;	/* live at the maximum of bytes */
	uint64_t edge;		/* of the birth */
	uint64_t stamp;		/* of that birth */
};

/*
 * The peak of all selected rows, in a group or not, and own peaks of groups.
 * `grouping` and `peaks` may be NULL; `whole` too. As store_scan_each. What was
 * live by group at the peak of the whole: store_group with
 * STORE_SUM_ALIVE_EDGE.
 */
int store_peaks(struct store *store, const struct store_scan *scan,
		const struct store_grouping *grouping,
		const struct store_weight *weight,
		struct store_peak *whole, struct store_peak *peaks);

/* As series.h has it: live at the end of the step; all else within it. */
struct store_step {
	uint64_t live_bytes, live_blocks;
	uint64_t live_bytes_max;	/* beginning included */
	uint64_t allocations, allocated_bytes;
	uint64_t frees, freed_bytes;	/* freed or moved, not lost */
	uint64_t temporary;		/* of the frees */
};

#define STORE_STEPS_MAX 65536

struct store_axis {
	/* Stamps at which steps begin, not falling; the first is not looked at:
	 * step 0 has all that is before step 1, the last one all that is
	 * behind. Borrowed. */
	const uint64_t *begins;
	size_t steps;		/* 1 … STORE_STEPS_MAX */
	uint64_t temporary;	/* at most so many allocations between */
	bool maxima;		/* live_bytes_max is wanted, which takes a sweep;
				 * else it is 0 */
};

/*
 * Figures over time: `list` has axis->steps entries for each group, in order,
 * and then as many for all selected rows. An edge belongs to the last step that
 * some selected edge before it, or itself, has reached by its stamp. As
 * store_scan_each.
 */
int store_timeline(struct store *store, const struct store_scan *scan,
		   const struct store_grouping *grouping,
		   const struct store_weight *weight,
		   const struct store_axis *axis, struct store_step *list);

#endif
