/*
 * snapshot.h: every mapping of the target with what the kernel says of it,
 * and what its allocator holds, at one moment. The writer only.
 *
 * A snapshot may take longer than threads can wait for their rings to be
 * emptied, so it is taken in slices between passes over these.
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
#include "cli/recorder/memory/own_ranges.h"
#include "cli/recorder/memory/smaps.h"

#define SNAPSHOT_NAME_MAX GT_NAME_MAX	/* with its NUL */

struct snapshot {
	struct recording *r;
	const struct live *live;
	struct chunk_out *out;
	struct compress *compress;
	struct compress_past past;
	unsigned tick_shift;
	uint64_t every_ns;	/* 0: only when asked, and the last */
	uint64_t due_ns;
	uint64_t number;	/* of the last one begun, from 1 */

	/* of the one at hand */
	bool busy, reading;
	bool held;		/* the last one: its end is yet to be written */
	bool whole;		/* all mappings were read */
	enum gt_snapshot_kind kind;
	char name[SNAPSHOT_NAME_MAX];
	uint64_t begin_ns, read_ns;	/* reading began, ended */
	uint64_t begin_tick, end_tick;
	uint64_t mappings;
	struct own_ranges own;	/* as reading began */
	struct proc_lines lines;
	bool open;		/* `mapping` waits for its figures */
	struct proc_lines_mapping mapping;
	struct smaps smaps, sums;	/* of it; of those before it */
	/* rows of a chunk */
	uint8_t *rows, *row_end;
	uint64_t row_count, row_page;	/* where the mapping before ends */
	char *path, *path_before, *buffer;

	enum gt_arenas_state arenas_state;
	struct arenas arenas;
	bool arenas_wanted;
	uint64_t arenas_ns, arenas_cost_ns;	/* taken last, and its cost */
};

void snapshot_init(struct snapshot *snapshot, struct recording *r,
		   const struct live *live, struct chunk_out *out,
		   struct compress *compress);

/* From now on by itself at this interval; 0: not by itself. */
void snapshot_every(struct snapshot *snapshot, uint64_t ns);

/* Begins one. False: there is one under way. */
bool snapshot_begin(struct snapshot *snapshot, enum gt_snapshot_kind kind,
		    const char *name);

/* Begins one where it is time to, and goes on with it for some milliseconds.
 * Whether there is more to do at once. */
bool snapshot_step(struct snapshot *snapshot, uint64_t now_ns);

/* How long the writer may sleep for all that. */
uint64_t snapshot_wait_ns(const struct snapshot *snapshot);

/* The one at the end, as a whole; one under way is broken off. It is held, and
 * none begins, until it is dropped or finished. The sums of all mappings, or
 * NULL. */
const struct smaps *snapshot_last(struct snapshot *snapshot);
void snapshot_drop(struct snapshot *snapshot);

/* There is no more: writes the one that is held, or what there is of one that
 * is under way. */
void snapshot_finish(struct snapshot *snapshot);

#endif
