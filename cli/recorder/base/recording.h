/*
 * recording.h: the recorder's data about the process that it records. Of that
 * process's memory it maps only the live mapping (preload/ring/shared.h).
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
#include "unwind/base/assertion.h"

/* The parent's live file, in a forked child's recorder (parent_live.h). */
struct parent_live {
	int fd;			/* -1: none */
	int32_t pid;		/* the parent's */
	uint32_t exit_count;	/* of the child's slot, when it was forked */
};

/*
 * A ring as the recorder created it, and as its thread announced it. The
 * mapping has the same words, for hooks and for live file recovery. The
 * recorder never reads them back from there (recording.c).
 */
struct recording_ring {
	uint64_t offset, mask;	/* of its data, from the mapping's start */
	uint64_t tail;
	uint64_t start_stamp, pointer;	/* when its thread was announced */
	int32_t tid;
	uint32_t generation;
	uint32_t flags;		/* enum gt_thread_flags */
	bool ready;		/* its pages are populated (ring_pool_ready) */
};

struct recording {
	/* sent by the target */
	int32_t pid;			/* of the recorded process */
	bool forked;		/* forked from a recorded process */
	bool quiet;		/* print no message about the start */
	uint32_t rings_made;	/* created by the target: 1, or 0 */
	uint64_t ring_bytes;	/* of that ring, in the data region */
	uint32_t blocks_users;		/* enum blocks_user, from before */
	const char *parent_trace;	/* of a child made by fork; "" */
	const struct gl_at_start *at_start;
	const char *executed;		/* path executed; "": unknown */
	uint64_t base;			/* of the live mapping, in the target */
	uint32_t word_bytes;
	char arch[GL_ARCH_NAME];	/* as named in a trace */
	bool emulated;			/* an emulator runs the process */

	uint32_t ban_known;	/* of gl_shared, at the start: also our bans */

	/* determined by the recorder */
	int32_t parent;			/* 0: not known */
	struct parent_live from_parent;	/* the parent's live file */
	struct gl_header *live;
	struct gl_shared *shared;	/* in the live mapping, as is */
	struct gl_ring *rings;		/* GL_RINGS_MAX of them */

	/* the recorder's own */
	uint32_t ring_count;		/* rings created */
	struct recording_ring *given;	/* by ring id */
	/* offset of each piece of gl_threads from the mapping's start, or 0 */
	uint64_t threads[GL_RINGS_MAX / GL_THREADS];
	uint64_t start_time;	/* field 22 of /proc/PID/stat; 0: not known */
	const char *damage;		/* format error in it; NULL */
	char message[512];		/* for the user; "": none */
};

/* Whether the process may do all of `what` (ban.h), as far as hooks or the
 * recorder know. */
static inline bool recording_may(const struct recording *r, uint32_t what)
{
	uint32_t ban = atomic_load_explicit(&r->shared->ban_known,
					    memory_order_relaxed) |
		       atomic_load_explicit(&r->shared->ban_found,
					    memory_order_relaxed);

	return !(ban & what);
}

/* A ring's address in the target. */
static inline uint64_t recording_ring_address(const struct recording *r,
					      uint32_t id)
{
	return r->base + (uint64_t)((const char *)&r->rings[id] -
				    (const char *)r->live);
}

/* A ring's data, in the recorder's mapping. */
static inline const uint8_t *recording_ring_data(const struct recording *r,
						 uint32_t id)
{
	DEBUG_ASSERT(id < r->ring_count);
	return (const uint8_t *)r->live + r->given[id].offset;
}

static inline bool recording_is_nested(const struct recording *r, uint32_t id)
{
	return r->given[id].flags & GT_THREAD_NESTED;
}

/* The data that a ring's thread publishes about itself. The thread may write it
 * at any time: read each number once, copy a name. */
static inline struct gl_thread *recording_thread(const struct recording *r,
						 uint32_t id)
{
	DEBUG_ASSERT(id < r->ring_count && r->threads[id / GL_THREADS]);
	return (struct gl_thread *)((char *)r->live +
				    r->threads[id / GL_THREADS]) +
	       id % GL_THREADS;
}

/* Allocates the recorder's tables of rings. 0 or -ENOMEM. */
int recording_init(struct recording *r);

/*
 * Reports an impossible value in the mapping: `what`, in two or three words.
 * The first report becomes r->message, and the recorder ends the recording with
 * it in its next round. The target runs on unchanged, without a trace. Also
 * called from the handler of lost_page.c.
 */
void recording_damage(struct recording *r, const char *what);

/* The options of this recording. Set before the recorder begins. */
extern BASE_HIDDEN struct options *recording_options;

/* ELF machine of the target's files; the recorder's own, unless the target is
 * emulated. */
extern BASE_HIDDEN uint32_t recording_machine;

#endif
