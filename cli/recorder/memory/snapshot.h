/*
 * snapshot.h: takes snapshots: every mapping of the target with the kernel's
 * sizes of it, and the allocator's arenas, at one moment. The recorder only.
 *
 * A snapshot may take longer than threads can wait for a ring drain, so it is
 * taken in slices between passes over the rings.
 */
#ifndef GNOMON_SNAPSHOT_H
#define GNOMON_SNAPSHOT_H

#include <stdbool.h>
#include <stdint.h>

#include "preload/ring/arenas.h"
#include "cli/recorder/emit/chunk.h"
#include "cli/recorder/emit/compress.h"
#include "cli/recorder/live/live.h"
#include "cli/recorder/base/proc_lines.h"
#include "cli/recorder/base/recording.h"
#include "cli/recorder/memory/profiler_ranges.h"
#include "cli/recorder/memory/smaps.h"

#define SNAPSHOT_NAME_MAX GT_NAME_MAX	/* with its NUL */

struct snapshot {
	struct recording *r;
	const struct live *live;
	struct chunk_out *out;
	struct compress *compress;
	struct compress_past past;
	unsigned tick_shift;
	uint64_t every_ns;	/* 0: only on request, and at the end */
	uint64_t due_ns;
	uint64_t number;	/* of the last one begun, from 1 */

	/* of the current snapshot */
	bool busy, reading;
	bool held;		/* the last one: its end is not written yet */
	bool whole;		/* all mappings were read */
	enum gt_snapshot_kind kind;
	char name[SNAPSHOT_NAME_MAX];
	uint64_t begin_ns, read_ns;	/* reading began, ended */
	uint64_t begin_tick, end_tick;
	uint64_t mappings;
	struct profiler_ranges own;	/* as reading began */
	struct proc_lines lines;
	bool open;		/* `mapping` still lacks its sizes */
	struct proc_lines_mapping mapping;
	struct smaps smaps, sums;	/* of `mapping`; of all before it */
	/* rows of a chunk */
	uint8_t *rows, *row_end;
	uint64_t row_count, row_page;	/* end of the previous mapping */
	char *path, *path_before, *buffer;

	enum gt_arenas_state arenas_state;
	struct arenas arenas;
	bool arenas_wanted;
	uint64_t arenas_ns, arenas_cost_ns;	/* last taken, and the time it
						 * took */
};

void snapshot_init(struct snapshot *snapshot, struct recording *r,
		   const struct live *live, struct chunk_out *out,
		   struct compress *compress);

/* Takes snapshots at this interval from now on; 0: none by interval. */
void snapshot_every(struct snapshot *snapshot, uint64_t ns);

/* Begins a snapshot. False: one is in progress. */
bool snapshot_begin(struct snapshot *snapshot, enum gt_snapshot_kind kind,
		    const char *name);

/* Begins a snapshot if one is due, and works on it for some milliseconds.
 * Whether there is more to do immediately. */
bool snapshot_step(struct snapshot *snapshot, uint64_t now_ns);

/* How long the recorder may sleep until the next snapshot. */
uint64_t snapshot_wait_ns(const struct snapshot *snapshot);

/* Takes the snapshot at the end in full; one in progress is aborted. It is held
 * until snapshot_drop or snapshot_finish, and no other one begins before.
 * Returns the sums of all mappings, or NULL. */
const struct smaps *snapshot_last(struct snapshot *snapshot);
void snapshot_drop(struct snapshot *snapshot);

/* At the end: writes the held snapshot, or the data so far of one in
 * progress. */
void snapshot_finish(struct snapshot *snapshot);

#endif
