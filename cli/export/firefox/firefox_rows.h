/*
 * firefox_rows.h: allocations and frees over time as table rows for the Firefox
 * Profiler, and a timeline of live memory.
 *
 * Each bundle (bundles.h) has at most two rows: its allocation and its free.
 * Some traces have no complete list of events: those read from a pipe, recorded
 * with --sample, or stripped of blocks. There each context is one bundle.
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
	uint32_t id;		/* of the bundle: allocation and free have the
				 * same */
	uint32_t node;
	uint32_t thread;	/* 0 unless rows are split by thread */
	bool ends;		/* a free; else an allocation */
	bool lives;		/* never freed */
	uint64_t bytes, blocks, temporary;
};

struct firefox_rows {
	struct firefox_row *list;	/* by thread, then time */
	size_t count;
	/* Live memory of the contexts that pass the filters; no buckets:
	 * unknown */
	struct timeline timeline;
	uint64_t span_ns;	/* time resolution of bundles; UINT64_MAX: one
				 * bundle a context */
};

/* Same return value as export_follow. */
int firefox_rows_collect(struct firefox_rows *rows, struct export *export);
/* Sort by time over all threads; the order by thread is lost. */
void firefox_rows_by_time(struct firefox_rows *rows);
void firefox_rows_free(struct firefox_rows *rows);

#endif
