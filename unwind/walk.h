/*
 * walk.h: stack walks, from frame to frame.
 *
 * walk_fast follows rules that need only pc, sp and fp, and stops at a frame of
 * the shadow. walk_full follows any rule, with all registers, and remembers
 * nothing.
 */
#ifndef GNOMON_UNWIND_WALK_H
#define GNOMON_UNWIND_WALK_H

#include <stdint.h>

#include "unwind/predict.h"
#include "unwind/stack.h"

enum walk_end {
	WALK_JOINED,	/* the last frame is frames[join] of the shadow */
	WALK_ENDED,	/* no further caller: see stop */
	WALK_NEEDS_FULL	/* a rule needs all registers: use walk_full */
};

struct walk {
	uintptr_t ra, sp, fp;	/* where it starts */
	bool base;		/* sp lies on the thread's base stack */
	bool alone;		/* must not join the shadow */
	/* answers */
	uint32_t count;		/* frames in scratch, innermost first; with
				 * WALK_JOINED their hashes are set */
	uint32_t join;		/* index of the joined frame in the shadow */
	enum gt_stop stop;
	bool forget;		/* a read failed: must not be remembered */
	/* GT_WHY_DEFAULT, or why code on the way forbids barriers */
	enum gt_mode_why forbidden_why;
};

/* Sets up the rule cache and forgets an earlier one. stack_end: highest address
 * of the main thread's stack, or 0. */
int walk_init(uintptr_t stack_end);

/*
 * Whether no frame can lie outward of sp: a program's first instructions (the
 * loader's entry) have no unwind table, and sp is where the kernel set it.
 */
bool walk_at_stack_end(uintptr_t sp);

/* Some image's rules have become invalid: empties the rule cache. */
void walk_flush(void);

enum walk_end walk_fast(struct capture_thread *t, struct walk *w);

/* The step from a frame with this return address as nodes store it (context.h),
 * if the rule cache has it; else STEP_ASK. */
uint32_t walk_step(uintptr_t ra);

/* Whether the rule at this return address is of the plain kind: CFA from sp or
 * fp, always the same. */
bool walk_rule_is_plain(uintptr_t ra);

/* Whether a call instruction ends at ra, in readable code. */
bool walk_is_return_address(uintptr_t ra);

/* Whether a signal handler returns to pc, in code without an unwind table. Only
 * where ARCH_SIGNAL_CODE is not 0. */
bool walk_is_signal_return(uintptr_t pc);

/*
 * The reason to end a walk at a pc in no image: GT_STOP_JIT if pc lies in code
 * nevertheless. pc_exact: pc is executing, or was interrupted by a signal;
 * otherwise it is a return address and lies in code if a call instruction
 * precedes it.
 */
enum gt_stop walk_stop_nowhere(uintptr_t pc, bool pc_exact);

/*
 * Walks the whole stack outward of (ra, sp), starting from the registers of one
 * of our functions further in. Fills addresses[0 … max), innermost first, each
 * as the tree stores it (after a signal frame, one past the pc). Returns how
 * many; *stop: why the walk ended.
 */
uint32_t walk_full(struct arch_regs *regs, uintptr_t ra, uintptr_t sp,
		   uintptr_t lo, uintptr_t hi, uintptr_t *addresses,
		   uint32_t max, enum gt_stop *stop);

/*
 * The stack pointer of the outermost frame, if no signal handler runs on this
 * stack: the walk from here reaches it without a signal frame. 0 if there is a
 * handler, or the stack cannot be walked. Any thread, also signal handlers.
 */
uintptr_t walk_leaves_no_signal(void);

/*
 * Whether a signal handler runs between here and the function that was called
 * with the stack pointer `sp`, further out. False if the stack cannot be
 * walked. Any thread, also signal handlers.
 */
bool walk_meets_signal(uintptr_t sp);

/*
 * Searches for the frame that ends at `cfa` (the stack pointer after its
 * return) and returns to `ra`, from the frame that ends at `sp` outward, across
 * interrupted code too. *met: whether it was found. Returns the stack pointer
 * of the outermost frame if it was not found and no frame on the way is
 * doubtful; else 0. [lo, hi) is readable. Any thread, also signal handlers.
 */
struct walk_search {
	uintptr_t sp, cfa, ra;
	uintptr_t lo, hi;
};

uintptr_t walk_past(const struct walk_search *search, bool *met);

/* Where a walk starts, as for capture_stack, and where its stack ends. */
struct walk_start {
	uintptr_t ra, sp, fp;
	uintptr_t hi;		/* [sp, hi) is readable */
};

/*
 * The addresses of a stack, innermost first, as from walk_full, if all its
 * rules are relative to sp or fp and nothing else is unusual; returns how many.
 * 0: another kind of walk is needed. *stop: GT_STOP_BOTTOM, and *hash is
 * context_hash of all; or GT_STOP_TOO_DEEP: there are more than max. Remembers
 * nothing. Any thread, also signal handlers.
 */
uint32_t walk_addresses(const struct walk_start *start, uintptr_t *addresses,
			uint32_t max, enum gt_stop *stop, uint64_t *hash);

/*
 * The same, but returns the context; 0: as above, or more than max addresses.
 * *count: number of frames.
 */
uint32_t walk_context(const struct walk_start *start, uintptr_t *addresses,
		      uint32_t max, uint32_t *count);

/*
 * Walks the first frames, then follows the prediction (predict.h) if that pays
 * (predict_wanted). Returns the context; the caller then calls
 * predict_answered. 0: another kind of walk is needed; if of->prediction.at is
 * set, the caller passes that walk's context to predict_learn. The owner of the
 * thread's state.
 */
struct first_walk {
	struct prediction prediction;
	uint32_t count;		/* number of frames followed */
	bool met;		/* the walk ended at a barrier */
	uintptr_t sp, ra;	/* the frame after the first frames */
};

uint32_t walk_expected(const struct capture_thread *t,
		       const struct walk_start *start, struct first_walk *of);

#endif
