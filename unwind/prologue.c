/*
 * prologue.c: a frame by the code around its pc, followed with values that say
 * only where they come from.
 *
 *	CONSTANT n	n
 *	ENTRY r, n	what register r held where this began, + n
 *	WORD r, n	the word that lay at ENTRY r, n then
 *	UNKNOWN		anything
 *
 * Onward, from pc: the function is followed until it is left. There the stack
 * pointer is the CFA, as ENTRY sp or fp; the return address is a WORD between;
 * each register that a called function must preserve is its own ENTRY, or a
 * WORD. Of a branch the way that does not jump is followed first.
 *
 * Where code is followed onward only (ARCH_DECODES_BACK), another way out has to
 * say the same, and the stack pointer has to be as calls want it, which it is not
 * at the end of another function.
 *
 * Back, to pc: the nearest store of a return address, and the stack pointer's
 * last decrease before it, are the function's beginning. From there all is
 * followed in the order in which it lies, passing over the ends that lie
 * between. ENTRY sp is the CFA then.
 *
 * What comes behind a call that never returns is often another function. There
 * the way onward ends: that stores a return address of its own, or returns by
 * one that nobody has loaded.
 *
 * Any thread, also signal handlers; some 4 KB of stack.
 *
 * I1  Code is read inside of the given bounds only, by at most OPERATIONS_MAX
 *     instructions for one answer.
 */
#include "unwind/claim.h"
#include "unwind/prologue.h"

#if ARCH_DECODES

enum {
	OPERATIONS_MAX = 4096,	/* in one answer */
	CONFIRM_MAX = 512,	/* to another way out */
	WAYS_MAX = ARCH_DECODES_BACK ? 4 : 8,	/* that are yet to be followed;
						 * of more, the newest */
	JUMPS_MAX = 32,		/* backward, each followed once */
	BACK_MAX = 2048,	/* instructions, to a function's beginning */
	SAVES_MAX = 64,		/* from there to where it stores its caller, or
				 * has made a frame pointer */
	ARGUMENTS_MAX = 24,	/* bytes of code, from where arguments are
				 * stored to there */
	PROBE_BYTES_MAX = 16,	/* of the loop that touches a frame's pages */
	FRAME_BYTES_MAX = 1 << 22
};

enum value_kind { UNKNOWN, CONSTANT, ENTRY, WORD };

struct value {
	uint8_t kind;		/* enum value_kind */
	uint8_t reg;
	int32_t n;
};

struct way {
	uintptr_t pc;
	unsigned mode;		/* of the processor, as arch_decode has it */
	struct value reg[ARCH_REG_COUNT];
	/* The place where the ENTRY of a register was stored, if it was; or,
	 * onward only, what it held when it was stored last. */
	struct value home[ARCH_REG_COUNT], held[ARCH_REG_COUNT];
};

struct search {
	const struct prologue_code *code;
	bool exact;
	unsigned left;		/* operations */
	unsigned ways;
	struct way way[WAYS_MAX];
	unsigned jumps;
	uintptr_t jump[JUMPS_MAX];
};

static bool is_base(unsigned reg)
{
	return reg < 32 && ARCH_FRAME_BASES >> reg & 1;
}

/* What a called function preserves, the stack pointer apart. */
static bool is_preserved(unsigned reg)
{
	return reg < 32 && ARCH_CALLEE_SAVED >> reg & 1;
}

/* Whether a function may store or load these at once, and who called it among
 * them. Compilers that want room take registers of no use next to the preserved
 * ones: a list with any else is data. */
static bool is_list(uint64_t mask)
{
	uint64_t preserved = UINT64_C(1) << ARCH_REG_LR |
			     UINT64_C(1) << ARCH_REG_PC | ARCH_CALLEE_SAVED;
	uint64_t others = mask & ~preserved;
	uint64_t behind = others + (others & -others);

	return !others || (!(behind & (behind - 1)) && behind & preserved);
}

static struct value value_add(struct value v, int64_t n)
{
	int64_t sum = v.n + n;

	if ((v.kind == WORD && n) || v.kind == UNKNOWN || n != (int32_t)n ||
	    sum != (int32_t)sum)
		return (struct value){ UNKNOWN, 0, 0 };
	if (v.kind != WORD)
		v.n = (int32_t)sum;
	return v;
}

static bool value_is(struct value v, unsigned kind, unsigned reg, int32_t n)
{
	return v.kind == kind && v.reg == reg && v.n == n;
}

