/*
 * maps_watch.h: writes the target's mappings, as the kernel lists them, as
 * differences between one scan and the next (MAPS chunks, trace_format.h).
 *
 * Hooks record each mapping that the program makes. Mappings made inside the C
 * library and the loader pass no hook: they are found here. The recorder only.
 */
#ifndef GNOMON_MAPS_WATCH_H
#define GNOMON_MAPS_WATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/recorder/base/proc_lines.h"
#include "cli/recorder/emit/chunk.h"
#include "cli/recorder/memory/profiler_ranges.h"

/* One mapping of the last scan, with what is needed to recognise it. */
struct maps_watch_entry {
	uint64_t start, end;
	uint64_t identity;	/* hash of everything else */
};

struct maps_watch {
	struct chunk_out *out;
	unsigned tick_shift;
	int pid;		/* of the target */
	const struct gl_shared *shared;	/* of the target: has our own ranges */
	struct profiler_ranges own;		/* as the scan began */
	struct maps_watch_entry *last, *next;	/* by address; two lists */
	uint32_t last_count, next_count;
	uint32_t max;		/* entries of a list */
	uint32_t passed;	/* of `last`, already compared */
	bool on;
	/* a scan over several steps */
	bool looking;
	bool first;		/* first scan */
	bool cut;		/* there were more mappings than entries */
	struct proc_lines lines;
	char *buffer;
	uint64_t since;		/* ticks at the start of the previous scan */
	uint64_t begun;		/* and of this scan */
	/* when to scan next */
	uint64_t next_ns;	/* not before */
	uint64_t ended_ns;	/* of the last scan */
	uint64_t spent_ns;	/* processor time of the current scan */
	uint64_t size[3];	/* of /proc/PID/statm, at the last scan */
	uint32_t hints;
	/* A JIT compiler maps its jitdump (emit_dump.h): its path, once seen.
	 * `dump_end`: how its name ends. */
	char dump[GT_PATH_MAX], dump_end[32];
	/* for the counters */
	uint64_t looks, cuts, spent_all_ns;
	/* output of records, and the values they are relative to */
	uint8_t *to;
	uint64_t previous;
	uint64_t path_hash;
};

/* Memory from zeroed_alloc; without memory, does nothing. `pid`: of the target,
 * in its own namespace. */
void maps_watch_init(struct maps_watch *watch, struct chunk_out *out,
		     unsigned tick_shift, int pid,
		     const struct gl_shared *shared);

/*
 * Scans if a scan is due. A long list takes several calls, about a millisecond
 * each. `hints` increases when something is known to have been mapped. True:
 * call again soon.
 */
bool maps_watch_step(struct maps_watch *watch, uint64_t now_ns,
		     uint32_t hints);

/* The trace continues in another file: writes all mappings again, now. */
void maps_watch_again(struct maps_watch *watch);

/* Makes a full scan now: at the start and at the end. */
void maps_watch_whole(struct maps_watch *watch);

/* The process has ended: ends a scan in progress. */
void maps_watch_finish(struct maps_watch *watch);

#endif
