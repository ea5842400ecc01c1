/*
 * hardware_stack.h: captures a stack from the hardware shadow stack.
 *
 * A hardware shadow stack (x86-64: CET; arch/arch.h) holds a thread's return
 * addresses one after another, and the program cannot write to them. No rule is
 * needed to find them, and no barrier can be placed.
 *
 *	top                                             end
 *	┌────────┬────────┬────┬────────┬─── … ───┬──────────┐
 *	│ ours   │ ours   │ ra │ caller │         │ in start │ something else
 *	└────────┴────────┴────┴────────┴─── … ───┴──────────┘
 *	  innermost, lowest address                 outermost
 *
 * Usage, on the thread's own stack only (hardware shadow stacks of fibers come
 * and go):
 *
 *	top = hardware_top();
 *	end = hardware_end(h, top);
 *	if (end)
 *		context = hardware_capture(h, top, end, ra, &ok);
 *	if (!end || !ok) {
 *		context = ... by a walk, without barriers ...;
 *		hardware_learn(h, top, ra, context);
 *	}
 *
 * Thread context: the thread that the stack belongs to; not reentrant for one
 * struct. Nothing here takes a lock; memory comes from unwind_alloc.
 */
#ifndef GNOMON_UNWIND_HARDWARE_STACK_H
#define GNOMON_UNWIND_HARDWARE_STACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "arch.h"

/*
 * A thread's last capture. `copy` is filled from its end, so that it is laid
 * out like the hardware shadow stack and both are compared outermost first. The
 * other arrays are indexed from the outermost frame.
 */
struct hardware_stack {
	uintptr_t lo;		/* [lo, end) is known to be readable, page by
				 * page */
	uintptr_t floor;	/* pages below are not readable; 0: not known */
	const uint64_t *end;	/* NULL: not known yet */
	uint64_t *copy;		/* of the hardware's: [capacity - count …] */
	uint64_t *hash;		/* of the stack from here outward */
	uint32_t *context;
	uint32_t count, capacity;
	uint32_t fresh;		/* frames that the last capture looked up */
};

/* The calling thread's hardware shadow stack pointer; NULL: it has none at
 * present. */
static inline const uint64_t *hardware_top(void)
{
	return (const uint64_t *)arch_shadow_stack_pointer();
}

static inline bool hardware_active(void)
{
	return hardware_top() != NULL;
}

/* NULL: no memory. */
struct hardware_stack *hardware_new(void);

/* Prepares the state for another thread. */
void hardware_reset(struct hardware_stack *h);

/* The images have changed: forgets contexts, which mean the old images. */
void hardware_forget(struct hardware_stack *h);

/* Its size in bytes. */
size_t hardware_bytes(const struct hardware_stack *h);

/*
 * The end of the hardware shadow stack that contains `top`, which the kernel
 * does not report: NULL before hardware_learn has found it, and on any other
 * hardware shadow stack. [top, end) is readable. Makes a system call for each
 * page that is reached for the first time.
 */
const uint64_t *hardware_end(struct hardware_stack *h, const uint64_t *top);

/*
 * `context` is the result of an ordinary walk outward from `ra`. If the walk
 * reached the outermost frame and the hardware shadow stack agrees frame by
 * frame, the walk's last frame marks its end. Otherwise nothing is learned.
 */
void hardware_learn(struct hardware_stack *h, const uint64_t *top,
		    uintptr_t ra, uint32_t context);

/*
 * The context of the stack outward from `ra`, the hook's return address, which
 * is among the innermost entries of [top, end). *ok false: an entry is no
 * return address (a signal's token: the interrupted pc is not on the hardware
 * shadow stack), ra was not found, or the stack is too deep. The result is then
 * 0, and the caller must walk the stack.
 */
uint32_t hardware_capture(struct hardware_stack *h, const uint64_t *top,
			  const uint64_t *end, uintptr_t ra, bool *ok);

/* Every remembered frame has its node (I1). With GNOMON_DEBUG_ASSERTS
 * (assertion.h). */
bool hardware_is_valid(const struct hardware_stack *h);

#endif