/* Where the word `index` of an access lies; false: nobody knows. */
static bool place_of(const struct way *w, const struct arch_operation *op,
		     unsigned index, struct value *place)
{
	*place = value_add(w->reg[op->a],
			   op->value + (int64_t)index * ARCH_WORD);
	return place->kind == ENTRY && is_base(place->reg);
}

static struct value loaded(const struct way *w, struct value place)
{
	unsigned r;

	for (r = 0; r < ARCH_REG_COUNT; r++)
		if (value_is(place, w->home[r].kind, w->home[r].reg,
			     w->home[r].n))
			return w->held[r];
	place.kind = WORD;
	return place;
}

/* The value of register r is stored. Onward, a function that was jumped to may
 * put it where another one had it, or what the caller had in r anew. */
static void stored(struct way *w, unsigned r, struct value place)
{
	struct value v = w->reg[r];
	unsigned other;

	for (other = 0; !ARCH_DECODES_BACK && other < ARCH_REG_COUNT; other++)
		if (value_is(place, w->home[other].kind, w->home[other].reg,
			     w->home[other].n))
			w->home[other].kind = UNKNOWN;
	if (ARCH_DECODES_BACK ? value_is(v, ENTRY, r, 0) && !w->home[r].kind :
				v.kind == ENTRY || v.kind == WORD) {
		w->home[r] = place;
		w->held[r] = v;
	}
}

static void access_words(struct way *w, const struct arch_operation *op)
{
	struct value base = w->reg[op->a], place;
	unsigned i, r, index = 0;

	for (i = 0; i < ARCH_REG_COUNT; i++) {
		struct value *reg;
		bool known;

		r = op->falls ? ARCH_REG_COUNT - 1 - i : i;
		reg = &w->reg[r];
		if (!(op->mask >> r & 1))
			continue;
		/* the base is what it was for all of them */
		known = place_of(w, op, index++, &place);
		if (op->kind == ARCH_OP_LOAD && r != op->a)
			*reg = known ? loaded(w, place) :
				       (struct value){ UNKNOWN, 0, 0 };
		else if (op->kind == ARCH_OP_LOAD)
			base = known ? loaded(w, place) :
				       (struct value){ UNKNOWN, 0, 0 };
		else if (known)
			stored(w, r, place);
	}
	w->reg[op->a] = op->step ? value_add(w->reg[op->a], op->step) : base;
}

/* What an instruction does to registers, wherever it leads. */
static void apply(struct way *w, const struct arch_operation *op)
{
	static const struct value unknown;
	struct value *d = &w->reg[op->d];
	struct value a = w->reg[op->a], b = w->reg[op->b];
	unsigned r;

	CLAIM_FULL(op->d < ARCH_REG_COUNT && op->a < ARCH_REG_COUNT &&
		   op->b < ARCH_REG_COUNT);
	switch (op->kind) {
	case ARCH_OP_SET:
		*d = value_add((struct value){ CONSTANT, 0, 0 }, op->value);
		break;
	case ARCH_OP_ADD:
		*d = value_add(a, op->value);
		break;
	case ARCH_OP_SUM:
		*d = b.kind == CONSTANT ? value_add(a, b.n) :
		     a.kind == CONSTANT ? value_add(b, a.n) : unknown;
		break;
	case ARCH_OP_DIFFERENCE:
		*d = b.kind == CONSTANT ? value_add(a, -(int64_t)b.n) :
					  unknown;
		break;
	case ARCH_OP_LOAD:
	case ARCH_OP_STORE:
		access_words(w, op);
		break;
	case ARCH_OP_CALL:
		for (r = 0; r < ARCH_REG_COUNT; r++)
			if (!is_preserved(r) && r != ARCH_REG_SP)
				w->reg[r] = unknown;
		break;
	case ARCH_OP_UNFRAME:
		w->reg[ARCH_REG_SP] = a;
		access_words(w, &(struct arch_operation){
					.kind = ARCH_OP_LOAD,
					.a = ARCH_REG_SP,
					.mask = UINT64_C(1) << op->a,
					.step = ARCH_WORD });
		break;
	default:
		for (r = 0; r < ARCH_REG_COUNT; r++)
			if (op->mask >> r & 1)
				w->reg[r] = unknown;
	}
}

