/*
 * recording.h: what the recorder knows of the process that it records. It has
 * nothing of that one's memory but the live mapping (preload/ring/shared.h).
 */
#ifndef GNOMON_RECORDING_H
#define GNOMON_RECORDING_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "cli/trace/format/trace_format.h"
#include "preload/base/base.h"
#include "preload/base/options.h"
#include "preload/ring/shared.h"
#include "unwind/claim.h"

/* What a forked child's recorder knows of its parent's live file
 * (parent_live.h). */
struct parent_live {
	int fd;			/* -1: there is none */
	int32_t pid;		/* whose it is */
	uint32_t exit_count;	/* of the child's place, when it was forked */
};

/*
 * A ring as the recorder gave it out, and as it was announced. The same words
 * stand in the mapping, for the hooks and for who reads a left-over file; from
 * there the recorder does not read them again (recording.c).
 */
struct recording_ring {
	uint64_t offset, mask;	/* of its data, from the mapping's start */
	uint64_t tail;
	uint64_t start_stamp, pointer;	/* when its thread was announced */
	int32_t tid;
	uint32_t generation;
	uint32_t flags;		/* enum gt_thread_flags */
	bool ready;		/* its pages (pool_ready) */
};

struct recording {
	/* told by the target */
	int32_t pid;			/* of the process recorded */
	bool forked;		/* of a process image that was recorded before */
	bool quiet;		/* the user is not to be told of its start */
	uint32_t rings_made;	/* by the target: 1, or 0 */
	uint64_t ring_bytes;	/* of the data region, of that */
	uint32_t ledger_wants;		/* enum ledger_why, of before */
	const char *parent_trace;	/* of a child made by fork; "" */
	const struct gl_born *born;
	const char *executed;		/* as what; "": not known */
	uint64_t base;			/* of the live mapping there */
	uint32_t word_bytes;
	char arch[GL_ARCH_NAME];	/* as a trace calls it */
	bool emulated;			/* an emulator runs the process */

	uint32_t ban_known;	/* of gl_shared, as it began: ours as well */

	/* found out by the writer */
	int32_t parent;			/* 0: not known */
	struct parent_live told;	/* by the parent */
	struct gl_header *live;
	struct gl_shared *shared;	/* in the live mapping, as are */
	struct gl_ring *rings;		/* GL_RINGS_MAX of them */

	/* its own */
	uint32_t ring_count;		/* rings that were given out */
	struct recording_ring *given;	/* of each */
	/* of pieces of gl_threads: offset from the mapping's start, or 0 */
	uint64_t threads[GL_RINGS_MAX / GL_THREADS];
	uint64_t start_time;	/* field 22 of /proc/PID/stat; 0: not known */
	const char *damage;		/* what was found in the mapping; NULL */
	char message[512];		/* for the user; "": none */
};

/* Whether the process may do all of this (ban.h), as far as hooks or the
 * recorder know. */
static inline bool recording_may(const struct recording *r, uint32_t what)
{
	uint32_t ban = atomic_load_explicit(&r->shared->ban_known,
					    memory_order_relaxed) |
		       atomic_load_explicit(&r->shared->ban_found,
					    memory_order_relaxed);

	return !(ban & what);
}

/* Where a ring lies in the target. */
static inline uint64_t recording_ring_address(const struct recording *r,
					      uint32_t id)
{
	return r->base + (uint64_t)((const char *)&r->rings[id] -
				    (const char *)r->live);
}

/* The data of a ring, here. */
static inline const uint8_t *recording_ring_data(const struct recording *r,
						 uint32_t id)
{
	CLAIM_FULL(id < r->ring_count);
	return (const uint8_t *)r->live + r->given[id].offset;
}

static inline bool recording_is_nested(const struct recording *r, uint32_t id)
{
	return r->given[id].flags & GT_THREAD_NESTED;
}

/* What the thread of a ring says of itself. Written by it at any time: numbers
 * are read once, a name is copied. */
static inline struct gl_thread *recording_thread(const struct recording *r,
						 uint32_t id)
{
	CLAIM_FULL(id < r->ring_count && r->threads[id / GL_THREADS]);
	return (struct gl_thread *)((char *)r->live +
				    r->threads[id / GL_THREADS]) +
	       id % GL_THREADS;
}

/* Room for what the recorder knows of rings. 0 or -ENOMEM. */
int recording_init(struct recording *r);

/*
 * The mapping says what it cannot: `what`, in two or three words. The first
 * time that becomes r->message; the writer ends the recording with it in its
 * next round. Nothing is changed for the target but that it loses its trace.
 * Also from the handler of lost_page.c.
 */
void recording_damage(struct recording *r, const char *what);

/* The options of this recording. Set before the writer begins. */
extern BASE_HIDDEN struct options *recording_options;

/* Of the target's files, as ELF says it; our own, unless it is emulated. */
extern BASE_HIDDEN uint32_t recording_machine;

#endif
