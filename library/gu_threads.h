/*
 * gu_threads.h: what is kept for each thread, and whose it is.
 */
#ifndef GNOMON_GU_THREADS_H
#define GNOMON_GU_THREADS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "library/gu_area.h"
#include "unwind/capture.h"

/*
 * Who is inside the library: sp after its return, and where it returns to. As
 * long as it is, the word below sp is that address; so a mark of somebody who
 * was jumped out of (siglongjmp, an exception) is known by what lies there. An ra
 * of 0 says that it is not known yet, or no more: only while its owner is about
 * to write it does that stand beside a stack pointer, so that a handler which
 * comes in between leaves nothing of its own there.
 */
struct gu_mark {
	_Atomic uintptr_t sp;	/* or: */
	uintptr_t ra;
};

/* gu_mark.sp: the area was wiped, so nothing is ours; nobody is inside. */
enum { GU_WIPED, GU_IDLE };

struct gu_thread {
	struct gu_mark busy;	/* a capture */
	struct capture_thread *capture;	/* NULL: no memory, plain walks */
	bool is_main;
	/* Of gu_capture_ucontext: the addresses of one walk, and whose. */
	struct gu_mark sampling;
	uintptr_t *samples;
	/* pid << 32 | tid; 0: nobody's. */
	_Atomic uint64_t owner;
};

#define GU_SAMPLES_MAX 16384u

/* Of gu_state->threads: as many threads at one time; more walk plainly. */
#define GU_THREADS_MAX 65536u
#define GU_THREADS_BYTES (GU_THREADS_MAX * sizeof(*gu_state->threads))

/* The calling thread's, or NULL, or one that the area's wiping has made void
 * (busy.sp == GU_WIPED). */
extern __thread struct gu_thread *gu_self
	__attribute__((tls_model("initial-exec")));

/* Of gu_setups, when gu_self was made: a child has another thread's at that
 * place. */
extern __thread uint32_t gu_self_setup
	__attribute__((tls_model("initial-exec")));

/* gu_self as long as it is of this set-up. */
static inline struct gu_thread *gu_threads_own(void)
{
	return gu_self_setup == atomic_load_explicit(&gu_setups,
						     memory_order_relaxed) ?
		       gu_self : NULL;
}

/*
 * The calling thread's, found or made; `capture` may be NULL. (sp, ra): of
 * who asks, as in a mark. NULL: too many threads, no memory, or a signal
 * handler that interrupted the same.
 */
struct gu_thread *gu_threads_self(uintptr_t sp, uintptr_t ra);

/* Gives it back. */
void gu_threads_leave(void);

/* Nobody has the mark, or it is the caller's to take. */
static inline void gu_mark_enter(struct gu_mark *mark, uintptr_t ra,
				 uintptr_t sp)
{
	mark->ra = 0;
	atomic_signal_fence(memory_order_seq_cst);
	atomic_store_explicit(&mark->sp, sp, memory_order_relaxed);
	atomic_signal_fence(memory_order_seq_cst);
	mark->ra = ra;
	atomic_signal_fence(memory_order_seq_cst);
}

/* Takes the mark, also from who was jumped out of. False: its owner is there,
 * further out on the same thread. *left: so it was. capture: the thread's, or
 * NULL. */
bool gu_mark_take(struct gu_mark *mark, const struct capture_thread *capture,
		  uintptr_t sp, uintptr_t ra, bool *left);

static inline void gu_mark_release(struct gu_mark *mark)
{
	atomic_signal_fence(memory_order_seq_cst);
	mark->ra = 0;
	atomic_signal_fence(memory_order_seq_cst);
	atomic_store_explicit(&mark->sp, GU_IDLE, memory_order_relaxed);
}

/* States that there are, free ones among them; the i-th, NULL while it is
 * being made. Set up only. */
uint32_t gu_threads_count(void);
struct gu_thread *gu_threads_get(uint32_t i);

/* Whether somebody has it. */
bool gu_threads_owned(const struct gu_thread *thread);

#endif