static void way_begin(struct way *w, uintptr_t pc, unsigned mode, bool exact)
{
	static const struct arch_operation call = { .kind = ARCH_OP_CALL };
	unsigned r;

	w->pc = pc;
	w->mode = mode;
	for (r = 0; r < ARCH_REG_COUNT; r++) {
		w->reg[r] = (struct value){ ENTRY, (uint8_t)r, 0 };
		w->home[r] = (struct value){ UNKNOWN, 0, 0 };
	}
	if (!exact)
		apply(w, &call);
}

/* The instruction at w->pc, which is passed. False: there is none. */
static bool next(struct search *s, struct way *w, struct arch_operation *op)
{
	uintptr_t pc = w->pc;

	*op = (struct arch_operation){ .kind = ARCH_OP_END };
	if (s->left == 0 || pc < s->code->start || pc >= s->code->end)
		return false;
	s->left--;
	arch_decode((const void *)pc, s->code->end - pc, &w->mode, op);
	w->pc = pc + op->size;
	CLAIM_FULL(op->size <= s->code->end - pc);
	return op->kind != ARCH_OP_END && op->size != 0;
}

/* ---- onward ---- */

/* Where the registers that must be preserved are, in a frame whose CFA is
 * known. False: one of them is not what it was for the caller. */
static bool find_saved(const struct way *w, struct prologue_frame *f)
{
	unsigned r;

	f->saved = 0;
	for (r = 0; r < ARCH_REG_COUNT; r++) {
		struct value v = w->reg[r];

		if (!is_preserved(r) || value_is(v, ENTRY, r, 0))
			continue;
		if (v.kind != WORD || v.reg != f->base ||
		    (!ARCH_LINK_REGISTER && v.n - f->cfa >= ARCH_RA_OFFSET))
			return false;
		f->saved |= UINT64_C(1) << r;
		f->at[r] = v.n - f->cfa;
	}
	return true;
}

/* exact: a signal may have come where the stack pointer was any word's. */
static bool is_sane(const struct prologue_frame *f, bool exact)
{
	int32_t least = f->base == ARCH_REG_SP ? 0 : -FRAME_BYTES_MAX;

	if (f->cfa < least || f->cfa > FRAME_BYTES_MAX ||
	    f->cfa % (exact ? ARCH_WORD : ARCH_STACK_ALIGN))
		return false;
	return f->ra_kept || (f->ra < 0 && f->ra >= least - f->cfa &&
			      f->ra % ARCH_WORD == 0);
}

/* Whether the function is left here, for its caller or by a tail call. */
static bool is_left(const struct search *s, const struct way *w,
		    struct value target, struct prologue_frame *f)
{
	struct value sp = w->reg[ARCH_REG_SP], ra = w->reg[ARCH_REG_LR];

	if (!ARCH_LINKAGE_REGISTERS &&
	    (target.kind == WORD || value_is(target, ENTRY, ARCH_REG_LR, 0)))
		ra = target;
	if (sp.kind != ENTRY || !is_base(sp.reg))
		return false;
	f->base = sp.reg;
	f->cfa = sp.n;
	f->ra_kept = s->exact && sp.reg == ARCH_REG_SP &&
		     value_is(ra, ENTRY, ARCH_REG_LR, 0);
	if (!f->ra_kept && (ra.kind != WORD || ra.reg != sp.reg))
		return false;
	f->ra = f->ra_kept ? 0 : ra.n - sp.n;
	if (!ARCH_LINK_REGISTER && f->ra != ARCH_RA_OFFSET)
		return false;
	return is_sane(f, s->exact) && find_saved(w, f);
}

static void remember_way(struct search *s, const struct way *w)
{
	unsigned i;

	if (s->ways == WAYS_MAX) {
		for (i = 1; i < WAYS_MAX; i++)
			s->way[i - 1] = s->way[i];
		s->ways--;
	}
	s->way[s->ways++] = *w;
}

/* Whether this jump was not yet followed, if it goes back. */
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

/* The instruction behind one that goes elsewhere, if it runs before. */
static bool run_delayed(struct search *s, struct way *w,
			const struct arch_operation *op)
{
	struct arch_operation delayed;

	if (!op->delayed)
		return true;
	if (!next(s, w, &delayed) || delayed.kind >= ARCH_OP_CALL)
		return false;
	apply(w, &delayed);
	return true;
}

/* Another function's beginning: it stores who called it, which after a call is
 * nobody's value any more. */
static bool begins_another(const struct way *w, const struct arch_operation *op)
{
	return op->kind == ARCH_OP_STORE && op->mask >> ARCH_REG_LR & 1 &&
	       w->reg[ARCH_REG_LR].kind == UNKNOWN;
}

