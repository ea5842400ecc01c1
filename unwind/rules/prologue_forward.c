/*
 * prologue_forward.c: the forward analysis: see prologue_state.h.
 */
#include "unwind/base/assertion.h"
#include "unwind/rules/prologue_state.h"

#if ARCH_DECODES

#define CONFIRM_MAX 512		/* instructions to another exit */

/* Finds the callee-saved registers in a frame whose CFA is known. False: one of
 * them does not have the caller's value. */
static bool find_saved(const struct code_state *w, struct prologue_frame *f)
{
	unsigned r;

	f->saved = 0;
	for (r = 0; r < ARCH_REG_COUNT; r++) {
		struct value v = w->reg[r];

		if (!state_preserves(r) || value_is(v, ENTRY, r, 0))
			continue;
		if (v.kind != WORD || v.reg != f->base || v.m ||
		    (!ARCH_LINK_REGISTER && v.n - f->cfa >= ARCH_RA_OFFSET))
			return false;
		f->saved |= UINT64_C(1) << r;
		f->at[r] = v.n - f->cfa;
	}
	return true;
}

/* Finds a saved register in a frame whose CFA is a word of the frame: below the
 * frame pointer, or relative to the CFA. False: impossible. */
static bool find_saved_beside(struct value v, unsigned r,
			      struct prologue_frame *f)
{
	if (v.reg != f->base)
		return false;
	if (v.kind == WORD && v.m == 0 && v.n <= 0) {
		f->by_base |= UINT64_C(1) << r;
		f->at[r] = v.n;
		return true;
	}
	f->at[r] = v.m;
	return v.kind == BEYOND && v.n == f->cfa && v.m < ARCH_RA_OFFSET;
}

/* Something was stored relative to sp that the code may load relative to fp:
 * after a signal this cannot be decided. */
static bool stores_unseen(const struct search *s, const struct code_state *w)
{
	unsigned r;

	for (r = 0; s->exact && r < ARCH_REG_COUNT; r++)
		if (w->home[r].kind == ENTRY && w->home[r].reg == ARCH_REG_SP)
			return true;
	return false;
}

/* Like is_left, if sp is loaded from a word of the frame: in a function that
 * has realigned it. Before a tail call the return address is not popped yet. */
static bool is_left_aligned(const struct search *s, const struct code_state *w,
			    struct value target, struct prologue_frame *f)
{
	struct value sp = w->reg[ARCH_REG_SP];
	int16_t passed = target.kind == BEYOND ? 0 : ARCH_RA_OFFSET;
	unsigned r;

	*f = (struct prologue_frame){ .base = sp.reg, .deref = true,
				      .cfa = sp.n, .ra = ARCH_RA_OFFSET };
	if (sp.reg != ARCH_REG_FP || sp.m != passed ||
	    !state_is_sane(f, s->exact) ||
	    (target.kind == BEYOND &&
	     (target.reg != sp.reg || target.n != sp.n ||
	      target.m != ARCH_RA_OFFSET)))
		return false;
	for (r = 0; r < ARCH_REG_COUNT; r++) {
		if (!state_preserves(r) || value_is(w->reg[r], ENTRY, r, 0))
			continue;
		if (!find_saved_beside(w->reg[r], r, f))
			return false;
		f->saved |= UINT64_C(1) << r;
	}
	return f->by_base >> ARCH_REG_FP & 1 && !stores_unseen(s, w);
}

/* Whether the function exits here, by a return or a tail call. */
static bool is_left(const struct search *s, const struct code_state *w,
		    struct value target, struct prologue_frame *f)
{
	struct value sp = w->reg[ARCH_REG_SP], ra = w->reg[ARCH_REG_LR];

	if (!ARCH_LINKAGE_REGISTERS &&
	    (target.kind == WORD || value_is(target, ENTRY, ARCH_REG_LR, 0)))
		ra = target;
	if (!ARCH_LINK_REGISTER && sp.kind == WORD)
		return is_left_aligned(s, w, target, f);
	if (sp.kind != ENTRY || !state_is_base(sp.reg))
		return false;
	f->base = sp.reg;
	f->deref = false;
	f->cfa = sp.n;
	f->by_base = 0;
	f->ra_kept = s->exact && sp.reg == ARCH_REG_SP &&
		     value_is(ra, ENTRY, ARCH_REG_LR, 0);
	if (!f->ra_kept && (ra.kind != WORD || ra.reg != sp.reg || ra.m))
		return false;
	f->ra = f->ra_kept ? 0 : ra.n - sp.n;
	if (!ARCH_LINK_REGISTER && f->ra != ARCH_RA_OFFSET)
		return false;
	return state_is_sane(f, s->exact) && find_saved(w, f);
}

static void remember_way(struct search *s, const struct code_state *w)
{
	unsigned i;

	if (s->state_count == STATES_MAX) {
		for (i = 1; i < STATES_MAX; i++)
			s->state[i - 1] = s->state[i];
		s->state_count--;
	}
	s->state[s->state_count++] = *w;
}

/* Whether this jump is followed for the first time, if it goes backward. */
static bool jump_is_new(struct search *s, uintptr_t from, uintptr_t to)
{
	unsigned i;

	if (to > from)
		return true;
	for (i = 0; i < s->jumps; i++)
		if (s->jump[i] == from)
			return false;
	if (s->jumps == JUMPS_MAX)
		return false;
	s->jump[s->jumps++] = from;
	return true;
}

/* Executes the instruction in the delay slot, if there is one. */
static bool run_delayed(struct search *s, struct code_state *w,
			const struct arch_operation *op)
{
	struct arch_operation delayed;

	if (!op->delayed)
		return true;
	if (!state_next(s, w, &delayed) || delayed.kind >= ARCH_OP_CALL)
		return false;
	state_apply(w, &delayed);
	return true;
}

