/*
 * prologue_backward.c: the backward analysis: see prologue_state.h.
 */
#include "unwind/base/assertion.h"
#include "unwind/rules/prologue_state.h"

#if ARCH_DECODES

enum {
	BACK_MAX = 2048,	/* instructions, to a function's beginning */
	SAVES_MAX = 64,		/* from there to where it stores the return
				 * address, or has set the frame pointer */
	ARGUMENTS_MAX = 24,	/* bytes of code, from storing arguments to
				 * there */
	PROBE_BYTES_MAX = 16	/* of a loop that touches a frame's pages */
};

/* sp = sp - b, or sp + b: for a frame size that does not fit into an
 * immediate. */
static bool moves_by_register(const struct arch_operation *op, unsigned kind)
{
	return ARCH_ROOM_STEPS && op->kind == kind && op->d == ARCH_REG_SP &&
	       op->a == ARCH_REG_SP;
}

static bool takes_room(const struct arch_operation *op)
{
	return moves_by_register(op, ARCH_OP_DIFFERENCE) ||
	       (op->kind == ARCH_OP_ADD && op->d == ARCH_REG_SP &&
		op->a == ARCH_REG_SP && op->value < 0) ||
	       (op->kind == ARCH_OP_STORE && op->a == ARCH_REG_SP &&
		op->step < 0);
}

static unsigned size_at(const struct search *s, uintptr_t at, unsigned mode)
{
	struct arch_operation op = { .kind = ARCH_OP_END };

	if (at < s->code->start || at >= s->code->end)
		return 0;
	arch_decode((const void *)at, s->code->end - at, &mode, &op);
	return op.size;
}

/* Whether the bytes at `at` are probably part of a longer instruction that
 * begins before. */
static bool is_inside(const struct search *s, uintptr_t at, unsigned mode)
{
	return size_at(s, at - ARCH_INSTRUCTION, mode) > ARCH_INSTRUCTION &&
	       size_at(s, at - 2 * ARCH_INSTRUCTION, mode) <= ARCH_INSTRUCTION;
}

static bool stores_caller(const struct arch_operation *op)
{
	return op->kind == ARCH_OP_STORE && op->a == ARCH_REG_SP &&
	       op->mask >> ARCH_REG_LR & 1 && state_is_list(op->mask);
}

/* lr = 0, as in a program's first code: it has no caller. */
static bool forgets_caller(const struct arch_operation *op)
{
	return op->kind == ARCH_OP_SET && op->d == ARCH_REG_LR && !op->value;
}

/* The nearest address before pc that stores the return address, or allocates
 * stack; 0: none within `most` instructions, or not in pc's function. */
static uintptr_t look_back(struct search *s, uintptr_t pc, unsigned mode,
			   unsigned most, bool stores)
{
	unsigned i;

	for (i = 1; i <= most && s->left; i++) {
		uintptr_t at = pc - (uintptr_t)i * ARCH_INSTRUCTION;
		struct arch_operation op = { .kind = ARCH_OP_END };
		unsigned now = mode;

		if (at < s->code->start || at >= s->code->end)
			return 0;
		s->left--;
		arch_decode((const void *)at, s->code->end - at, &now, &op);
		if (op.conditional || is_inside(s, at, mode))
			continue;
		if (stores && forgets_caller(&op))
			return 0;
		if (stores ? stores_caller(&op) : takes_room(&op))
			return at;
	}
	return 0;
}

/* Whether the code at `at` stores arguments on the stack, or allocates room for
 * them, and nothing between there and `starts` jumps. */
static bool stores_arguments(uintptr_t at, uintptr_t starts, unsigned mode)
{
	bool first = true;

	while (at < starts) {
		struct arch_operation op = { .kind = ARCH_OP_END };
		unsigned r;

		arch_decode((const void *)at, starts - at, &mode, &op);
		if (op.size == 0 || op.kind >= ARCH_OP_CALL)
			return false;
		if (first && !takes_room(&op))
			return false;
		for (r = 0; first && r < ARCH_REG_COUNT; r++)
			if (op.mask >> r & 1 &&
			    (state_preserves(r) || r == ARCH_REG_LR))
				return false;
		first = false;
		at += op.size;
	}
	return at == starts;
}

/* The beginning of a function that first stores arguments, from caller-saved
 * registers, and then the return address. */
