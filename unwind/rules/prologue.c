/*
 * prologue.c: see prologue.h: combines the results of both analyses
 * (prologue_state.h).
 *
 * Any thread, also signal handlers; some 4 KB of stack.
 */
#include "unwind/rules/prologue_state.h"

#if ARCH_DECODES

#define OPERATIONS_MAX 4096	/* for one result */

/* Whether both describe the same frame; w: the state at pc, from the backward
 * analysis. */
static bool agree(const struct prologue_frame *on,
		  const struct prologue_frame *back, const struct code_state *w)
{
	struct value base = w->reg[on->base];

	return base.kind == ENTRY && base.reg == ARCH_REG_SP &&
	       on->cfa == -base.n && on->ra == back->ra;
}

/* Adds registers that the function has stored, and that the forward analysis
 * did not see loaded. */
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
	struct code_state at;
	bool found = prologue_forward(&s, pc, frame);

	frame->one_way = true;
	if (!ARCH_DECODES_BACK)
		return found && prologue_is_confirmed(&s, frame);
	if (exact)
		return found;
	s.left = OPERATIONS_MAX;
	if (!prologue_backward(&s, pc, &other, &at))
		return found;
	if (!found) {
		*frame = other;
		frame->one_way = true;
		return true;
	}
	add_saved(frame, &other);
	frame->one_way = false;
	return agree(frame, &other, &at);
}

#endif
