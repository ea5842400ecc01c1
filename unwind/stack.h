/*
 * stack.h: one thread's capture state, and which stack it is on.
 *
 * The base stack is the contiguous readable memory between the page of the
 * outermost frame and the deepest sp seen so far. It is proven page by page
 * when sp first gets there and never shrinks while the thread lives, so
 * words in it are read without further checks. Any other stack (fiber,
 * alternate signal stack) is "foreign": each page of it is checked in each
 * walk before it is read.
 */
#ifndef GNOMON_UNWIND_STACK_H
#define GNOMON_UNWIND_STACK_H

#include <stdbool.h>
#include <stdint.h>

#include "arch.h"
#include "unwind/capture.h"
#include "unwind/claim.h"
#include "unwind/memory.h"

#define STACK_PAGE 4096u	/* no kernel page is smaller */

/*
 * Where functions put their return address anywhere, the slot alone does not
 * tell which stack pointer its return leaves; and where they sign it, not what
 * is in the slot.
 */
struct frame_link {
	uintptr_t sp, raw;
};

/*
 * A frame as a walk finds it, innermost first in `scratch`: ra is what *slot
 * returns to.
 *
 * FRAME_FP_AT: the walk outward needed the word at fp_at, a saved frame
 * pointer, and it was fp.
 * FRAME_FP: the walk outward from here used the frame pointer `fp`; another
 * walk that arrives here may only be joined if it has the same.
 * FRAME_WORD: not a frame but one more word that the walk read (slot, ra).
 * FRAME_STUB: *slot is a stub of ours that returns to ra.
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
	uint32_t context;	/* the same; 0 until it was looked up */
};
enum { FRAME_FP = 1, FRAME_WORD = 2, FRAME_STUB = 4, FRAME_FP_AT = 8 };

/*
 * A frame of the shadow, outermost first: what a walk that joins it needs.
 * frames[0] is none: its slot lies beyond all memory, so that searches for a
 * slot end there.
 */
struct shadow_frame {
	uintptr_t slot;
	uintptr_t raw;		/* *slot: a return address, or a stub */
	uint64_t hash;
	uint64_t mark;		/* context, and MARK_BARRIER */
	uintptr_t fp;		/* with FRAME_FP */
	uint32_t word;		/* its slot's place in `words` */
	uint32_t flags;
#if ARCH_LINK_REGISTER
	uintptr_t sp;
#endif
};

/* What the slot of a frame in scratch holds, if that is no stub. */
static inline __attribute__((always_inline)) uintptr_t
frame_raw(const struct frame *f)
{
#if ARCH_LINK_REGISTER
	return f->link.raw;
#else
	return f->ra;
#endif
}

/* The stack pointer that the return through its slot leaves, where the slot does
 * not say so. */
static inline __attribute__((always_inline)) uintptr_t
frame_sp(const struct frame *f)
{
#if ARCH_LINK_REGISTER
	return f->link.sp;
#else
	return f->slot;
#endif
}

/* Whether the return through the frame's slot leaves this stack pointer. Without
 * a link register the slot says so. */
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

/* A stack word that the last walk read, and what it was; addresses fall from
 * entry to entry. */
struct shadow_word {
	uintptr_t at, value;
};

/* Of a shadow's capacity: a join with so many new frames asks for no more. */
#define FRAMES_SPARE 32u

/* The largest; deeper stacks are cut. */
#define FRAMES_MAX (1u << 20)

#define BARRIERS_MAX 16u	/* standing at a time, of one thread */

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
	uint64_t set_mask;	/* bytes of keys, less those of one set */
	struct shadow_frame *frames;
	uint32_t count;		/* of frames, frames[0] included */
	/* capture_generation when last looked; `fast` is the same, or never
	 * if the oracle wants to see every capture */
	uint32_t fast, generation;
	uintptr_t lo, hi;	/* base stack, as far as proven */
	uintptr_t floor;	/* below it lies something else */
	/* shadow: the last walk, outermost first */
	struct shadow_word *words;	/* 2 * capacity */
	struct frame *scratch;		/* the walk under way */
	uint32_t word_count;
	uint32_t capacity;		/* of frames and scratch */
	/* barriers that stand, as far as is known: places in frames, rising */
	uint32_t barrier[BARRIERS_MAX];
	uint32_t barrier_count;
	uint32_t barrier_distance;	/* frames, from the innermost */
	uint32_t barrier_innermost;	/* its place at the last walk */
	uint32_t barrier_reach;	/* a new one if it is further than this */
	uint64_t barrier_met;	/* report->barriers_met then */
	uint64_t barrier_since;	/* cycles: when that one was first there */
	enum gt_mode mode;
	bool joins;		/* the mode has a shadow; no oracle listens */
	bool moved;		/* capture_thread_moved, not yet heeded */
	struct hardware_stack *hardware;	/* NULL: none was seen */
	uint32_t path_misses;	/* since the sets last grew */
	uint32_t path_patience;	/* then they grow */
	uint16_t *seen;		/* filter: stacks met once, by hash */
	uint32_t seen_mask;
	/* new frames of the last stack that was remembered: by join.c; by that
	 * or a walk of walk.c */
	uint32_t joined, walked;
	/* expect.h, expect_wanted */
	uintptr_t expected_sp, expected_ra;
	uint32_t expected_far, redrawn;
	uint64_t checked;	/* frames that the oracle has looked at */
	uint32_t unchecked;	/* captures since it was asked */
	struct capture_report *report;
	struct path_wrapper wrappers[WRAPPERS];
};

/* capture.c: bounds, mode, path cache and shadow. */
bool capture_thread_is_valid(const struct capture_thread *t);

/* The shadow holds no frame any more; what stands in the stack goes on. */
static inline void shadow_clear(struct capture_thread *t)
{
	t->count = 1;
	t->word_count = 0;
	t->barrier_count = 0;
}

/* Whether [sp, hi) may be read unchecked; proves more pages if it must. */
bool stack_is_base_slow(struct capture_thread *t, uintptr_t sp);

static inline bool stack_is_base(struct capture_thread *t, uintptr_t sp)
{
	if (__builtin_expect(sp - t->lo < t->hi - t->lo, 1))
		return true;
	return stack_is_base_slow(t, sp);
}

/* Of the thread's state, the path cache left out. */
size_t stack_bytes(const struct capture_thread *t);

/* Twice the room in all arrays, which may move. */
bool stack_grow(struct capture_thread *t);

/*
 * Reading of stack words in one walk. On the base stack lo…hi is its readable
 * part outward of sp; elsewhere both are 0 and each new page is checked.
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
	CLAIM_FULL(r->lo <= r->hi);
	if (__builtin_expect(address - r->lo < r->hi - r->lo &&
				     !(address & (sizeof(uintptr_t) - 1)),
			     1)) {
		*value = *(const uintptr_t *)address;
		return true;
	}
	return stack_read_checked(r, address, value);
}

#endif
