/*
 * maps_watch.h: what is mapped in the target, as the kernel lists it, in
 * differences between one look and the next (MAPS chunks, trace_format.h).
 *
 * The hooks record each mapping that the program makes. What the C library and
 * the loader map inside of their functions passes no hook: it is found here.
 * The writer only.
 */
#ifndef GNOMON_MAPS_WATCH_H
#define GNOMON_MAPS_WATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/recorder/base/proc_lines.h"
#include "cli/recorder/emit/chunk.h"
#include "cli/recorder/memory/own_ranges.h"

/* One mapping of the last look: what it takes to see that it is the same. */
struct maps_watch_entry {
	uint64_t start, end;
	uint64_t identity;	/* hash of everything else */
};

struct maps_watch {
	struct chunk_out *out;
	unsigned tick_shift;
	int pid;		/* of the target */
	const struct gl_shared *shared;	/* of the target: what is ours there */
	struct own_ranges own;		/* as the look began */
	struct maps_watch_entry *last, *next;	/* by address; two lists */
	uint32_t last_count, next_count;
	uint32_t max;		/* entries of a list */
	uint32_t passed;	/* of `last`, compared with what was read */
	bool on;
	/* a look that goes on over several steps */
	bool looking;
	bool first;		/* nothing was written before */
	bool cut;		/* it had more mappings than entries */
	struct proc_lines lines;
	char *buffer;
	uint64_t since;		/* ticks at the begin of the look before */
	uint64_t begun;		/* and of this one */
	/* when to look next */
	uint64_t next_ns;	/* not before */
	uint64_t ended_ns;	/* of the last one */
	uint64_t spent_ns;	/* processor time of the look in progress */
	uint64_t size[3];	/* of /proc/PID/statm, at the last look */
	uint32_t hints;
	/* A compiler maps the file in which it describes code (emit_dump.h):
	 * its path, once it was seen. Its name ends like this. */
	char dump[GT_PATH_MAX], dump_end[32];
	/* for the counters */
	uint64_t looks, cuts, spent_all_ns;
	/* where records go, and what they are differences to */
	uint8_t *to;
	uint64_t previous;
	uint64_t path_hash;
};

/* Memory from zeroed_alloc; without it, nothing is watched. `pid`: of the
 * target, as it knows itself. */
void maps_watch_init(struct maps_watch *watch, struct chunk_out *out,
		     unsigned tick_shift, int pid,
		     const struct gl_shared *shared);

/*
 * Looks, if it is time; a long list over several calls, each of which takes
 * about a millisecond. `hints` counts up where something is known to have been
 * mapped. True: it wants to be called again soon.
 */
bool maps_watch_step(struct maps_watch *watch, uint64_t now_ns,
		     uint32_t hints);

/* The trace is another file: all of it is written once more, now. */
void maps_watch_again(struct maps_watch *watch);

/* A whole look now: at the start, and at the end. */
void maps_watch_whole(struct maps_watch *watch);

/* The process has ended: a look that was under way ends, too. */
void maps_watch_finish(struct maps_watch *watch);

#endif