/* Whether a function may be called with the stack pointer as it is, by the one
 * that was called from before pc. */
static bool may_call(const struct search *s, const struct way *w)
{
	struct value sp = w->reg[ARCH_REG_SP];

	return s->exact || sp.kind != ENTRY || sp.n % ARCH_STACK_ALIGN == 0;
}

/* What lies below the stack pointer is nobody's home any more: a function that
 * is jumped to stores registers of its own. */
static void leave_homes(struct way *w)
{
	struct value sp = w->reg[ARCH_REG_SP];
	unsigned r;

	for (r = 0; r < ARCH_REG_COUNT; r++)
		if (sp.kind == ENTRY && w->home[r].kind == ENTRY &&
		    w->home[r].reg == sp.reg && w->home[r].n < sp.n)
			w->home[r].kind = UNKNOWN;
}

/* Whether the frame has gone, and who called is known: a jump is a tail call. */
static bool is_gone(const struct search *s, const struct way *w)
{
	struct value sp = w->reg[ARCH_REG_SP], ra = w->reg[ARCH_REG_LR];

	if (sp.kind != ENTRY)
		return false;
	if (ra.kind == WORD)
		return ra.reg == sp.reg && ra.n < sp.n;
	return s->exact && value_is(ra, ENTRY, ARCH_REG_LR, 0) &&
	       sp.reg == ARCH_REG_SP && sp.n > 0;
}

enum follow { ON, LEFT, DEAD };

/* Where a signal came the return address may be gone from its register unseen: a
 * jump by a register that takes no room back may be a switch. */
static bool is_switch(const struct search *s, const struct way *w,
		      const struct arch_operation *op)
{
	struct value sp = w->reg[ARCH_REG_SP];

	return s->exact && ARCH_LINKAGE_REGISTERS && op->a != ARCH_REG_LR &&
	       !(ARCH_LINKAGE_REGISTERS >> op->a & 1) && sp.kind == ENTRY &&
	       sp.reg == ARCH_REG_SP && sp.n <= 0;
}

static enum follow go_elsewhere(struct search *s, struct way *w, uintptr_t pc,
				const struct arch_operation *op,
				struct prologue_frame *f)
{
	struct value target = w->reg[op->a];
	struct way straight = *w;

	if (!run_delayed(s, w, op))
		return DEAD;
	switch (op->kind) {
	case ARCH_OP_CALL:
		apply(w, op);
		return may_call(s, w) ? ON : DEAD;
	case ARCH_OP_BRANCH:
		if (!op->annuls)
			straight = *w;
		straight.pc = w->pc;
		w->pc = op->target;
		/* where nothing is found by the way back, loops are followed */
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

static bool follow(struct search *s, struct way *w, struct prologue_frame *f)
{
	struct arch_operation op;
	enum follow how = ON;

	while (how == ON) {
		uintptr_t pc = w->pc;

		if (!next(s, w, &op) || begins_another(w, &op))
			return false;
		if (op.conditional)
			remember_way(s, w);
		if (op.kind >= ARCH_OP_CALL) {
			how = go_elsewhere(s, w, pc, &op, f);
			continue;
		}
		apply(w, &op);
		if (op.kind == ARCH_OP_LOAD && op.mask >> ARCH_REG_PC & 1)
			how = is_list(op.mask) &&
					      is_left(s, w, w->reg[ARCH_REG_PC],
						      f) ?
				      LEFT : DEAD;
	}
	return how == LEFT;
}

/* By the ways that are yet to be followed. */
static bool follow_next(struct search *s, struct prologue_frame *f)
{
	struct way w;

	while (s->ways && s->left) {
		w = s->way[--s->ways];
		if (follow(s, &w, f))
			return true;
	}
	return false;
}

static bool onward(struct search *s, uintptr_t pc, struct prologue_frame *f)
{
	struct way w;

	way_begin(&w, pc, arch_code_mode(pc, s->exact), s->exact);
	remember_way(s, &w);
	return follow_next(s, f);
}

/* Whether another way out, if one is near, says the same. */
static bool is_confirmed(struct search *s, const struct prologue_frame *f)
{
	struct prologue_frame other;

	if (s->left > CONFIRM_MAX)
		s->left = CONFIRM_MAX;
	return !follow_next(s, &other) || other.base != f->base ||
	       (other.cfa == f->cfa && other.ra == f->ra);
}

/* ---- back ---- */

/* d = sp - b, or sp + b: of a frame whose size does not fit into one. */
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

/* Whether the bytes at `at` are rather a part of a longer instruction before. */
static bool is_inside(const struct search *s, uintptr_t at, unsigned mode)
{
	return size_at(s, at - ARCH_INSTRUCTION, mode) > ARCH_INSTRUCTION &&
	       size_at(s, at - 2 * ARCH_INSTRUCTION, mode) <= ARCH_INSTRUCTION;
}

static bool stores_caller(const struct arch_operation *op)
{
	return op->kind == ARCH_OP_STORE && op->a == ARCH_REG_SP &&
	       op->mask >> ARCH_REG_LR & 1 && is_list(op->mask);
}

/* As the code does that a program begins with: nobody called it. */
static bool forgets_caller(const struct arch_operation *op)
{
	return op->kind == ARCH_OP_SET && op->d == ARCH_REG_LR && !op->value;
}

/* The nearest place before pc where this is done; 0: none in so many
 * instructions, or none of the function that pc is in. */
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

/* Whether at `at` arguments are put into the stack, or room is taken for them,
 * and nothing between there and `starts` goes elsewhere. */
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
			    (is_preserved(r) || r == ARCH_REG_LR))
				return false;
		first = false;
		at += op.size;
	}
	return at == starts;
}

