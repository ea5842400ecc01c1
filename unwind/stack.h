/*
 * stack.h: a thread's capture state, and the stack that it runs on.
 *
 * The base stack is the contiguous readable memory between the page of the
 * outermost frame and the deepest sp seen so far. Each page is probed when sp
 * first gets there, and the range never shrinks while the thread lives, so its
 * words are read without further checks. Any other stack (fiber, alternate
 * signal stack) is "foreign": each walk probes each of its pages before reading
 * it.
 */
#ifndef GNOMON_UNWIND_STACK_H
#define GNOMON_UNWIND_STACK_H

#include <stdbool.h>
#include <stdint.h>

#include "arch.h"
#include "unwind/base/assertion.h"
#include "unwind/base/memory.h"
#include "unwind/capture.h"

/*
 * For architectures on which functions store the return address anywhere (the
 * slot alone does not give the stack pointer after the return), or sign it (the
 * slot's word is not the address).
 */
struct frame_link {
	uintptr_t sp, raw;
};

/*
 * A frame as a walk finds it, innermost first in `scratch`: ra is the address
 * that *slot returns to.
 *
 * FRAME_FP_AT: the walk outward read the saved frame pointer at fp_at; its
 * value was fp. FRAME_FP: the walk outward from here used the frame pointer
 * `fp`; another walk may join here only with the same fp. FRAME_WORD: not a
 * frame but another word that the walk read (slot, ra). FRAME_STUB: *slot is a
 * stub of ours that returns to ra.
 */
struct frame {
	uintptr_t slot;
	uintptr_t ra;
#if ARCH_LINK_REGISTER
	struct frame_link link;
#endif
	uintptr_t fp;
	uintptr_t fp_at;
	uint64_t hash;		/* of the stack from here outward */
	uint32_t flags;
	uint32_t context;	/* of the same stack; 0 until it is looked up */
};
enum { FRAME_FP = 1, FRAME_WORD = 2, FRAME_STUB = 4, FRAME_FP_AT = 8 };

/*
 * A frame of the shadow, outermost first, with the data that a joining walk
 * needs. frames[0] is a sentinel: its slot lies beyond all memory, so that
 * searches for a slot end there.
 */
struct shadow_frame {
	uintptr_t slot;
	uintptr_t raw;		/* *slot: a return address, or a stub */
	uint64_t hash;
	uint64_t mark;		/* context, and MARK_BARRIER */
	uintptr_t fp;		/* with FRAME_FP */
	uint32_t word;		/* its slot's index in `words` */
	uint32_t flags;
#if ARCH_LINK_REGISTER
	uintptr_t sp;
#endif
};

/* The word in the slot of a frame in scratch, if that is no stub. */
static inline __attribute__((always_inline)) uintptr_t
frame_raw(const struct frame *f)
{
#if ARCH_LINK_REGISTER
	return f->link.raw;
#else
	return f->ra;
#endif
}

/* The stack pointer after the return through the frame's slot; with a link
 * register the slot does not determine it. */
static inline __attribute__((always_inline)) uintptr_t
frame_sp(const struct frame *f)
{
#if ARCH_LINK_REGISTER
	return f->link.sp;
#else
	return f->slot;
#endif
}

/* Whether the stack pointer after the return through the frame's slot is this
 * one. Without a link register the slot determines it. */
static inline __attribute__((always_inline)) bool
shadow_frame_leaves(const struct shadow_frame *f, uintptr_t sp)
{
#if ARCH_LINK_REGISTER
	return f->sp == sp;
#else
	(void)f;
	(void)sp;
	return true;
#endif
}

static inline __attribute__((always_inline)) void
shadow_frame_set_sp(struct shadow_frame *f, uintptr_t sp)
{
#if ARCH_LINK_REGISTER
	f->sp = sp;
#else
	(void)f;
	(void)sp;
#endif
}

#define MARK_BARRIER (UINT64_C(1) << 32)

/* A stack word that the last walk read, and its value then; addresses decrease
 * from entry to entry. */
struct shadow_word {
	uintptr_t at, value;
};

/* Reserve of a shadow's capacity: a join with at most so many new frames does
 * not grow it. */
#define FRAMES_SPARE 32u

/* The maximum; deeper stacks are cut. */
#define FRAMES_MAX (1u << 20)

