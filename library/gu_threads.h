/*
 * gu_threads.h: the capture state of each thread, and its owner.
 */
#ifndef GNOMON_GU_THREADS_H
#define GNOMON_GU_THREADS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "library/gu_area.h"
#include "unwind/capture.h"

/*
 * Marks the caller that is inside the library: its sp after the return, and its
 * return address. While that call lasts, the word below sp is that address. So
 * a mark whose caller was unwound (siglongjmp, an exception) is recognised by
 * reading the word. An ra of 0 means: not known yet, or no longer. The mark has
 * a valid sp and no ra only while the owner is about to write ra. So a handler
 * that interrupts the owner then leaves nothing of its own in the mark.
 */
struct gu_mark {
	_Atomic uintptr_t sp;	/* or: */
	uintptr_t ra;
};

/* gu_mark.sp: GU_WIPED: the area was wiped, the state is void; GU_IDLE: no
 * caller is inside. */
enum { GU_WIPED, GU_IDLE };

struct gu_thread {
	struct gu_mark busy;	/* a capture */
	struct capture_thread *capture;	/* NULL: no memory, walks without
					 * cache */
	bool is_main;
	/* For gu_capture_ucontext: the addresses of one walk, and their
	 * mark. */
	struct gu_mark sampling;
	uintptr_t *samples;
	/* pid << 32 | tid; 0: free. */
	_Atomic uint64_t owner;
};

#define GU_SAMPLES_MAX 16384u

/* Size of gu_state->threads: threads beyond it walk without cache. */
#define GU_THREADS_MAX 65536u
#define GU_THREADS_BYTES (GU_THREADS_MAX * sizeof(*gu_state->threads))

/* The calling thread's state, NULL, or a state that the wiping of the area has
 * made void (busy.sp == GU_WIPED). */
extern __thread struct gu_thread *gu_self
	__attribute__((tls_model("initial-exec")));

/* Value of gu_setups when gu_self was made. In a child, gu_self may point to
 * another thread's state. */
extern __thread uint32_t gu_self_setup
	__attribute__((tls_model("initial-exec")));

/* gu_self if it is of the current initialisation, else NULL. */
static inline struct gu_thread *gu_threads_own(void)
{
	return gu_self_setup == atomic_load_explicit(&gu_setups,
						     memory_order_relaxed) ?
		       gu_self : NULL;
}

/*
 * The calling thread's state, found or made; its `capture` may be NULL. (sp,
 * ra): of the caller, as in a mark. NULL: too many threads, no memory, or a
 * signal handler that interrupted this function.
 */
struct gu_thread *gu_threads_self(uintptr_t sp, uintptr_t ra);

/* Frees the calling thread's state. */
void gu_threads_leave(void);

/* Sets a mark that is idle, or that the caller may take over. */
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

/* Takes the mark, also from an owner that was unwound. False: its owner is
 * still active, further out on the same thread. *left: the owner was unwound.
 * capture: the thread's, or NULL. */
bool gu_mark_take(struct gu_mark *mark, const struct capture_thread *capture,
		  uintptr_t sp, uintptr_t ra, bool *left);

static inline void gu_mark_release(struct gu_mark *mark)
{
	atomic_signal_fence(memory_order_seq_cst);
	mark->ra = 0;
	atomic_signal_fence(memory_order_seq_cst);
	atomic_store_explicit(&mark->sp, GU_IDLE, memory_order_relaxed);
}

/* Number of states, including free ones; the i-th state, NULL while it is being
 * made. Only after initialisation. */
uint32_t gu_threads_count(void);
struct gu_thread *gu_threads_get(uint32_t i);

/* Whether the state has an owner. */
bool gu_threads_owned(const struct gu_thread *thread);

#endif
