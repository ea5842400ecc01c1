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
#include "unwind/memory.h"

#define STACK_PAGE 4096u	/* no kernel page is smaller */

/*
 * A frame as a walk finds it, innermost first in `scratch`: *slot == ra. Where
 * fp_at is set, the walk outward needed the word there (a saved frame pointer)
 * and it was fp.
 *
 * FRAME_FP: the walk outward from here used the frame pointer `fp`; another
 * walk that arrives here may only be joined if it has the same.
 * FRAME_WORD: not a frame but one more word that the walk read (slot, ra).
 */
struct frame {
	uintptr_t slot;
	uintptr_t ra;
	uintptr_t fp;
	uintptr_t fp_at;
	uint64_t hash;		/* of the stack from here outward */
	uint32_t flags;
};
enum { FRAME_FP = 1, FRAME_WORD = 2 };

/* A frame of the shadow, outermost first: what a walk that joins it needs. */
struct shadow_frame {
	uintptr_t slot;
	uint64_t hash;
	uint32_t context;
	uint32_t word;		/* its slot's place in `words` */
	uintptr_t fp;		/* with FRAME_FP */
	uint32_t flags;
};

/* A stack word that the last walk read, and what it was; addresses fall from
 * entry to entry. */
struct shadow_word {
	uintptr_t at, value;
};

struct path_set;

struct capture_thread {
	/* read by every capture */
	struct path_set *sets;
	uint64_t set_mask;
	/* capture_generation when last looked; `fast` is the same, or never
	 * if the oracle wants to see every capture */
	uint32_t fast, generation;
	uintptr_t lo, hi;	/* base stack, as far as proven */
	uintptr_t floor;	/* below it lies something else */
	/* shadow: the last walk, outermost first */
	struct shadow_frame *frames;
	struct shadow_word *words;	/* 2 * capacity */
	struct frame *scratch;		/* the walk under way */
	uint32_t count, word_count;
	uint32_t capacity;		/* of frames and scratch */
	uintptr_t innermost_ra;		/* of frames[count - 1] */
	uint32_t path_misses;	/* since the sets last grew */
	uint32_t *seen;		/* filter: stacks met once, by hash */
	uint32_t seen_mask;
	struct capture_counts counts;
};

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
	if (__builtin_expect(address - r->lo < r->hi - r->lo &&
				     !(address & (sizeof(uintptr_t) - 1)),
			     1)) {
		*value = *(const uintptr_t *)address;
		return true;
	}
	return stack_read_checked(r, address, value);
}

#endif
