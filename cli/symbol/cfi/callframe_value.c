/*
 * callframe_value.c: see the header.
 */
#include "cli/symbol/cfi/callframe_value.h"

#include <dwarf.h>
#include <elf.h>

#define STACK_MAX 16
#define X86_64_PC 16		/* the return address's column is the pc */

struct evaluation {
	const struct callframe_place *place;
	struct symbolic_value stack[STACK_MAX];
	unsigned depth;
};

static struct symbolic_value register_value(const struct callframe_place *p,
					    uint64_t column)
{
	int reg;

	if (p->machine->elf_machine == EM_X86_64 && column == X86_64_PC)
		return symbolic_constant((int64_t)p->pc);
	reg = column < CALLFRAME_COLUMNS ?
		machine_register(p->machine, (unsigned)column) : -1;
	return reg < 0 ? symbolic_unknown() : p->state->reg[reg];
}

static bool push(struct evaluation *e, struct symbolic_value value)
{
	if (e->depth == STACK_MAX)
		return false;
	e->stack[e->depth++] = value;
	return true;
}

static struct symbolic_value both(uint8_t op, struct symbolic_value a,
				  struct symbolic_value b)
{
	uint64_t x = (uint64_t)a.number, y = (uint64_t)b.number;

	if (op == DW_OP_plus)
		return symbolic_add(a, b);
	if (op == DW_OP_minus)
		return symbolic_minus(a, b);
	if (a.kind != SYMBOLIC_CONSTANT || b.kind != SYMBOLIC_CONSTANT)
		return symbolic_unknown();
	switch (op) {
	case DW_OP_and:
		return symbolic_constant((int64_t)(x & y));
	case DW_OP_or:
		return symbolic_constant((int64_t)(x | y));
	case DW_OP_shl:
		return symbolic_constant((int64_t)(y < 64 ? x << y : 0));
	case DW_OP_ge:
		return symbolic_constant(a.number >= b.number);
	default:
		return symbolic_unknown();
	}
}

static bool operate(struct evaluation *e, uint8_t op, struct bytes *bytes)
{
	struct symbolic_value *top;

	if (e->depth == 0)
		return false;
	top = &e->stack[e->depth - 1];
	switch (op) {
	case DW_OP_deref:
		*top = symbolic_load(e->place->state, *top);
		return true;
	case DW_OP_plus_uconst:
		*top = symbolic_plus(*top, (int64_t)bytes_uleb(bytes));
		return true;
	case DW_OP_plus: case DW_OP_minus: case DW_OP_and: case DW_OP_or:
	case DW_OP_shl: case DW_OP_ge:
		if (e->depth < 2)
			return false;
		e->depth--;
		top[-1] = both(op, top[-1], top[0]);
		return true;
	default:
		return false;
	}
}

static bool evaluate_one(struct evaluation *e, uint8_t op,
			 struct bytes *bytes)
{
	struct symbolic_value base;

	if (op >= DW_OP_breg0 && op <= DW_OP_breg31) {
		base = register_value(e->place, op - DW_OP_breg0);
		return push(e, symbolic_plus(base, bytes_sleb(bytes)));
	}
	if (op >= DW_OP_lit0 && op <= DW_OP_lit31)
		return push(e, symbolic_constant(op - DW_OP_lit0));
	switch (op) {
	case DW_OP_bregx:
		base = register_value(e->place, bytes_uleb(bytes));
		return push(e, symbolic_plus(base, bytes_sleb(bytes)));
	case DW_OP_const1u:
		return push(e, symbolic_constant(bytes_u8(bytes)));
	case DW_OP_const1s:
		return push(e, symbolic_constant((int8_t)bytes_u8(bytes)));
	case DW_OP_const2u:
		return push(e, symbolic_constant(bytes_u16(bytes)));
	case DW_OP_const2s:
		return push(e, symbolic_constant((int16_t)bytes_u16(bytes)));
	case DW_OP_const4u:
		return push(e, symbolic_constant(bytes_u32(bytes)));
	case DW_OP_const4s:
		return push(e, symbolic_constant((int32_t)bytes_u32(bytes)));
	case DW_OP_constu:
		return push(e, symbolic_constant((int64_t)bytes_uleb(bytes)));
	case DW_OP_consts:
		return push(e, symbolic_constant(bytes_sleb(bytes)));
	case DW_OP_nop:
		return true;
	default:
		return operate(e, op, bytes);
	}
}

/* first: the initial stack element; NULL: none. */
static bool evaluate(const struct callframe_place *place, uint64_t where,
		     const struct symbolic_value *first,
		     struct symbolic_value *value)
{
	struct evaluation e = { .place = place };
	struct bytes bytes;

	if (place->entry->source == CALLFRAME_EXIDX)
		return false;
	if (first != NULL)
		push(&e, *first);
	bytes = bytes_from(callframe_expression(place->table, place->entry,
						where), 0);
	while (!bytes.bad && bytes_left(&bytes) > 0)
		if (!evaluate_one(&e, bytes_u8(&bytes), &bytes))
			return false;
	if (bytes.bad || e.depth == 0)
		return false;
	*value = e.stack[e.depth - 1];
	return true;
}

int callframe_column(const struct machine *machine,
		     const struct callframe_row *row, unsigned reg)
{
	int column = machine_column(machine, reg);

	if (reg >= SYMBOLIC_FLOATS && machine->half_column != 0 &&
	    row->how[column] == CALLFRAME_UNSPECIFIED) {
		int half = (int)(machine->half_column +
				 2 * (reg - SYMBOLIC_FLOATS));

		if (row->how[half] == CALLFRAME_OFFSET)
			return half;
	}
	return column;
}

bool callframe_cfa(const struct callframe_place *place,
		   struct symbolic_value *value)
{
	const struct callframe_row *row = place->row;

	*value = symbolic_unknown();
	if (row->cfa_how == CALLFRAME_EXPRESSION)
		return evaluate(place, row->cfa_expression, NULL, value);
	if (row->cfa_how != CALLFRAME_OFFSET)
		return false;
	*value = symbolic_plus(register_value(place, row->cfa_reg),
			       row->cfa_offset);
	return true;
}

bool callframe_caller(const struct callframe_place *place, unsigned column,
		      struct symbolic_value *value)
{
	const struct callframe_row *row = place->row;
	struct symbolic_value cfa = symbolic_cfa(0), address;
	int64_t number = row->value[column];

	*value = symbolic_unknown();
	switch (row->how[column]) {
	case CALLFRAME_OFFSET:
		*value = symbolic_load(place->state, symbolic_cfa(number));
		return true;
	case CALLFRAME_VAL_OFFSET:
		*value = symbolic_cfa(number);
		return true;
	case CALLFRAME_REGISTER:
		*value = register_value(place, (uint64_t)number);
		return true;
	case CALLFRAME_EXPRESSION:
		if (!evaluate(place, (uint64_t)number, &cfa, &address))
			return false;
		*value = symbolic_load(place->state, address);
		return true;
	case CALLFRAME_VAL_EXPRESSION:
		return evaluate(place, (uint64_t)number, &cfa, value);
	default:
		*value = register_value(place, column);
		return true;
	}
}
