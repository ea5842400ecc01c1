/*
 * symbolic.c: see symbolic.h.
 */
#include "cli/symbol/cfi/symbolic.h"

#include <string.h>

#include "unwind/base/assertion.h"

bool symbolic_same(struct symbolic_value a, struct symbolic_value b)
{
	return a.kind == b.kind && a.reg == b.reg && a.number == b.number;
}

struct symbolic_value symbolic_plus(struct symbolic_value a, int64_t number)
{
	if (a.kind == SYMBOLIC_UNKNOWN ||
	    (a.kind == SYMBOLIC_ENTRY && number != 0))
		return symbolic_unknown();
	a.number = (int64_t)((uint64_t)a.number + (uint64_t)number);
	return a;
}

struct symbolic_value symbolic_add(struct symbolic_value a,
				   struct symbolic_value b)
{
	if (b.kind == SYMBOLIC_CONSTANT)
		return symbolic_plus(a, b.number);
	return a.kind == SYMBOLIC_CONSTANT ? symbolic_plus(b, a.number) :
		symbolic_unknown();
}

struct symbolic_value symbolic_minus(struct symbolic_value a,
				     struct symbolic_value b)
{
	if (b.kind != SYMBOLIC_CONSTANT)
		return symbolic_unknown();
	return symbolic_plus(a, (int64_t)(0 - (uint64_t)b.number));
}

void symbolic_begin(struct symbolic_state *state)
{
	memset(state, 0, sizeof(*state));
	for (unsigned i = 0; i < SYMBOLIC_REGS; i++)
		state->reg[i] = symbolic_entry(i);
}

static void remove_slots(struct symbolic_state *state, uint32_t first,
			 uint32_t count)
{
	DEBUG_ASSERT(first + count <= state->slots);
	memmove(&state->slot[first], &state->slot[first + count],
		(state->slots - first - count) * sizeof(*state->slot));
	state->slots -= count;
}

void symbolic_make_base(struct symbolic_state *state, unsigned reg,
			enum symbolic_kind kind)
{
	uint32_t i = 0;

	DEBUG_ASSERT(kind == SYMBOLIC_ALIGNED || kind == SYMBOLIC_DYNAMIC);
	for (unsigned r = 0; r < SYMBOLIC_REGS; r++)
		if (state->reg[r].kind == kind)
			state->reg[r] = symbolic_unknown();
	while (i < state->slots)
		if (state->slot[i].base == kind ||
		    state->slot[i].value.kind == kind)
			remove_slots(state, i, 1);
		else
			i++;
	state->reg[reg] = (struct symbolic_value){ 0, (uint8_t)kind, 0 };
	DEBUG_ASSERT(symbolic_is_valid(state));	/* I1 */
}

/* The first slot at or after an offset from a base. */
static uint32_t find_slot(const struct symbolic_state *state, uint8_t base,
			  int64_t offset)
{
	uint32_t i = 0;

	while (i < state->slots &&
	       (state->slot[i].base < base ||
		(state->slot[i].base == base &&
		 state->slot[i].offset < offset)))
		i++;
	return i;
}

static bool is_stack(struct symbolic_value address)
{
	return address.kind >= SYMBOLIC_CFA &&
		address.kind <= SYMBOLIC_DYNAMIC;
}

struct symbolic_value symbolic_load(const struct symbolic_state *state,
				    struct symbolic_value address)
{
	uint32_t i;

	if (!is_stack(address))
		return symbolic_unknown();
	i = find_slot(state, address.kind, address.number);
	return i < state->slots && state->slot[i].base == address.kind &&
		state->slot[i].offset == address.number ?
		state->slot[i].value : symbolic_unknown();
}

void symbolic_store(struct symbolic_state *state,
		    struct symbolic_value address, unsigned size,
		    unsigned word, struct symbolic_value value)
{
	int64_t end = address.number + size;
	uint32_t i;

	if (!is_stack(address))
		return;
	i = find_slot(state, address.kind, address.number - word + 1);
	while (i < state->slots && state->slot[i].base == address.kind &&
	       state->slot[i].offset < end)
		remove_slots(state, i, 1);
	if (size != word || value.kind == SYMBOLIC_UNKNOWN ||
	    state->slots == SYMBOLIC_SLOTS)
		return;
	memmove(&state->slot[i + 1], &state->slot[i],
		(state->slots - i) * sizeof(*state->slot));
	state->slot[i] = (struct symbolic_slot){ address.number, value,
						 address.kind };
	state->slots++;
	DEBUG_ASSERT(symbolic_is_valid(state));	/* I2 */
}

bool symbolic_find(const struct symbolic_state *state, enum symbolic_kind base,
		   struct symbolic_value value, int64_t lowest,
		   int64_t *offset)
{
	for (uint32_t i = 0; i < state->slots; i++)
		if (state->slot[i].base == base &&
		    state->slot[i].offset >= lowest &&
		    symbolic_same(state->slot[i].value, value)) {
			*offset = state->slot[i].offset;
			return true;
		}
	return false;
}

bool symbolic_saved(const struct symbolic_state *state, unsigned reg,
		    int64_t *offset)
{
	return symbolic_find(state, SYMBOLIC_CFA, symbolic_entry(reg),
			     INT64_MIN, offset);
}

bool symbolic_join(struct symbolic_state *to,
		   const struct symbolic_state *from)
{
	bool lost = false;
	uint32_t i = 0;

	for (unsigned r = 0; r < SYMBOLIC_REGS; r++)
		if (to->reg[r].kind != SYMBOLIC_UNKNOWN &&
		    !symbolic_same(to->reg[r], from->reg[r])) {
			to->reg[r] = symbolic_unknown();
			lost = true;
		}
	while (i < to->slots) {
		const struct symbolic_slot *slot = &to->slot[i];
		struct symbolic_value address = { slot->offset, slot->base, 0 };

		if (symbolic_same(symbolic_load(from, address), slot->value)) {
			i++;
			continue;
		}
		remove_slots(to, i, 1);
		lost = true;
	}
	if (to->signed_ra != SYMBOLIC_EITHER &&
	    to->signed_ra != from->signed_ra) {
		to->signed_ra = SYMBOLIC_EITHER;
		lost = true;
	}
	DEBUG_ASSERT(symbolic_is_valid(to));
	return lost;
}

#ifdef GNOMON_DEBUG_ASSERTS
bool symbolic_is_valid(const struct symbolic_state *state)
{
	for (unsigned r = 0; r < SYMBOLIC_REGS; r++) {
		const struct symbolic_value *value = &state->reg[r];

		if (value->kind > SYMBOLIC_CONSTANT ||
		    (value->kind <= SYMBOLIC_ENTRY && value->number != 0))
			return false;
	}
	for (uint32_t i = 0; i < state->slots; i++) {
		const struct symbolic_slot *slot = &state->slot[i];

		if (slot->value.kind == SYMBOLIC_UNKNOWN)
			return false;
		if (i > 0 && (slot[-1].base > slot->base ||
			      (slot[-1].base == slot->base &&
			       slot[-1].offset >= slot->offset)))
			return false;
	}
	return state->slots <= SYMBOLIC_SLOTS &&
		state->signed_ra <= SYMBOLIC_EITHER;
}
#endif