#define BARRIERS_MAX 16u	/* of one thread at a time */

struct path;
struct hardware_stack;

#define WRAPPERS 128u

/* See path_wrapper. */
struct path_wrapper {
	uintptr_t ra;		/* 0: none */
	uintptr_t distance;
};

struct capture_thread {
	/* read by every capture */
	uintptr_t *keys;	/* path cache, see path.h */
	struct path *paths;
	uint64_t set_mask;	/* bytes of all keys minus those of one set */
	struct shadow_frame *frames;
	uint32_t count;		/* of frames, frames[0] included */
	/* image_generation at the last check; `fast` is the same, or a value
	 * that never matches if the oracle must see every capture */
	uint32_t fast, generation;
	uintptr_t lo, hi;	/* base stack, as far as probed */
	uintptr_t floor;	/* pages below are not the stack's */
	/* shadow: the last walk, outermost first */
	struct shadow_word *words;	/* 2 * capacity */
	struct frame *scratch;		/* the current walk */
	uint32_t word_count;
	uint32_t capacity;		/* of frames and scratch */
	/* barriers believed to stand: indices into frames, rising */
	uint32_t barrier[BARRIERS_MAX];
	uint32_t barrier_count;
	uint32_t barrier_distance;	/* frames, from the innermost */
	uint32_t barrier_innermost;	/* its index at the last walk */
	uint32_t barrier_reach;	/* further away, a new one is placed */
	uint64_t barrier_met;	/* report->barriers_met then */
	uint64_t barrier_since;	/* cycle count when that barrier was first
				 * seen */
	enum gt_mode mode;
	bool joins;		/* the mode has a shadow, and no oracle
				 * checks */
	bool moved;	/* capture_stack_replaced was called, not handled
				 * yet */
	struct hardware_stack *hardware;	/* NULL: the thread has none */
	uint32_t path_misses;	/* since the sets last grew */
	uint32_t path_patience;	/* misses at which they grow */
	uint16_t *seen;		/* filter: stacks captured once, by hash */
	uint32_t seen_mask;
	/* number of new frames in the last remembered stack: by join.c; by
	 * join.c or walk.c */
	uint32_t joined, walked;
	/* predict.h, predict_wanted */
	uintptr_t predicted_sp, predicted_ra;
	uint32_t predicted_far, redrawn;
	uint64_t checked;	/* frames that the oracle has compared */
	uint32_t unchecked;	/* captures since its last check */
	struct capture_report *report;
	struct path_wrapper wrappers[WRAPPERS];
};

/* In capture.c: checks bounds, mode, path cache and shadow. */
bool capture_thread_is_valid(const struct capture_thread *t);

/* Empties the shadow; barriers in the stack stay. */
static inline void shadow_clear(struct capture_thread *t)
{
	t->count = 1;
	t->word_count = 0;
	t->barrier_count = 0;
}

/* Whether [sp, hi) may be read unchecked; probes more pages if necessary. */
bool stack_is_base_slow(struct capture_thread *t, uintptr_t sp);

static inline bool stack_is_base(struct capture_thread *t, uintptr_t sp)
{
	if (__builtin_expect(sp - t->lo < t->hi - t->lo, 1))
		return true;
	return stack_is_base_slow(t, sp);
}

/* Bytes of the thread's state, without the path cache. */
size_t stack_bytes(const struct capture_thread *t);

/* Doubles all arrays, which may move. */
bool stack_grow(struct capture_thread *t);

/*
 * Reads stack words during one walk. On the base stack lo…hi is its readable
 * part outward of sp; on other stacks both are 0 and each new page is probed.
 */
struct stack_reader {
	uintptr_t lo, hi;
	uintptr_t page;		/* the page last checked */
};

bool stack_read_checked(struct stack_reader *r, uintptr_t address,
			uintptr_t *value);

static inline bool stack_read(struct stack_reader *r, uintptr_t address,
			      uintptr_t *value)
{
	DEBUG_ASSERT(r->lo <= r->hi);
	if (__builtin_expect(address - r->lo < r->hi - r->lo &&
				     !(address & (sizeof(uintptr_t) - 1)),
			     1)) {
		*value = *(const uintptr_t *)address;
		return true;
	}
	return stack_read_checked(r, address, value);
}

#endif
