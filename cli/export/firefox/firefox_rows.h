/*
 * firefox_rows.h: what was allocated and freed, and when, as the rows of a
 * table for the Firefox Profiler, and what was live over time.
 *
 * There are at most two rows for each bundle (bundles.h): its birth, and its
 * end. In traces whose events cannot be followed, or do not tell all (a pipe,
 * a sample, one from which blocks were stripped), bundles are contexts.
 * Called by the main thread.
 */
#ifndef GNOMON_FIREFOX_ROWS_H
#define GNOMON_FIREFOX_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/command/export.h"
#include "cli/model/stats/timeline.h"

struct firefox_row {
	uint64_t ns;
	uint32_t id;		/* of its bundle: birth and end have the same */
	uint32_t node;
	uint32_t thread;	/* 0, unless threads are split */
	bool ends;		/* else it begins */
	bool lives;		/* it never ends */
	uint64_t bytes, blocks, temporary;
};

struct firefox_rows {
	struct firefox_row *list;	/* by thread, then time */
	size_t count;
	/* What was live, of the contexts that are kept; no buckets: unknown */
	struct timeline timeline;
	uint64_t span_ns;	/* bundles are exact to this; UINT64_MAX: they
				 * are contexts */
};

/* Returns what export_follow does. */
int firefox_rows_collect(struct firefox_rows *rows, struct export *export);
/* For all threads together; there is no order by thread any more. */
void firefox_rows_by_time(struct firefox_rows *rows);
void firefox_rows_free(struct firefox_rows *rows);

#endif