/* Where a function begins that does so before it stores its caller: with
 * registers that nobody has to preserve. */
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

/* A number, or what is to become the stack pointer, in a register that nobody
 * has to preserve. */
static bool makes_size(const struct arch_operation *op)
{
	return !is_preserved(op->d) && op->d != ARCH_REG_LR &&
	       (op->kind == ARCH_OP_SET ||
		(op->kind == ARCH_OP_ADD && op->a == ARCH_REG_SP &&
		 op->value < 0));
}

/* Where a function begins that takes its room in steps, before it stores its
 * caller: nothing but a loop that touches pages goes elsewhere between. */
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

/* The stack pointer goes up to what a frame pointer says. */
static bool goes_up(const struct way *w, const struct arch_operation *op)
{
	struct value sp = w->reg[ARCH_REG_SP];
	struct value to = value_add(w->reg[op->a], op->value);

	return op->a == ARCH_REG_FP && to.kind == ENTRY &&
	       to.reg == ARCH_REG_SP &&
	       (sp.kind != ENTRY || sp.reg != ARCH_REG_SP || to.n > sp.n);
}

/* The frame goes: the function's end, or one of them. */
static bool gives_back(const struct way *w, const struct arch_operation *op)
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

/* The way through a function, in the order in which it lies. */
struct pass {
	struct way way;
	struct way body;	/* as it was when the frame went, if it did */
	bool ending;
	bool ended;		/* it was left, in between */
	uintptr_t early;	/* where the beginning is over */
	struct value fp;	/* the frame pointer, if it was made one */
	struct value maybe;	/* what may be one, if the end goes by it */
};

static void pass_apply(struct pass *p, const struct arch_operation *op)
{
	if (!p->ending && gives_back(&p->way, op)) {
		p->body = p->way;
		p->ending = true;
		if (op->kind == ARCH_OP_ADD && op->a == ARCH_REG_FP &&
		    p->fp.kind != ENTRY)
			p->fp = p->maybe;
	}
	apply(&p->way, op);
	if (op->kind != ARCH_OP_ADD || op->d != ARCH_REG_FP ||
	    op->a != ARCH_REG_SP || p->way.pc > p->early)
		return;
	if (op->value == 0)
		p->fp = p->way.reg[ARCH_REG_FP];
	else if (p->maybe.kind != ENTRY)
		p->maybe = p->way.reg[ARCH_REG_FP];
}

/* Behind what goes elsewhere for good, code is as before the frame went. False:
 * not all of the frame went, so the function has begun elsewhere. */
static bool pass_end(struct pass *p)
{
	struct value sp = p->way.reg[ARCH_REG_SP];
	uintptr_t pc = p->way.pc;

	if (p->ending && sp.kind == ENTRY &&
	    !value_is(sp, ENTRY, ARCH_REG_SP, 0))
		return false;
	if (p->ending)
		p->way = p->body;
	p->way.pc = pc;
	p->ended |= p->ending;
	p->ending = false;
	if (p->fp.kind == ENTRY)
		p->way.reg[ARCH_REG_FP] = p->fp;
	return true;
}

/* Another function's beginning, whose store of its caller is of no known form:
 * behind an end the return address is stored, or room taken, which without a
 * frame pointer only a beginning does. */