/* Another function's beginning: it stores the return address register, which
 * has no known value after a call. */
static bool begins_another(const struct code_state *w,
			   const struct arch_operation *op)
{
	return op->kind == ARCH_OP_STORE && op->mask >> ARCH_REG_LR & 1 &&
	       w->reg[ARCH_REG_LR].kind == UNKNOWN;
}

/* Whether the stack pointer is aligned for the call before pc. */
static bool may_call(const struct search *s, const struct code_state *w)
{
	struct value sp = w->reg[ARCH_REG_SP];

	return s->exact || sp.kind != ENTRY || sp.n % ARCH_STACK_ALIGN == 0;
}

/* Slots below the stack pointer no longer hold saved registers: a function that
 * is jumped to stores its own there. */
static void leave_homes(struct code_state *w)
{
	struct value sp = w->reg[ARCH_REG_SP];
	unsigned r;

	for (r = 0; r < ARCH_REG_COUNT; r++)
		if (sp.kind == ENTRY && w->home[r].kind == ENTRY &&
		    w->home[r].reg == sp.reg && w->home[r].n < sp.n)
			w->home[r].kind = UNKNOWN;
}

/* Whether the frame is released and the return address known: a jump is then a
 * tail call. */
static bool is_gone(const struct search *s, const struct code_state *w)
{
	struct value sp = w->reg[ARCH_REG_SP], ra = w->reg[ARCH_REG_LR];

	if (!ARCH_LINK_REGISTER && sp.kind == WORD)
		return sp.m == ARCH_RA_OFFSET;
	if (sp.kind != ENTRY)
		return false;
	if (ra.kind == WORD)
		return ra.m == 0 && ra.reg == sp.reg && ra.n < sp.n;
	return s->exact && value_is(ra, ENTRY, ARCH_REG_LR, 0) &&
	       sp.reg == ARCH_REG_SP && sp.n > 0;
}

enum follow { ON, LEFT, DEAD };

/* After a signal the register may have lost the return address unnoticed: a
 * register jump that releases no stack may be a switch. */
static bool is_switch(const struct search *s, const struct code_state *w,
		      const struct arch_operation *op)
{
	struct value sp = w->reg[ARCH_REG_SP];

	return s->exact && ARCH_LINKAGE_REGISTERS && op->a != ARCH_REG_LR &&
	       !(ARCH_LINKAGE_REGISTERS >> op->a & 1) && sp.kind == ENTRY &&
	       sp.reg == ARCH_REG_SP && sp.n <= 0;
}

static enum follow go_elsewhere(struct search *s, struct code_state *w,
				uintptr_t pc, const struct arch_operation *op,
				struct prologue_frame *f)
{
	struct value target = w->reg[op->a];
	struct code_state straight = *w;

	if (!run_delayed(s, w, op))
		return DEAD;
	switch (op->kind) {
	case ARCH_OP_CALL:
		state_apply(w, op);
		return may_call(s, w) ? ON : DEAD;
	case ARCH_OP_BRANCH:
		if (!op->annuls)
			straight = *w;
		straight.pc = w->pc;
		w->pc = op->target;
		/* without a backward analysis, loops are followed */
		if (ARCH_DECODES_BACK ? op->target > pc :
					jump_is_new(s, pc, op->target))
			remember_way(s, w);
		*w = straight;
		return ON;
	case ARCH_OP_JUMP:
		target.kind = UNKNOWN;
		if (is_gone(s, w))
			return is_left(s, w, target, f) ? LEFT : DEAD;
		leave_homes(w);
		w->pc = op->target;
		return jump_is_new(s, pc, op->target) ? ON : DEAD;
	default:
		if (is_switch(s, w, op))
			return DEAD;
		return is_left(s, w, target, f) ? LEFT : DEAD;
	}
}

static bool follow(struct search *s, struct code_state *w,
		   struct prologue_frame *f)
{
	struct arch_operation op;
	enum follow how = ON;

	while (how == ON) {
		uintptr_t pc = w->pc;

		if (!state_next(s, w, &op) || begins_another(w, &op))
			return false;
		if (op.conditional)
			remember_way(s, w);
		if (op.kind >= ARCH_OP_CALL) {
			how = go_elsewhere(s, w, pc, &op, f);
			continue;
		}
		state_apply(w, &op);
		if (op.kind == ARCH_OP_LOAD && op.mask >> ARCH_REG_PC & 1)
			how = state_is_list(op.mask) &&
					      is_left(s, w, w->reg[ARCH_REG_PC],
						      f) ?
				      LEFT : DEAD;
	}
	return how == LEFT;
}

/* Follows the remaining paths. */
static bool follow_next(struct search *s, struct prologue_frame *f)
{
	struct code_state w;

	while (s->state_count && s->left) {
		w = s->state[--s->state_count];
		if (follow(s, &w, f))
			return true;
	}
	return false;
}

bool prologue_forward(struct search *s, uintptr_t pc, struct prologue_frame *f)
{
	struct code_state w;

	state_begin(&w, pc, arch_code_mode(pc, s->exact), s->exact);
	remember_way(s, &w);
	return follow_next(s, f);
}

bool prologue_is_confirmed(struct search *s, const struct prologue_frame *f)
{
	struct prologue_frame other;

	if (s->left > CONFIRM_MAX)
		s->left = CONFIRM_MAX;
	return !follow_next(s, &other) || other.base != f->base ||
	       (other.deref == f->deref && other.cfa == f->cfa &&
		other.ra == f->ra);
}

#endif
