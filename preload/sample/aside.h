/*
 * aside.h: the record gate's slow branch: decides whether an event is recorded.
 * Programs run for hours with a dormant recorder, so this is short. For an
 * event that is left out it calls nothing and changes no state of the recorder.
 *
 *	hook ─ thread->ring? ─▶ recorded
 *	         │ NULL: not known, or a reason (enum thread_aside)
 *	         ▼
 *	       aside_leaves_out_… ─ yes ─▶ back to the program
 *	         │ no
 *	         ▼
 *	       recorder_thread ─▶ thread->own ─▶ recorded after all, or not
 *
 * DORMANT. The gate of the recorder (gate.h) is shut, so recording is off. Only
 * the writer shuts it (control.c); a signal handler may open it. Threads notice
 * it here, or when their ring has no room: the writer takes the room away (I1).
 * They resume by themselves, at their first event after a start.
 *
 * I1: while the recorder is dormant, the writer keeps `limit` of all rings at 0
 * (ring_kick). So each thread pushes only few events more, which the reader
 * recognises by their stamps.
 *
 * CHOICE. A thread that does not record every block (THREAD_CHOOSES) skips most
 * events in a few instructions: new blocks that the sampler leaves out
 * (choose.h), frees of blocks that are not in the sampled set (chosen.h). Other
 * events reach aside_block and aside_address. While dormant, the sampler runs,
 * too, and its result is discarded: so the time of a start does not affect the
 * sample.
 *
 * Any thread of the target at any time, also signal handlers; errno is kept.
 */
#ifndef GNOMON_ASIDE_H
#define GNOMON_ASIDE_H

#include "preload/ring/gate.h"
#include "preload/ring/recorder.h"
#include "preload/sample/sample.h"

/*
 * What malloc and free check first, before they make a frame. Follows from the
 * options and the gate (aside_start, aside_follow).
 */
enum aside_way {
	ASIDE_PERHAPS,		/* the thread, and the address of the block */
	ASIDE_NOT,		/* nothing: all is recorded, real_only */
	ASIDE_CHOICE		/* real_only; recorded blocks are in `chosen` */
};

extern BASE_HIDDEN uint8_t aside_way;

/* False in a forked child until its recorder has started. */
static inline bool aside_dormant(void)
{
	const struct recorder *r = recorder;

	return likely(r) &&
	       (likely(r->shared) ? gate_is_shut(r->shared) :
				    atomic_load_explicit(&r->state,
							 memory_order_relaxed) ==
					    RECORDER_OFF);
}

/* A thread of the target has found the gate shut, or open: sets aside_way to
 * match. Until a thread does, hooks only check more than they must. */
void aside_follow(void);

/* aside_follow where an event is left out because the gate is shut. */
static inline void aside_follow_shut(void)
{
	if (unlikely(aside_way == ASIDE_NOT))
		aside_follow();
}

/* Result of aside_block and aside_address instead of a kind. */
#define ASIDE_NOTHING 0xffu

/* Run the sampler of a thread that has one, and discard the result. */
void aside_asleep_block(struct thread *thread, unsigned kind, uint64_t size);
void aside_asleep_address(struct thread *thread, unsigned kind,
			  uint64_t address);

/* Whether a hook can skip the event: dormant, and the thread (NULL: unknown)
 * has no sampler to run. */
static inline bool aside_sleeps(const struct thread *thread)
{
	return aside_dormant() && !(thread && thread->aside & THREAD_CHOOSES);
}

/* aside_leaves_out_block for blocks that can be skipped by their size alone. */
bool aside_passes(struct thread *thread, unsigned kind, uint64_t size);

/* Whether a new block (GT_ALLOC, GT_REALLOC_DONE) is not recorded. */
static inline bool aside_leaves_out_block(unsigned kind, uint64_t size)
{
	struct thread *thread = recorder_tls;

	if (unlikely(thread) &&
	    thread->aside == (THREAD_CHOOSES | THREAD_LOOKS) &&
	    aside_passes(thread, kind, size))
		return true;
	if (!aside_dormant())
		return false;
	if (unlikely(thread) && thread->aside & THREAD_CHOOSES)
		aside_asleep_block(thread, kind, size);
	aside_follow_shut();
	return true;
}

