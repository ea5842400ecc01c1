/*
 * hardware.h: the stack as the processor's own shadow stack has it.
 *
 * Where a thread has one (x86-64: CET; arch/arch.h), its return addresses lie
 * there one beside the other, and nobody may write to them: no rule is needed
 * to find them, and no barrier can be placed.
 *
 *	top                                             end
 *	┌────────┬────────┬────┬────────┬─── … ───┬──────────┐
 *	│ ours   │ ours   │ ra │ caller │         │ in start │ something else
 *	└────────┴────────┴────┴────────┴─── … ───┴──────────┘
 *	  innermost, lowest address                 outermost
 *
 * To be used like this, on the thread's own stack (not on fibers: their shadow
 * stacks come and go):
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
#ifndef GNOMON_UNWIND_HARDWARE_H
#define GNOMON_UNWIND_HARDWARE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "arch.h"

/*
 * What a thread remembers. `copy` is filled from its end, so that it lies as
 * the shadow stack does and both are compared outermost first; the others are
 * counted from the outermost frame.
 */
struct hardware_stack {
	uintptr_t lo;		/* [lo, end) could be read, page by page */
	uintptr_t floor;	/* no sense to try below; 0: not known */
	const uint64_t *end;	/* NULL: not known yet */
	uint64_t *copy;		/* of the shadow stack: [capacity - count …] */
	uint64_t *hash;		/* of the stack from here outward */
	uint32_t *context;
	uint32_t count, capacity;
	uint32_t fresh;		/* frames that the last capture looked up */
};

/* The calling thread's shadow stack pointer; NULL: it has none (now). */
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

/* Another thread uses it from now on. */
void hardware_reset(struct hardware_stack *h);

/* The images have changed: old contexts mean old images. */
void hardware_forget(struct hardware_stack *h);

/* Bytes that it takes. */
size_t hardware_bytes(const struct hardware_stack *h);

/*
 * Where the shadow stack that `top` lies on ends, which the kernel does not
 * tell: NULL until hardware_learn was told, and on any other stack. What lies
 * between can be read. A system call for each page that is reached for the
 * first time.
 */
const uint64_t *hardware_end(struct hardware_stack *h, const uint64_t *top);

/*
 * `context` is what an ordinary walk made of the stack outward from `ra`. If
 * it ends at the bottom and the shadow stack says the same frame by frame, its
 * last frame is where the shadow stack ends. Otherwise nothing is learnt.
 */
void hardware_learn(struct hardware_stack *h, const uint64_t *top,
		    uintptr_t ra, uint32_t context);

/*
 * The context of the stack outward from `ra`, the return address of the hook,
 * which is among the innermost entries of [top, end). *ok false: something
 * lies there that is no return address (a signal's token: the pc that was
 * interrupted is not on the shadow stack), ra was not found, or the stack is
 * too deep; the answer is then 0 and a walk must say.
 */
uint32_t hardware_capture(struct hardware_stack *h, const uint64_t *top,
			  const uint64_t *end, uintptr_t ra, bool *ok);

/* Every remembered frame has its node (I1). With GNOMON_CLAIMS (claim.h). */
bool hardware_is_valid(const struct hardware_stack *h);

#endif