static uintptr_t before_arguments(const struct search *s, uintptr_t starts,
				  unsigned mode)
{
	uintptr_t back;

	for (back = ARCH_INSTRUCTION; back <= ARGUMENTS_MAX &&
				      back <= starts - s->code->start;
	     back += ARCH_INSTRUCTION)
		if (stores_arguments(starts - back, starts, mode))
			return starts - back;
	return starts;
}

/* Sets a caller-saved register to a constant, or to the new stack pointer. */
static bool makes_size(const struct arch_operation *op)
{
	return !state_preserves(op->d) && op->d != ARCH_REG_LR &&
	       (op->kind == ARCH_OP_SET ||
		(op->kind == ARCH_OP_ADD && op->a == ARCH_REG_SP &&
		 op->value < 0));
}

/* The beginning of a function that allocates its frame in steps before it
 * stores the return address: no jump in between except loops that touch
 * pages. */
static uintptr_t before_steps(const struct search *s, uintptr_t starts,
			      unsigned mode)
{
	uintptr_t at = starts;
	int i;

	for (i = 0; i < ARCH_ROOM_STEPS &&
		    at - s->code->start >= ARCH_INSTRUCTION; i++) {
		struct arch_operation op = { .kind = ARCH_OP_END };
		unsigned now = mode;

		at -= ARCH_INSTRUCTION;
		arch_decode((const void *)at, s->code->end - at, &now, &op);
		if (op.kind >= ARCH_OP_CALL &&
		    (op.kind != ARCH_OP_BRANCH || op.target > at ||
		     at - op.target > PROBE_BYTES_MAX))
			break;
		if (takes_room(&op) || makes_size(&op))
			starts = at;
	}
	return starts;
}

/* The stack pointer is raised to a value from the frame pointer. */
static bool goes_up(const struct code_state *w, const struct arch_operation *op)
{
	struct value sp = w->reg[ARCH_REG_SP];
	struct value to = value_add(w->reg[op->a], op->value);

	return op->a == ARCH_REG_FP && to.kind == ENTRY &&
	       to.reg == ARCH_REG_SP &&
	       (sp.kind != ENTRY || sp.reg != ARCH_REG_SP || to.n > sp.n);
}

/* The frame is released: the function's end, or one of its ends. */
static bool gives_back(const struct code_state *w,
		       const struct arch_operation *op)
{
	if (w->home[ARCH_REG_LR].kind != ENTRY)
		return false;
	if (op->kind == ARCH_OP_LOAD)
		return op->a == ARCH_REG_SP &&
		       (op->step > 0 || op->mask >> ARCH_REG_PC & 1);
	if (moves_by_register(op, ARCH_OP_SUM))
		return true;
	return op->kind == ARCH_OP_ADD && op->d == ARCH_REG_SP &&
	       (op->a == ARCH_REG_SP ? op->value > 0 : goes_up(w, op));
}

/* The state of executing a function in address order. */
struct pass {
	struct code_state state;
	struct code_state body;	/* the state before the frame was released, if
				 * it was */
	bool ending;
	bool ended;		/* there was an exit before */
	bool moved;		/* the stack pointer was changed by an unknown
				 * amount */
	uintptr_t early;	/* end of the prologue, at most */
	struct value fp;	/* the frame pointer, if it was set */
	struct value maybe;	/* a possible frame pointer, if the epilogue
				 * uses it */
};

static void pass_apply(struct pass *p, const struct arch_operation *op)
{
	if (!p->ending && gives_back(&p->state, op)) {
		p->body = p->state;
		p->ending = true;
		if (op->kind == ARCH_OP_ADD && op->a == ARCH_REG_FP &&
		    p->fp.kind != ENTRY)
			p->fp = p->maybe;
	}
	state_apply(&p->state, op);
	p->moved |= p->state.reg[ARCH_REG_SP].kind != ENTRY;
	if (op->kind != ARCH_OP_ADD || op->d != ARCH_REG_FP ||
	    op->a != ARCH_REG_SP || p->state.pc > p->early)
		return;
	if (op->value == 0)
		p->fp = p->state.reg[ARCH_REG_FP];
	else if (p->maybe.kind != ENTRY)
		p->maybe = p->state.reg[ARCH_REG_FP];
}

/* After an unconditional jump the state is as before the frame was released.
 * False: not all of the frame was released, so the function begins
 * elsewhere. */
