/*
 * fullwalk.c: the full walk: with all registers, straight from the unwind
 * tables.
 *
 * It handles what the fast walk cannot (signal frames, unusual CFA registers,
 * expressions), serves hooks that interrupted a hook, and is the oracle for the
 * other tiers. It starts inside this library, whose own tables lead to the
 * hook's caller with every register restored.
 *
 * Thread context: any, also signal handlers; no state but the arguments.
 */
#include "signal_frame.h"
#include "unwind/barrier.h"
#include "unwind/base/assertion.h"
#include "unwind/image/image.h"
#include "unwind/image/jit.h"
#include "unwind/rules/prologue.h"
#include "unwind/rules/rules_exidx.h"
#include "unwind/walk.h"
#include "unwind/walk_plausible.h"

#define OWN_FRAMES_MAX 64	/* between the capture and the hook's caller */
#define SIGNAL_FRAMES_MAX 65536	/* deeper stacks are not searched */

bool walk_is_return_address(uintptr_t ra)
{
	if (ra < UNWIND_PAGE || ra > ARCH_ADDRESS_MAX)
		return false;
	if (!image_find(ra - 1) || !image_find(ra - ARCH_CALL_MAX))
		return unwind_readable(ra - ARCH_WORD) && arch_after_call(ra);
	return arch_after_call(ra);
}

enum gt_stop walk_stop_nowhere(uintptr_t pc, bool pc_exact)
{
	bool code = pc_exact ? unwind_readable(pc) :
			       walk_is_return_address(pc);

	return code ? GT_STOP_JIT : GT_STOP_NO_IMAGE;
}

static bool read_word(void *ctx, uintptr_t address, uint64_t *value)
{
	return stack_read(ctx, address, (uintptr_t *)value);
}

static enum gt_stop step_without_table(struct stack_reader *reader,
				       struct arch_regs *regs, bool known,
				       bool exact)
{
	uintptr_t cfa, fp, ra;

	if (!walk_fp_is_plausible(reader, regs->r[ARCH_REG_SP],
				  regs->r[ARCH_REG_FP], &cfa) ||
	    !stack_read(reader, cfa - 2 * ARCH_WORD, &fp) ||
	    !stack_read(reader, cfa - ARCH_WORD, &ra))
		return known ? GT_STOP_NO_RULE :
			       walk_stop_nowhere(regs->r[ARCH_REG_PC], exact);
	regs->r[ARCH_REG_SP] = cfa;
	regs->r[ARCH_REG_FP] = fp;
	regs->r[ARCH_REG_PC] = ra;
	return GT_STOP_BOTTOM;
}

bool walk_is_signal_return(uintptr_t pc)
{
	return pc % ARCH_INSTRUCTION == 0 && unwind_readable(pc) &&
	       unwind_readable(pc + ARCH_SIGNAL_CODE - 1) &&
	       arch_is_signal_return(pc);
}

/* Steps over the frame of a signal handler's return, if its code is recognised
 * by its instructions. */
static bool step_signal(struct stack_reader *reader, struct arch_regs *regs)
{
	uintptr_t sp = regs->r[ARCH_REG_SP], word;
	unsigned i;

	if (!ARCH_SIGNAL_CODE || !walk_is_signal_return(regs->r[ARCH_REG_PC]))
		return false;
	for (i = 0; i <= ARCH_SIGFRAME_PC; i += ARCH_WORD)
		if (!stack_read(reader, sp + i, &word))
			return false;
	sp += arch_sigframe_ucontext(regs->r[ARCH_REG_PC]);
	arch_regs_from_ucontext(regs, (const void *)sp);
	return true;
}

/* The position of a walk. */
struct place {
	struct stack_reader reader;
	struct arch_regs *regs;
	bool exact;	/* the pc is no return address: a signal interrupted
			 * it */
	bool end;	/* there is no caller; the step's result says why */
	bool guessed;	/* found by a frame pointer, by one analysis of the
			 * code, or after a signal by code or an index: frames
			 * may have been skipped */
	bool unsure;	/* as in I3 of walk.c */
	uintptr_t still;
};

/*
 * Whether the step from `sp` went outward. A step that does not change the
 * stack pointer passes a return stub that another tool placed, as we do;
 * `still` is the sp of the last such step.
 */
