/*
 * skip.h: the record gate's slow branch: decides whether an event is recorded.
 * Programs run for hours with a dormant recorder, so this is short. For an
 * event that is left out it calls nothing and changes no state of the recorder.
 *
 *	hook ─ thread->ring? ─▶ recorded
 *	         │ NULL: not known, or a reason (enum thread_skip)
 *	         ▼
 *	       skip_leaves_out_… ─ yes ─▶ back to the program
 *	         │ no
 *	         ▼
 *	       producer_thread ─▶ thread->own ─▶ recorded after all, or not
 *
 * DORMANT: the recorder while its gate (gate.h) is closed, so recording is off.
 * Only the recorder closes it (control.c); a signal handler may open it. A
 * thread notices it here, or when its ring has no room: the recorder takes the
 * room away (I1). It resumes by itself, at its first event after a start.
 *
 * I1: while the recorder is dormant, it keeps `limit` of all rings at 0
 * (ring_kick). So each thread pushes only few events more, which the reader
 * recognises by their stamps.
 *
 * CHOICE. A thread that does not record every block (THREAD_SAMPLES) skips most
 * events in a few instructions: new blocks that the sampler leaves out
 * (sampler.h), frees of blocks that are not in the sampled set (sampled_set.h).
 * Other events reach skip_block_kind and skip_address_kind. While dormant, the
 * sampler runs, too, and its result is discarded: so the time of a start does
 * not affect the sample.
 *
 * Any thread of the target at any time, also signal handlers; errno is kept.
 */
#ifndef GNOMON_SKIP_H
#define GNOMON_SKIP_H

#include "preload/ring/gate.h"
#include "preload/ring/producer.h"
#include "preload/sample/sample.h"

/*
 * What malloc and free check first, before they make a frame. Follows from the
 * options and the gate (skip_start, skip_update).
 */
enum skip_mode {
	SKIP_PERHAPS,		/* the thread, and the address of the block */
	SKIP_NONE,		/* nothing: all is recorded, real_only */
	SKIP_SAMPLED		/* real_only; recorded blocks are in
				 * sample->sampled_set */
};

extern BASE_HIDDEN uint8_t skip_mode;

/* False in a forked child until its recorder has started. */
static inline bool skip_dormant(void)
{
	const struct producer *p = producer;

	return likely(p) &&
	       (likely(p->shared) ? gate_is_closed(p->shared) :
				    atomic_load_explicit(&p->state,
							 memory_order_relaxed) ==
					    PRODUCER_OFF);
}

/* A thread of the target has found the gate closed, or open: sets skip_mode to
 * match. Until a thread does, hooks only check more than they must. */
void skip_update(void);

/* skip_update where an event is left out because the gate is closed. */
static inline void skip_update_closed(void)
{
	if (unlikely(skip_mode == SKIP_NONE))
		skip_update();
}

/* Result of skip_block_kind and skip_address_kind instead of a kind. */
#define SKIP_EVENT 0xffu

/* Run the sampler of a thread that has one, and discard the result. */
void skip_dormant_block(struct thread *thread, unsigned kind, uint64_t size);
void skip_dormant_address(struct thread *thread, unsigned kind,
			  uint64_t address);

/* Whether a hook can skip the event: dormant, and the thread (NULL: unknown)
 * has no sampler to run. */
static inline bool skip_all(const struct thread *thread)
{
	return skip_dormant() && !(thread && thread->skip & THREAD_SAMPLES);
}

/* What `moving` of a thread has for a pending realloc (skip.c). */
enum skip_begin {
	SKIP_BEGIN_FAST,	/* nothing: the BEGIN did not come here, so it
				 * was recorded */
	SKIP_BEGIN_LEFT_OUT = 2,
	SKIP_BEGIN_RECORDED
};

#define SKIP_BEGIN_BITS 2

static inline void skip_push(struct thread *thread, enum skip_begin begin)
{
	thread->moving = thread->moving << SKIP_BEGIN_BITS | begin;
}

static inline enum skip_begin skip_pending(const struct thread *thread)
{
	return thread->moving & ((1u << SKIP_BEGIN_BITS) - 1);
}

static inline enum skip_begin skip_pop(struct thread *thread)
{
	enum skip_begin begin = skip_pending(thread);

	thread->moving >>= SKIP_BEGIN_BITS;
	return begin;
}

/* skip_block for blocks that can be skipped by their size alone. */
bool skip_by_size(struct thread *thread, unsigned kind, uint64_t size);