static bool pass_begins_another(const struct pass *p,
				const struct arch_operation *op)
{
	return p->ended && !p->ending &&
	       ((takes_room(op) && p->fp.kind != ENTRY) ||
		(op->kind == ARCH_OP_STORE && op->a == ARCH_REG_SP &&
		 op->mask >> ARCH_REG_LR & 1));
}

/* From the beginning up to pc. */
static bool pass_through(struct search *s, struct pass *p, uintptr_t pc)
{
	struct arch_operation op, delayed;

	while (p->way.pc < pc) {
		if (!next(s, &p->way, &op)) {
			if (!op.size)
				return false;
			continue;	/* a trap: others jump over it */
		}
		if (pass_begins_another(p, &op))
			return false;
		if (op.delayed) {
			if (!next(s, &p->way, &delayed) ||
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
	return p->way.pc == pc && !p->ending;
}

static void take_homes(const struct way *w, struct prologue_frame *f)
{
	unsigned r;

	f->saved = 0;
	for (r = 0; r < ARCH_REG_COUNT; r++) {
		struct value home = w->home[r];

		if (home.kind == ENTRY && home.reg == ARCH_REG_SP &&
		    is_preserved(r)) {
			f->saved |= UINT64_C(1) << r;
			f->at[r] = home.n;
		}
	}
}

static bool back(struct search *s, uintptr_t pc, struct prologue_frame *f,
		 struct pass *p)
{
	unsigned mode = arch_code_mode(pc, s->exact);
	uintptr_t stores = look_back(s, pc, mode, BACK_MAX, true), starts;
	struct value sp, fp, ra;

	if (!stores)
		return false;
	starts = look_back(s, stores + ARCH_INSTRUCTION, mode, SAVES_MAX,
			   false);
	if (!starts)
		return false;
	starts = before_arguments(s, starts, mode);
	starts = before_steps(s, starts, mode);
	way_begin(&p->way, starts, mode, true);
	p->ending = p->ended = false;
	p->early = starts + SAVES_MAX * ARCH_INSTRUCTION;
	p->fp.kind = p->maybe.kind = UNKNOWN;
	if (!pass_through(s, p, pc))
		return false;
	sp = p->way.reg[ARCH_REG_SP];
	fp = p->way.reg[ARCH_REG_FP];
	ra = p->way.home[ARCH_REG_LR];
	/* one that has been made a frame pointer knows of more room than was
	 * met in this order */
	f->base = p->fp.kind == ENTRY || sp.kind != ENTRY ? ARCH_REG_FP :
							     ARCH_REG_SP;
	if (f->base == ARCH_REG_FP)
		sp = fp;
	f->cfa = -sp.n;
	f->ra_kept = false;
	f->ra = ra.n;
	take_homes(&p->way, f);
	return sp.kind == ENTRY && sp.reg == ARCH_REG_SP &&
	       ra.kind == ENTRY && ra.reg == ARCH_REG_SP &&
	       is_sane(f, false);
}

/* Whether both mean the same frame; w: as it is at pc, by the way back. */
static bool agree(const struct prologue_frame *on,
		  const struct prologue_frame *back, const struct way *w)
{
	struct value base = w->reg[on->base];

	return base.kind == ENTRY && base.reg == ARCH_REG_SP &&
	       on->cfa == -base.n && on->ra == back->ra;
}

/* Registers that the function has stored, and that the way onward did not come
 * to load. */
static void add_saved(struct prologue_frame *on,
		      const struct prologue_frame *back)
{
	unsigned r;

	for (r = 0; r < ARCH_REG_COUNT; r++)
		if (back->saved >> r & 1 && !(on->saved >> r & 1))
			on->at[r] = back->at[r];
	on->saved |= back->saved;
}

bool prologue_frame(const struct prologue_code *code, uintptr_t pc, bool exact,
		    struct prologue_frame *frame)
{
	struct search s = { .code = code, .exact = exact,
			    .left = OPERATIONS_MAX };
	struct prologue_frame other;
	struct pass pass;
	bool found = onward(&s, pc, frame);

	if (!ARCH_DECODES_BACK)
		return found && is_confirmed(&s, frame);
	if (exact)
		return found;
	s.left = OPERATIONS_MAX;
	if (!back(&s, pc, &other, &pass))
		return found;
	if (found && !agree(frame, &other, &pass.way))
		return false;
	if (found)
		add_saved(frame, &other);
	else
		*frame = other;
	return true;
}

#endif
