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
 * A frame as a walk found it. Frames are kept with the words that led to
 * them: *slot == ra, and, where fp_word is set, the word at
 * slot + fp_word words == fp.
 *
 * FRAME_FP: the walk outward from here used the frame pointer `fp`; another
 * walk that arrives here may only be joined if it has the same.
 * FRAME_WORD: not a frame but one more word that the walk read (slot, ra).
 */
struct frame {
	uintptr_t slot;
	uintptr_t ra;
	uintptr_t fp;
	uint64_t hash;		/* of the stack from here outward */
	uint32_t context;
	int16_t fp_word;
	uint16_t flags;
};
enum { FRAME_FP = 1, FRAME_WORD = 2 };

struct path_set;

struct capture_thread {
	/* read by every capture */
	struct path_set *sets;
	uint64_t set_mask;
	uint32_t generation;	/* of capture_generation, when last looked */
	uintptr_t lo, hi;	/* base stack, as far as proven */
	uintptr_t floor;	/* below it lies something else */
	/* shadow: the last walk, outermost first */
	struct frame *frames;
	struct frame *scratch;	/* same capacity: the walk under way */
	uint32_t count, capacity;
	uint32_t path_inserts;	/* since the sets last grew */
	uint32_t *seen;		/* filter: stacks met once, by hash */
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

/* Room for one more frame than `count` in both arrays. */
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