static bool is_progress(struct place *at, uintptr_t sp)
{
	uintptr_t new_sp = at->regs->r[ARCH_REG_SP];

	if (new_sp != sp)
		return new_sp > sp;
	if (at->still == sp)
		return false;
	at->still = sp;
	return true;
}

/* A step by analysing the code. Its result is certain only after a call, and if
 * both analyses are possible. */
static int step_by_code(struct place *at, struct rules_image *rules)
{
	bool one_way;
	int err = prologue_step(rules, at->regs, at->exact, read_word,
				&at->reader, &one_way);

	/* as in the fast walk; after a signal there is only one analysis */
	if (!err && one_way && !(ARCH_DECODES_BACK && at->exact) &&
	    !walk_code_is_plausible(at->regs->r[ARCH_REG_SP],
				    at->regs->r[ARCH_REG_PC]))
		return -2;	/* ENOENT */
	at->guessed |= (at->exact || !ARCH_DECODES_BACK) && !err;
	return err;
}

/* A step from an interrupted pc, for which an index entry is not valid: by
 * rules made ahead of time, else by the code. Like rules_step_full. */
static int step_interrupted(struct place *at, struct rules_image *rules,
			    const struct arch_regs *before, bool *is_signal)
{
	int err = rules_step_prepared(rules, at->regs, is_signal, read_word,
				      &at->reader);

	if (err != -2)		/* ENOENT */
		return err;
	*at->regs = *before;
	return step_by_code(at, rules);
}

/* A step by any table or code that knows the frame; -ENOENT: none does. Like
 * rules_step_full; also returns 1 for an address that was pushed without a
 * call. */
static int step_known(struct place *at, struct rules_image *rules,
		      bool *is_signal)
{
	struct arch_regs *regs = at->regs;
	const struct arch_regs before = *regs;
	uintptr_t pc = before.r[ARCH_REG_PC];
	int err = -2;		/* ENOENT */

	if (rules && at->exact && ARCH_ELF_EXIDX)
		err = step_interrupted(at, rules, &before, is_signal);
	if (rules && err == -2) {
		*regs = before;
		at->guessed |= at->exact && rules_exidx_is_there(rules);
		err = rules_step_full(rules, regs, at->exact, is_signal,
				      read_word, &at->reader);
		/* As in walk.c: an address that was pushed without a call. */
		if (err == -2 && !at->exact && rules_find(rules, pc) &&
		    !prologue_find(rules, pc))
			return 1;
	}
	if (err == -2) {
		*regs = before;
		err = jit_step(regs, at->exact, is_signal, read_word,
			       &at->reader);
	}
	if (err == -2) {
		*regs = before;
		*is_signal = !at->exact && step_signal(&at->reader, regs);
		err = *is_signal ? 0 : err;
	}
	if (err == -2 && rules) {
		*regs = before;
		err = step_by_code(at, rules);
	}
	if (err == -2)
		*regs = before;
	return err;
}

/* One step outward. */
static enum gt_stop step_out(struct place *at)
{
	struct stack_reader *reader = &at->reader;
	struct arch_regs *regs = at->regs;
	uintptr_t pc = regs->r[ARCH_REG_PC], sp = regs->r[ARCH_REG_SP];
	uintptr_t fp = regs->r[ARCH_REG_FP];
	const struct image *image = image_find(pc - !at->exact);
	struct rules_image borrowed, *rules = NULL;
	enum gt_stop stop = GT_STOP_BOTTOM;
	bool is_signal = false;
	int err;

	at->end = true;
	if (image)
		rules = image_rules(image);
	else if (image_borrow(pc - !at->exact, &borrowed))
		rules = &borrowed;
	err = step_known(at, rules, &is_signal);
	if (err == 1)
		return GT_STOP_BOTTOM;
	if (err == -14)		/* EFAULT */
		return GT_STOP_BAD_READ;
	if (err == -22)		/* EINVAL */
		return GT_STOP_BAD_TABLE;
	if (err) {
		if (walk_at_stack_end(sp))
			return GT_STOP_BOTTOM;
		stop = step_without_table(reader, regs, image || rules,
					  at->exact);
		if (stop != GT_STOP_BOTTOM)
			return stop;
		at->guessed = true;
		at->unsure |= ARCH_DECODES && (image || rules) &&
			walk_fp_may_skip_frames(reader, pc, sp, fp);
	}
	DEBUG_ASSERT(err == 0 || err == -2);	/* as in rules.h */
	if (!is_signal && !is_progress(at, sp))
		return GT_STOP_NO_PROGRESS;
	if (at->unsure && !is_signal &&
	    !walk_return_is_plausible(regs->r[ARCH_REG_PC]))
		return GT_STOP_NO_RULE;
	regs->r[ARCH_REG_PC] = barrier_origin(regs->r[ARCH_REG_PC]);
	at->exact = is_signal;
	at->end = regs->r[ARCH_REG_PC] == 0;
	return GT_STOP_BOTTOM;
}