/* The same before the allocation, for the usual case of sampling. (If the
 * allocation then fails, only the position on the sampler's line has moved.) */
static inline bool aside_passes_over(struct thread *thread, uint64_t size)
{
	uint64_t length = size + !size;

	if (unlikely(thread->aside != THREAD_CHOOSES) ||
	    unlikely(length >= (uint64_t)thread->choose.until))
		return false;
	thread->choose.until -= (int64_t)length;
	return true;
}

/* The same in a hook itself, after the allocation. */
static inline __attribute__((always_inline)) bool
aside_skips_block(struct thread *thread, unsigned kind, uint64_t size)
{
	bool moves = kind != GT_ALLOC;

	if ((moves && unlikely(thread->moving & 1)) ||
	    !aside_passes_over(thread, size))
		return false;
	if (moves)
		thread->moving >>= 1;
	return true;
}

/* Whether the sampled set determines which frees are recorded. */
static inline bool aside_chooses_ends(const struct thread *thread)
{
	return thread->aside & THREAD_CHOOSES;
}

/* Whether the free can be skipped because the block was not recorded. */
static inline bool aside_skips_end(struct thread *thread, unsigned kind,
				   uint64_t block)
{
	if ((kind != GT_FREE && kind != GT_REALLOC_BEGIN) ||
	    !aside_chooses_ends(thread) ||
	    unlikely(!chosen_never(&sample->chosen, block)))
		return false;
	if (kind == GT_FREE)
		return true;
	/* it may be part of another hook's call */
	if (thread->aside & THREAD_LOOKS)
		return false;
	thread->moving <<= 1;
	return true;
}

/* Whether the end of a block, or of a realloc attempt, is not recorded. */
static inline __attribute__((always_inline)) bool
aside_leaves_out_address(unsigned kind, uint64_t block)
{
	struct thread *thread = recorder_tls;

	if (unlikely(thread) && aside_skips_end(thread, kind, block))
		return true;
	if (!aside_dormant())
		return false;
	if (unlikely(thread) && thread->aside & THREAD_CHOOSES)
		aside_asleep_address(thread, kind, block);
	aside_follow_shut();
	return true;
}

/*
 * For a thread on the slow branch, outside of real functions: the kind to
 * record the event as, or ASIDE_NOTHING. From here on the block counts as
 * recorded. GT_REALLOC_FREED: the end of the old block; the new one is not
 * recorded.
 */
unsigned aside_block(struct thread *thread, unsigned kind, uint64_t word1,
		     uint64_t size);
unsigned aside_address(struct thread *thread, unsigned kind,
		       uint64_t address);

/* For the same thread, before an event that is not about a block: applies
 * pending changes. */
void aside_extra(struct thread *thread);

/*
 * `block` is about to be freed. Returns the most blocks that the thread can
 * have allocated since its last recorded allocation or since this block; 0:
 * none, or irrelevant.
 */
uint64_t aside_passed(struct thread *thread, uint64_t block);

/* The recorder starts: applies the options. seed: of the threads' lines. */
void aside_start(uint64_t seed);

/* A thread starts, with its ring; or a setting for all threads may have
 * changed. */
void aside_thread(struct thread *thread);

/*
 * From now on only blocks of these sizes are recorded (0 and UINT64_MAX: all).
 * Any thread of the target; other threads follow at one of their next events.
 * From then on all frees are recorded, as it is unknown which blocks were.
 */
void aside_limits(struct recorder *r, uint64_t least, uint64_t most);

/* The same for threads: from now on all are inactive, or none (`all`), or only
 * future ones. */
void aside_activity(struct recorder *r, bool inactive, bool all);

/* For the calling thread. */
void aside_inactive(struct recorder *r, struct thread *thread, bool inactive);

#endif
