/*
 * store_sweep.h: results that depend on the order of edges of selected rows:
 * the peak of the selection, own peaks of groups, measures over time. Edges
 * come in the order in which pairing reported them, so that maxima are the same
 * as in the model (cli/model/account.h): a maximum is at the first allocation
 * after which live bytes are larger than ever before.
 *
 * Edges are sorted window by window (store_edges.c): chunks are read about
 * three times, and some 250 MiB are used, however many rows there are.
 */
#ifndef GNOMON_STORE_SWEEP_H
#define GNOMON_STORE_SWEEP_H

#include "cli/store/store_group.h"

/* Of a selection or a group; all 0 without blocks. */
struct store_peak {
	uint64_t bytes, blocks;	/* at the maximum of live bytes */
	uint64_t edge;		/* of the allocation */
	uint64_t stamp;		/* of that allocation */
};

/*
 * The peak of all selected rows, in a group or not, and own peaks of groups.
 * `grouping` and `peaks` may be NULL, and so may `whole`. Errors as
 * store_scan_each. For live bytes by group at the peak, use store_group with
 * STORE_SUM_ALIVE_EDGE.
 */
int store_peaks(struct store *store, const struct store_scan *scan,
		const struct store_grouping *grouping,
		const struct store_weight *weight,
		struct store_peak *whole, struct store_peak *peaks);

/* As in series.h: live at the end of the step; all others during the step. */
struct store_step {
	uint64_t live_bytes, live_blocks;
	uint64_t live_bytes_max;	/* including the begin of the step */
	uint64_t allocations, allocated_bytes;
	uint64_t frees, freed_bytes;	/* freed or moved, not lost */
	uint64_t temporary;		/* of the frees */
};

#define STORE_STEPS_MAX 65536

struct store_axis {
	/* Stamps at which steps begin, ascending. The first is ignored: step 0
	 * has everything before step 1, the last step everything after its
	 * begin. Borrowed. */
	const uint64_t *begins;
	size_t steps;		/* 1 … STORE_STEPS_MAX */
	uint64_t temporary;	/* at most this many allocations between */
	bool maxima;		/* compute live_bytes_max, which takes a sweep;
				 * otherwise it is 0 */
};

/*
 * Measures over time: `list` has axis->steps entries for each group, in order,
 * then as many for all selected rows. An edge belongs to the last step whose
 * begin the stamp of this edge, or of a selected edge before it, has reached.
 * Errors as store_scan_each.
 */
int store_timeline(struct store *store, const struct store_scan *scan,
		   const struct store_grouping *grouping,
		   const struct store_weight *weight,
		   const struct store_axis *axis, struct store_step *list);

#endif