uint32_t walk_full(struct arch_regs *regs, uintptr_t ra, uintptr_t sp,
		   uintptr_t lo, uintptr_t hi, uintptr_t *addresses,
		   uint32_t max, enum gt_stop *stop)
{
	struct place at = { .reader = { .lo = lo, .hi = hi }, .regs = regs };
	uint32_t n = 0, own;

	*stop = GT_STOP_OTHER;
	DEBUG_ASSERT(lo <= hi && max > 0);
	for (own = 0; regs->r[ARCH_REG_PC] != ra ||
		      regs->r[ARCH_REG_SP] != sp; own++)
		if (own == OWN_FRAMES_MAX || step_out(&at) != GT_STOP_BOTTOM ||
		    at.end)
			return 0;
	while (n < max) {
		addresses[n++] = regs->r[ARCH_REG_PC] + at.exact;
		*stop = step_out(&at);
		DEBUG_ASSERT(*stop < GT_STOP_COUNT && n <= max);
		if (at.unsure && at.end && *stop == GT_STOP_BOTTOM)
			*stop = GT_STOP_NO_RULE;
		/* A word that is no return address is no frame. */
		if (at.end)
			return n - (*stop == GT_STOP_NO_IMAGE && !at.exact &&
				    n > 1);
	}
	*stop = GT_STOP_TOO_DEEP;
	return n;
}

bool walk_meets_signal(uintptr_t sp)
{
	struct arch_regs regs;
	struct place at = { .regs = &regs };
	uint32_t n;

	arch_capture_regs(&regs);
	for (n = 0; n < SIGNAL_FRAMES_MAX && !at.end && !at.exact &&
		    regs.r[ARCH_REG_SP] != sp; n++)
		step_out(&at);
	return at.exact;
}

uintptr_t walk_leaves_no_signal(void)
{
	struct arch_regs regs;
	struct place at = { .regs = &regs };
	enum gt_stop stop = GT_STOP_OTHER;
	uint32_t n;

	arch_capture_regs(&regs);
	for (n = 0; n < SIGNAL_FRAMES_MAX && !at.end && !at.exact; n++)
		stop = step_out(&at);
	if (!at.end || at.exact || stop != GT_STOP_BOTTOM)
		return 0;
	return regs.r[ARCH_REG_SP];
}

/* Another call may begin a function at the same place later, hence `ra`. A word
 * that is no return address is another tool's stub for the real one. */
static bool is_sought(const struct walk_search *search,
		      const struct arch_regs *regs)
{
	return regs->r[ARCH_REG_SP] == search->cfa &&
	       (regs->r[ARCH_REG_PC] == search->ra ||
		!walk_is_return_address(regs->r[ARCH_REG_PC]));
}

uintptr_t walk_past(const struct walk_search *search, bool *met)
{
	struct arch_regs regs;
	struct place at = { .reader = { .lo = search->lo, .hi = search->hi },
			    .regs = &regs };
	enum gt_stop stop = GT_STOP_OTHER;
	bool outward = false;
	uint32_t n;

	*met = false;
	DEBUG_ASSERT(search->lo <= search->hi);
	arch_capture_regs(&regs);
	for (n = 0; n < SIGNAL_FRAMES_MAX && !at.end && !at.guessed; n++) {
		stop = step_out(&at);
		/* an interrupted function has an arbitrary sp */
		if (at.exact)
			continue;
		*met = outward && is_sought(search, &regs);
		if (*met)
			return 0;
		outward |= regs.r[ARCH_REG_SP] == search->sp;
	}
	if (!outward || !at.end || at.guessed || stop != GT_STOP_BOTTOM)
		return 0;
	return regs.r[ARCH_REG_SP];
}
