/*
 * walk.h: from frame to frame.
 *
 * walk_fast follows rules that need only pc, sp and fp, and stops where it
 * meets a frame of the shadow; walk_full follows any rule, with all
 * registers, and remembers nothing.
 */
#ifndef GNOMON_UNWIND_WALK_H
#define GNOMON_UNWIND_WALK_H

#include <stdint.h>

#include "unwind/expect.h"
#include "unwind/stack.h"

enum walk_end {
	WALK_JOINED,	/* the last frame is frames[join] of the shadow */
	WALK_ENDED,	/* no caller was found: see stop */
	WALK_HARD	/* a rule needs all registers: use walk_full */
};

struct walk {
	uintptr_t ra, sp, fp;	/* where it starts */
	bool base;		/* sp lies on the thread's base stack */
	bool alone;		/* not to be joined to the shadow */
	/* answers */
	uint32_t count;		/* frames in scratch, innermost first; those
				 * of a walk that joined have their hashes */
	uint32_t join;		/* in the shadow's frames */
	enum gt_stop stop;
	bool forget;		/* a read failed: not to be remembered */
	/* GT_WHY_DEFAULT, or what code it met that no barrier may stand with. */
	enum gt_mode_why strange;
};

/* Set-up of the rule cache; also forgets an earlier one. stack_end: highest
 * address of the main thread's stack, or 0. */
int walk_init(uintptr_t stack_end);

/*
 * Whether nothing can lie outward of sp: the first instructions of a program
 * (the loader's entry) have no table, and sp is where the kernel put it.
 */
bool walk_at_stack_end(uintptr_t sp);

/* Rules of some image no longer hold. */
void walk_flush(void);

enum walk_end walk_fast(struct capture_thread *t, struct walk *w);

/* How a node of the tree has the step from a frame with this return address
 * (context.h), if the rule cache knows; else STEP_ASK. */
uint32_t walk_step(uintptr_t ra);

/* Whether the rule at this return address is of the plain kind: CFA by sp or
 * fp, nothing that moves. */
bool walk_rule_is_plain(uintptr_t ra);

/* Whether a call instruction ends at ra, in code that can be read. */
bool walk_is_return_address(uintptr_t ra);

/* Whether a signal handler returns there, in code that no table knows. Only
 * where ARCH_SIGNAL_CODE is not 0. */
bool walk_is_signal_return(uintptr_t pc);

/*
 * Why a walk ends at a pc in no image: GT_STOP_JIT where it lies in code all
 * the same. pc_exact: it is running, or was when a signal came; else it is a
 * return address, and code is what has a call instruction before it.
 */
enum gt_stop walk_stop_nowhere(uintptr_t pc, bool pc_exact);

/*
 * The whole stack outward of (ra, sp), starting from the registers of a
 * function of ours further in. Fills addresses[0 … max), innermost first,
 * each as the tree stores it (after a signal frame, one past the pc).
 * Returns how many; *stop says why it ended.
 */
uint32_t walk_full(struct arch_regs *regs, uintptr_t ra, uintptr_t sp,
		   uintptr_t lo, uintptr_t hi, uintptr_t *addresses,
		   uint32_t max, enum gt_stop *stop);

/*
 * Whether this stack runs no signal handler: it leads from here to its
 * outermost frame, and no frame on the way is a signal's. The stack pointer of
 * that frame; 0 if there is a handler, or the stack cannot be followed. Any
 * thread, also signal handlers.
 */
uintptr_t walk_leaves_no_signal(void);

/*
 * Whether a signal handler runs between here and the function that was called
 * with the stack pointer `sp`, further out. False where that cannot be
 * followed. Any thread, also signal handlers.
 */
bool walk_meets_signal(uintptr_t sp);

/*
 * Whether the frame that ends at `cfa` (the stack pointer after its return) and
 * returns to `ra` is among those that lead from the one that ends at `sp` to
 * the outermost one, what signals have interrupted included: *met. If it is
 * not, and there is no doubt about any of them, the stack pointer of the
 * outermost one; else 0.
 * [lo, hi) can be read. Any thread, also signal handlers.
 */
struct walk_search {
	uintptr_t sp, cfa, ra;
	uintptr_t lo, hi;
};

uintptr_t walk_past(const struct walk_search *search, bool *met);

/* Where a walk begins: as capture_stack's, and where its stack ends. */
struct walk_start {
	uintptr_t ra, sp, fp;
	uintptr_t hi;		/* [sp, hi) can be read */
};

/*
 * The addresses of a stack, innermost first, as walk_full gives them, where all
 * rules are by sp or fp and nothing else is odd: how many. 0: it has to be
 * walked otherwise. *stop: GT_STOP_BOTTOM, and *hash is context_hash of all;
 * or GT_STOP_TOO_DEEP: there are more than max. Nothing is remembered. Any
 * thread, also signal handlers.
 */
uint32_t walk_addresses(const struct walk_start *start, uintptr_t *addresses,
			uint32_t max, enum gt_stop *stop, uint64_t *hash);

/*
 * The same, and the context; 0: as above, or more than max. *count: of frames.
 */
uint32_t walk_context(const struct walk_start *start, uintptr_t *addresses,
		      uint32_t max, uint32_t *count);

/*
 * A walk to the first frames, and from there on as is expected (expect.h), if
 * that is worth while (expect_wanted): the context, which expect_answered is to
 * be told of. 0: it has to be walked otherwise, and what it was is to be
 * learned, if of->expectation.at is set. The owner of the thread's state.
 */
struct first_walk {
	struct expectation expectation;
	uint32_t count;		/* of the frames followed */
	bool met;		/* up to a barrier */
	uintptr_t sp, ra;	/* what the first frames lead to */
};

uint32_t walk_expected(const struct capture_thread *t,
		       const struct walk_start *start, struct first_walk *of);

#endif