static bool pass_end(struct pass *p)
{
	struct value sp = p->state.reg[ARCH_REG_SP];
	uintptr_t pc = p->state.pc;

	if (p->ending && sp.kind == ENTRY &&
	    !value_is(sp, ENTRY, ARCH_REG_SP, 0))
		return false;
	if (p->ending)
		p->state = p->body;
	p->state.pc = pc;
	p->ended |= p->ending;
	p->ending = false;
	if (p->fp.kind == ENTRY)
		p->state.reg[ARCH_REG_FP] = p->fp;
	return true;
}

/* Another function's beginning, with an unknown form of storing the return
 * address: after an exit the return address is stored, or stack allocated,
 * which without a frame pointer only a prologue does. */
static bool pass_begins_another(const struct pass *p,
				const struct arch_operation *op)
{
	return p->ended && !p->ending &&
	       ((takes_room(op) && p->fp.kind != ENTRY) ||
		(op->kind == ARCH_OP_STORE && op->a == ARCH_REG_SP &&
		 op->mask >> ARCH_REG_LR & 1));
}

/* Executes from the beginning up to pc. */
static bool pass_through(struct search *s, struct pass *p, uintptr_t pc)
{
	struct arch_operation op, delayed;

	while (p->state.pc < pc) {
		if (!state_next(s, &p->state, &op)) {
			if (!op.size)
				return false;
			continue;	/* a trap: jumps pass over it */
		}
		if (pass_begins_another(p, &op))
			return false;
		if (op.delayed) {
			if (!state_next(s, &p->state, &delayed) ||
			    delayed.kind >= ARCH_OP_CALL)
				return false;
			if (!op.annuls)
				pass_apply(p, &delayed);
		}
		pass_apply(p, &op);
		if ((op.kind == ARCH_OP_LEAVE || op.kind == ARCH_OP_JUMP ||
		     (op.kind == ARCH_OP_LOAD &&
		      op.mask >> ARCH_REG_PC & 1)) && !pass_end(p))
			return false;
	}
	return p->state.pc == pc && !p->ending;
}

static void take_homes(const struct code_state *w, struct prologue_frame *f)
{
	unsigned r;

	f->saved = 0;
	for (r = 0; r < ARCH_REG_COUNT; r++) {
		struct value home = w->home[r];

		if (home.kind == ENTRY && home.reg == ARCH_REG_SP &&
		    state_preserves(r)) {
			f->saved |= UINT64_C(1) << r;
			f->at[r] = home.n;
		}
	}
}

bool prologue_backward(struct search *s, uintptr_t pc, struct prologue_frame *f,
		       struct code_state *at)
{
	unsigned mode = arch_code_mode(pc, s->exact);
	uintptr_t stores = look_back(s, pc, mode, BACK_MAX, true), starts;
	struct value sp, fp, ra;
	struct pass p;

	if (!stores)
		return false;
	starts = look_back(s, stores + ARCH_INSTRUCTION, mode, SAVES_MAX,
			   false);
	if (!starts)
		return false;
	starts = before_arguments(s, starts, mode);
	starts = before_steps(s, starts, mode);
	state_begin(&p.state, starts, mode, true);
	p.ending = p.ended = p.moved = false;
	p.early = starts + SAVES_MAX * ARCH_INSTRUCTION;
	p.fp.kind = p.maybe.kind = UNKNOWN;
	if (!pass_through(s, &p, pc))
		return false;
	sp = p.state.reg[ARCH_REG_SP];
	fp = p.state.reg[ARCH_REG_FP];
	ra = p.state.home[ARCH_REG_LR];
	/* a frame pointer also covers allocations that this order did not
	 * see */
	f->base = p.fp.kind == ENTRY || sp.kind != ENTRY ? ARCH_REG_FP :
							     ARCH_REG_SP;
	if (f->base == ARCH_REG_FP)
		sp = fp;
	/* code that lies elsewhere may run while sp is changed */
	if (f->base == ARCH_REG_SP && p.moved)
		return false;
	f->deref = false;
	f->by_base = 0;
	f->cfa = -sp.n;
	f->ra_kept = false;
	f->ra = ra.n;
	take_homes(&p.state, f);
	*at = p.state;
	return sp.kind == ENTRY && sp.reg == ARCH_REG_SP &&
	       ra.kind == ENTRY && ra.reg == ARCH_REG_SP &&
	       state_is_sane(f, false);
}

#endif
