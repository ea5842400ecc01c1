/*
 * aside.h: the first look of the hooks' slow branch: whether anything at all
 * is recorded of an event. Programs run for hours with a recorder that is
 * dormant, so this is short, and nothing is called and no state of
 * the recorder's is changed for an event that is left out.
 *
 *	hook ─ thread->ring? ─▶ recorded
 *	         │ NULL: not known, or stands aside (enum thread_aside)
 *	         ▼
 *	       aside_leaves_out_… ─ yes ─▶ back to the program
 *	         │ no
 *	         ▼
 *	       recorder_thread ─▶ thread->own ─▶ recorded after all, or not
 *
 * DORMANT. The gate of the recorder (gate.h) says that nothing is recorded at
 * the time: only the writer shuts it (control.c), a signal's handler may open
 * it. Threads find it here, or where their ring has no room: the writer takes
 * that away from them (I1). They come back by themselves, at their first event
 * after a start.
 *
 * I1: while the recorder is dormant, the writer keeps `limit` of all rings at
 *     0 (ring_kick). So each thread pushes few events more, which the
 *     reader knows by their stamps.
 *
 * CHOICE. A thread that does not record every block (THREAD_CHOOSES) passes
 * over most events in a few instructions: a new block is none of a sample's
 * (choose.h), the end of one is not of those that were recorded (chosen.h).
 * What is not passed over there comes to aside_block and aside_address. While
 * dormant it chooses, too, and forgets it: so it makes no difference when the
 * recorder wakes up.
 *
 * Any thread of the target at any time, also signal handlers; errno is kept.
 */
#ifndef GNOMON_ASIDE_H
#define GNOMON_ASIDE_H

#include "preload/ring/gate.h"
#include "preload/ring/recorder.h"
#include "preload/sample/sample.h"

/*
 * Where malloc and free have to look first, before they make a frame. Follows
 * from what is asked of the recorder (aside_start, aside_follow).
 */
enum aside_way {
	ASIDE_PERHAPS,		/* at the thread, at where a block lies */
	ASIDE_NOT,		/* nowhere: all is recorded, real_only */
	ASIDE_CHOICE		/* real_only; what is recorded is in `chosen` */
};

extern BASE_HIDDEN uint8_t aside_way;

/* A forked child's is not, until it has begun anew. */
static inline bool aside_dormant(void)
{
	const struct recorder *r = recorder;

	return likely(r) &&
	       (likely(r->shared) ? gate_is_shut(r->shared) :
				    atomic_load_explicit(&r->state,
							 memory_order_relaxed) ==
					    RECORDER_OFF);
}

/* A thread of the target has found the gate shut, or open: hooks look
 * accordingly. As long as nobody has, they only look at more than they must. */
void aside_follow(void);

/* The same where an event is left out because it is shut. */
static inline void aside_follow_shut(void)
{
	if (unlikely(aside_way == ASIDE_NOT))
		aside_follow();
}

/* What aside_block and aside_address answer instead of a kind. */
#define ASIDE_NOTHING 0xffu

/* The choice of a thread that has one is made, for nothing. */
void aside_asleep_block(struct thread *thread, unsigned kind, uint64_t size);
void aside_asleep_address(struct thread *thread, unsigned kind,
			  uint64_t address);

/* The same in a hook itself, of a thread (NULL: not known) that has no choice
 * to make. */
static inline bool aside_sleeps(const struct thread *thread)
{
	return aside_dormant() && !(thread && thread->aside & THREAD_CHOOSES);
}

/* A closer look, where it takes no more than one at the size. */
bool aside_passes(struct thread *thread, unsigned kind, uint64_t size);

/* Nothing is recorded of a new block (GT_ALLOC, GT_REALLOC_DONE). */
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

/* The same before the block is there, where it is a sample's usual case. (An
 * attempt that fails then only leaves the next block in another place of the
 * line.) */
static inline bool aside_passes_over(struct thread *thread, uint64_t size)
{
	uint64_t length = size + !size;

	if (unlikely(thread->aside != THREAD_CHOOSES) ||
	    unlikely(length >= (uint64_t)thread->choose.until))
		return false;
	thread->choose.until -= (int64_t)length;
	return true;
}

/* The same in a hook itself, after it. */
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

/* Whether the set says which ends are recorded. */
static inline bool aside_chooses_ends(const struct thread *thread)
{
	return thread->aside & THREAD_CHOOSES;
}

/* The block was not recorded. */
static inline bool aside_skips_end(struct thread *thread, unsigned kind,
				   uint64_t block)
{
	if ((kind != GT_FREE && kind != GT_REALLOC_BEGIN) ||
	    !aside_chooses_ends(thread) ||
	    unlikely(!chosen_never(&sample->chosen, block)))
		return false;
	if (kind == GT_FREE)
		return true;
	/* it may be part of another hook's */
	if (thread->aside & THREAD_LOOKS)
		return false;
	thread->moving <<= 1;
	return true;
}

/* Nothing is recorded of the end of a block, or of an attempt. */
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
 * Of a thread that is aside, outside of real functions: as what the event is
 * to be recorded, or ASIDE_NOTHING. A block is known to be recorded from here
 * on; GT_REALLOC_FREED: that of an old block, the new one is not recorded.
 */
unsigned aside_block(struct thread *thread, unsigned kind, uint64_t word1,
		     uint64_t size);
unsigned aside_address(struct thread *thread, unsigned kind,
		       uint64_t address);

/* The same thread, before an event that is not about a block: looks around. */
void aside_extra(struct thread *thread);

/*
 * `block` is about to end. How many blocks the thread has made, at most, since
 * it told the reader of one or of this; 0: none, or it makes no difference.
 */
uint64_t aside_passed(struct thread *thread, uint64_t block);

/* The recorder begins: what the options want. seed: of the threads' lines. */
void aside_start(uint64_t seed);

/* A thread begins, with its ring; or what holds for all threads may have
 * changed. */
void aside_thread(struct thread *thread);

/*
 * From now on only blocks of these sizes are recorded (0 and UINT64_MAX: all).
 * Any thread of the target; others notice it at one of their next events. Ends
 * are all recorded then, as it is not known which blocks were.
 */
void aside_limits(struct recorder *r, uint64_t least, uint64_t most);

/* The same for threads: from now on all are inactive, or none (`all`), or only
 * those to come. */
void aside_activity(struct recorder *r, bool inactive, bool all);

/* The calling thread's own. */
void aside_inactive(struct recorder *r, struct thread *thread, bool inactive);

#endif