/* Whether a new block (GT_ALLOC, GT_REALLOC_DONE) is not recorded. */
static inline bool skip_block(unsigned kind, uint64_t size)
{
	struct thread *thread = producer_tls;

	if (unlikely(thread) &&
	    thread->skip == (THREAD_SAMPLES | THREAD_CHECKS) &&
	    skip_by_size(thread, kind, size))
		return true;
	if (!skip_dormant())
		return false;
	if (unlikely(thread) && thread->skip & THREAD_SAMPLES)
		skip_dormant_block(thread, kind, size);
	skip_update_closed();
	return true;
}

/* The same before the allocation, for the usual case of sampling. (If the
 * allocation then fails, only the position on the sampler's line has moved.) */
static inline bool skip_unsampled(struct thread *thread, uint64_t size)
{
	uint64_t length = size + !size;

	if (unlikely(thread->skip != THREAD_SAMPLES) ||
	    unlikely(length >= (uint64_t)thread->sampler.until))
		return false;
	thread->sampler.until -= (int64_t)length;
	return true;
}

/* The same in a hook itself, after the allocation. */
static inline __attribute__((always_inline)) bool
skip_unsampled_block(struct thread *thread, unsigned kind, uint64_t size)
{
	bool moves = kind != GT_ALLOC;

	if ((moves && unlikely(skip_pending(thread) != SKIP_BEGIN_LEFT_OUT)) ||
	    !skip_unsampled(thread, size))
		return false;
	if (moves)
		skip_pop(thread);
	return true;
}

/* Whether the sampled set determines which frees are recorded. */
static inline bool skip_uses_set(const struct thread *thread)
{
	return thread->skip & THREAD_SAMPLES;
}

/* Whether the free can be skipped because the block was not recorded. */
static inline bool skip_unsampled_end(struct thread *thread, unsigned kind,
				      uint64_t block)
{
	if ((kind != GT_FREE && kind != GT_REALLOC_BEGIN) ||
	    !skip_uses_set(thread) ||
	    unlikely(!sampled_set_never(&sample->sampled_set, block)))
		return false;
	if (kind == GT_FREE)
		return true;
	/* it may be part of another hook's call */
	if (thread->skip & THREAD_CHECKS)
		return false;
	skip_push(thread, SKIP_BEGIN_LEFT_OUT);
	return true;
}

/* Whether the end of a block, or of a realloc attempt, is not recorded. */
static inline __attribute__((always_inline)) bool
skip_address(unsigned kind, uint64_t block)
{
	struct thread *thread = producer_tls;

	if (unlikely(thread) && skip_unsampled_end(thread, kind, block))
		return true;
	if (!skip_dormant())
		return false;
	if (unlikely(thread) && thread->skip & THREAD_SAMPLES)
		skip_dormant_address(thread, kind, block);
	skip_update_closed();
	return true;
}

/*
 * For a thread on the slow branch, outside of real functions: the kind to
 * record the event as, or SKIP_EVENT. From here on the block counts as
 * recorded. GT_REALLOC_FREED: the end of the old block; the new one is not
 * recorded.
 */
unsigned skip_block_kind(struct thread *thread, unsigned kind, uint64_t word1,
			 uint64_t size);
unsigned skip_address_kind(struct thread *thread, unsigned kind,
			   uint64_t address);

/* For the same thread, before an event that is not about a block: applies
 * pending changes. */
void skip_extra(struct thread *thread);

/*
 * `block` is about to be freed. Returns the most blocks that the thread can
 * have allocated since its last recorded allocation or since this block; 0:
 * none, or irrelevant.
 */
uint64_t skip_passed(struct thread *thread, uint64_t block);

/* The recorder starts: applies the options. seed: of the samplers of all
 * threads. */
void skip_start(uint64_t seed);

/* A thread starts, with its ring; or a setting for all threads may have
 * changed. */
void skip_thread(struct thread *thread);

/*
 * From now on only blocks of these sizes are recorded (0 and UINT64_MAX: all).
 * Any thread of the target; other threads follow at one of their next events.
 * From then on all frees are recorded, as it is unknown which blocks were.
 */
void skip_set_limits(struct producer *p, uint64_t size_min, uint64_t size_max);

/* The same for threads: from now on all are inactive, or none (`all`), or only
 * future ones. */
void skip_set_activity(struct producer *p, bool inactive, bool all);

/* For the calling thread. */
void skip_set_inactive(struct producer *p, struct thread *thread,
		       bool inactive);

#endif
