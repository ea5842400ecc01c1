/*
 * prologue_state.c: see prologue_state.h.
 */
#include "unwind/base/assertion.h"
#include "unwind/rules/prologue_state.h"

#if ARCH_DECODES

#define FRAME_BYTES_MAX (1 << 22)

bool state_is_base(unsigned reg)
{
	return reg < 32 && ARCH_FRAME_BASES >> reg & 1;
}

bool state_preserves(unsigned reg)
{
	return reg < 32 && ARCH_CALLEE_SAVED >> reg & 1;
}

bool state_is_list(uint64_t mask)
{
	uint64_t preserved = UINT64_C(1) << ARCH_REG_LR |
			     UINT64_C(1) << ARCH_REG_PC | ARCH_CALLEE_SAVED;
	uint64_t others = mask & ~preserved;
	uint64_t behind = others + (others & -others);

	return !others || (!(behind & (behind - 1)) && behind & preserved);
}

struct value value_add(struct value v, int64_t n)
{
	static const struct value unknown;
	int64_t sum = (v.kind == WORD ? v.m : v.n) + n;

	if ((v.kind == BEYOND && n) || v.kind == UNKNOWN || n != (int32_t)n ||
	    sum != (v.kind == WORD ? (int16_t)sum : (int32_t)sum))
		return unknown;
	if (v.kind == WORD)
		v.m = (int16_t)sum;
	else if (v.kind != BEYOND)
		v.n = (int32_t)sum;
	return v;
}

bool value_is(struct value v, unsigned kind, unsigned reg, int32_t n)
{
	return v.kind == kind && v.reg == reg && v.n == n && v.m == 0;
}

/* The address of word `index` of an access. */
static struct value place_of(const struct code_state *w,
			     const struct arch_operation *op, unsigned index)
{
	return value_add(w->reg[op->a],
			 op->value + (int64_t)index * ARCH_WORD);
}

static bool is_known(struct value place)
{
	return place.kind == ENTRY && state_is_base(place.reg);
}

static struct value loaded(const struct code_state *w, struct value place)
{
	unsigned r;

	if (place.kind == WORD) {
		place.kind = BEYOND;
		return place;
	}
	if (!is_known(place))
		return (struct value){ .kind = UNKNOWN };
	for (r = 0; r < ARCH_REG_COUNT; r++)
		if (value_is(place, w->home[r].kind, w->home[r].reg,
			     w->home[r].n))
			return w->held[r];
	place.kind = WORD;
	return place;
}

/* Register r is stored at `place`. Forward, a function that was jumped to may
 * reuse another register's slot, or store the caller's r again. */
static void stored(struct code_state *w, unsigned r, struct value place)
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

static void access_words(struct code_state *w, const struct arch_operation *op)
{
	struct value base = w->reg[op->a], place;
	unsigned i, r, index = 0;

	for (i = 0; i < ARCH_REG_COUNT; i++) {
		struct value *reg;

		r = op->falls ? ARCH_REG_COUNT - 1 - i : i;
		reg = &w->reg[r];
		if (!(op->mask >> r & 1))
			continue;
		/* the base keeps its old value for all of them */
		place = place_of(w, op, index++);
		if (op->kind == ARCH_OP_LOAD && r != op->a)
			*reg = loaded(w, place);
		else if (op->kind == ARCH_OP_LOAD)
			base = loaded(w, place);
		else if (is_known(place))
			stored(w, r, place);
	}
	w->reg[op->a] = op->step ? value_add(w->reg[op->a], op->step) : base;
}

void state_apply(struct code_state *w, const struct arch_operation *op)
{
	static const struct value unknown;
	struct value *d = &w->reg[op->d];
	struct value a = w->reg[op->a], b = w->reg[op->b];
	unsigned r;

	DEBUG_ASSERT(op->d < ARCH_REG_COUNT && op->a < ARCH_REG_COUNT &&
		     op->b < ARCH_REG_COUNT);
	switch (op->kind) {
	case ARCH_OP_SET:
		*d = value_add((struct value){ .kind = CONSTANT }, op->value);
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
			if (!state_preserves(r) && r != ARCH_REG_SP)
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

void state_begin(struct code_state *w, uintptr_t pc, unsigned mode, bool exact)
{
	static const struct arch_operation call = { .kind = ARCH_OP_CALL };
	unsigned r;

	w->pc = pc;
	w->mode = mode;
	for (r = 0; r < ARCH_REG_COUNT; r++) {
		w->reg[r] = (struct value){ .kind = ENTRY, .reg = (uint8_t)r };
		w->home[r] = (struct value){ .kind = UNKNOWN };
	}
	if (!exact)
		state_apply(w, &call);
}

bool state_next(struct search *s, struct code_state *w,
		struct arch_operation *op)
{
	uintptr_t pc = w->pc;

	*op = (struct arch_operation){ .kind = ARCH_OP_END };
	if (s->left == 0 || pc < s->code->start || pc >= s->code->end)
		return false;
	s->left--;
	arch_decode((const void *)pc, s->code->end - pc, &w->mode, op);
	w->pc = pc + op->size;
	DEBUG_ASSERT(op->size <= s->code->end - pc);
	return op->kind != ARCH_OP_END && op->size != 0;
}

bool state_is_sane(const struct prologue_frame *f, bool exact)
{
	int32_t least = f->base == ARCH_REG_SP ? 0 : -FRAME_BYTES_MAX;

	if (f->deref)
		return f->cfa < 0 && f->cfa >= least &&
		       f->cfa % ARCH_WORD == 0;
	if (f->cfa < least || f->cfa > FRAME_BYTES_MAX ||
	    f->cfa % (exact ? ARCH_WORD : ARCH_STACK_ALIGN))
		return false;
	return f->ra_kept || (f->ra < 0 && f->ra >= least - f->cfa &&
			      f->ra % ARCH_WORD == 0);
}

#endif
