/*
 * expr.c: the stack machine that evaluates DWARF expressions.
 *
 * Compilers emit a handful of forms in unwind tables (PLT entries, signal
 * frames, realigned stacks), which rule_class.c recognises; this file evaluates
 * all others, and serves rules_step_full. Operations on types, pieces, threads,
 * the frame base or the CFA (not known yet) make no sense in unwind tables and
 * are refused.
 *
 * Called by any thread, also in signal handlers.
 *
 * I1  depth <= EXPR_STACK_MAX; no operation reads below the bottom.
 * I2  At most EXPR_STEPS_MAX operations run, wherever branches lead.
 * I3  Code is read through a cursor; a branch outside the code ends the
 *     evaluation.
 */
#include <errno.h>

#include "unwind/base/assertion.h"
#include "unwind/rules/cfi_cursor.h"
#include "unwind/rules/expr.h"

/* DW_OP_* (DWARF 5, 7.7.1). */
enum {
	OP_ADDR = 0x03,
	OP_DEREF = 0x06,
	OP_CONST1U = 0x08,
	OP_CONST1S = 0x09,
	OP_CONST2U = 0x0a,
	OP_CONST2S = 0x0b,
	OP_CONST4U = 0x0c,
	OP_CONST4S = 0x0d,
	OP_CONST8U = 0x0e,
	OP_CONST8S = 0x0f,
	OP_CONSTU = 0x10,
	OP_CONSTS = 0x11,
	OP_DUP = 0x12,
	OP_DROP = 0x13,
	OP_OVER = 0x14,
	OP_PICK = 0x15,
	OP_SWAP = 0x16,
	OP_ROT = 0x17,
	OP_ABS = 0x19,
	OP_AND = 0x1a,
	OP_DIV = 0x1b,
	OP_MINUS = 0x1c,
	OP_MOD = 0x1d,
	OP_MUL = 0x1e,
	OP_NEG = 0x1f,
	OP_NOT = 0x20,
	OP_OR = 0x21,
	OP_PLUS = 0x22,
	OP_PLUS_UCONST = 0x23,
	OP_SHL = 0x24,
	OP_SHR = 0x25,
	OP_SHRA = 0x26,
	OP_XOR = 0x27,
	OP_BRA = 0x28,
	OP_EQ = 0x29,
	OP_GE = 0x2a,
	OP_GT = 0x2b,
	OP_LE = 0x2c,
	OP_LT = 0x2d,
	OP_NE = 0x2e,
	OP_SKIP = 0x2f,
	OP_LIT0 = 0x30,
	OP_REG0 = 0x50,
	OP_BREG0 = 0x70,
	OP_BREG31 = 0x8f,
	OP_REGX = 0x90,
	OP_BREGX = 0x92,
	OP_DEREF_SIZE = 0x94,
	OP_NOP = 0x96
};

#define WORD_BITS (8 * ARCH_WORD)

/* Values are processor words: DWARF's generic type. */
struct machine {
	struct cfi_cursor c;
	const uint8_t *code;
	const struct expr_context *context;
	unsigned int depth;
	int error;
	uintptr_t stack[EXPR_STACK_MAX];
};

static void fail(struct machine *m, int error)
{
	if (m->error == 0)
		m->error = error;
}

static void push(struct machine *m, uintptr_t value)
{
	if (m->depth == EXPR_STACK_MAX)
		fail(m, -EINVAL);
	else
		m->stack[m->depth++] = value;
}

static uintptr_t pop(struct machine *m)
{
	if (m->depth == 0) {
		fail(m, -EINVAL);
		return 0;
	}
	return m->stack[--m->depth];
}

/* The value n below the top. */
static uintptr_t peek(struct machine *m, unsigned int n)
{
	if (n >= m->depth) {
		fail(m, -EINVAL);
		return 0;
	}
	return m->stack[m->depth - 1 - n];
}

static uintptr_t reg_value(struct machine *m, uint64_t reg)
{
	if (reg >= ARCH_REG_COUNT) {
		fail(m, -EINVAL);
		return 0;
	}
	return (uintptr_t)m->context->regs->r[reg];
}

/* Reads an aligned word if the value lies inside one: a value at the end of a
 * page must not need the next page. */
static void dereference(struct machine *m, unsigned int size)
{
	uintptr_t address = pop(m);
	uintptr_t within = address & (ARCH_WORD - 1);
	const uint8_t *bytes;
	uint64_t word = 0;
	uint32_t value4;
	uint16_t value2;

	if (within + size > ARCH_WORD)
		within = 0;
	if (size > ARCH_WORD)
		fail(m, -EINVAL);
	if (m->error)
		return;
	if (!m->context->read(m->context->ctx, address - within, &word)) {
		fail(m, -EFAULT);
		return;
	}
	bytes = (const uint8_t *)&word + within;
	switch (size) {
	case 1:
		push(m, *bytes);
		break;
	case 2:
		__builtin_memcpy(&value2, bytes, 2);
		push(m, value2);
		break;
	case 4:
		__builtin_memcpy(&value4, bytes, 4);
		push(m, value4);
		break;
	case 8:
		push(m, (uintptr_t)word);
		break;
	default:
		fail(m, -EINVAL);
	}
}

static void branch(struct machine *m, bool taken)
{
	int16_t distance = (int16_t)cfi_u16(&m->c);

	if (!taken || m->c.failed)
		return;
	if (distance < m->code - m->c.at || distance > m->c.end - m->c.at)
		fail(m, -EINVAL);
	else
		m->c.at += distance;
	DEBUG_ASSERT(m->c.at >= m->code && m->c.at <= m->c.end);	/* I3 */
}

/* False: not a constant. */
static bool constant(struct machine *m, uint8_t op)
{
	struct cfi_cursor *c = &m->c;

	switch (op) {
	case OP_ADDR:
		push(m, ARCH_WORD == 8 ? (uintptr_t)cfi_u64(c) : cfi_u32(c));
		return true;
	case OP_CONST8U:
	case OP_CONST8S:
		push(m, (uintptr_t)cfi_u64(c));
		return true;
	case OP_CONST1U:
		push(m, cfi_u8(c));
		return true;
	case OP_CONST1S:
		push(m, (uintptr_t)(intptr_t)(int8_t)cfi_u8(c));
		return true;
	case OP_CONST2U:
		push(m, cfi_u16(c));
		return true;
	case OP_CONST2S:
		push(m, (uintptr_t)(intptr_t)(int16_t)cfi_u16(c));
		return true;
	case OP_CONST4U:
		push(m, cfi_u32(c));
		return true;
	case OP_CONST4S:
		push(m, (uintptr_t)(intptr_t)(int32_t)cfi_u32(c));
		return true;
	case OP_CONSTU:
		push(m, (uintptr_t)cfi_uleb(c));
		return true;
	case OP_CONSTS:
		push(m, (uintptr_t)cfi_sleb(c));
		return true;
	default:
		return false;
	}
}

static void rotate(struct machine *m)
{
	uintptr_t top = pop(m), second = pop(m), third = pop(m);

	push(m, top);
	push(m, third);
	push(m, second);
}

/* False: op is not one that rearranges the stack or changes only its top. */
static bool unary(struct machine *m, uint8_t op)
{
	uintptr_t a;

	switch (op) {
	case OP_DUP:
		push(m, peek(m, 0));
		return true;
	case OP_DROP:
		pop(m);
		return true;
	case OP_OVER:
		push(m, peek(m, 1));
		return true;
	case OP_PICK:
		push(m, peek(m, cfi_u8(&m->c)));
		return true;
	case OP_ROT:
		rotate(m);
		return true;
	case OP_ABS:
		a = pop(m);
		push(m, (intptr_t)a < 0 ? -a : a);
		return true;
	case OP_NEG:
		push(m, -pop(m));
		return true;
	case OP_NOT:
		push(m, ~pop(m));
		return true;
	case OP_PLUS_UCONST:
		push(m, pop(m) + (uintptr_t)cfi_uleb(&m->c));
		return true;
	default:
		return false;
	}
}

static uintptr_t divide(struct machine *m, uintptr_t a, uintptr_t b)
{
	if (b == 0) {
		fail(m, -EINVAL);
		return 0;
	}
	/* The one quotient that does not fit wraps instead of trapping. */
	return b == UINTPTR_MAX ? -a :
				  (uintptr_t)((intptr_t)a / (intptr_t)b);
}

static uintptr_t modulo(struct machine *m, uintptr_t a, uintptr_t b)
{
	if (b == 0) {
		fail(m, -EINVAL);
		return 0;
	}
	return a % b;
}

static uintptr_t shift_arithmetic(uintptr_t a, uintptr_t count)
{
	return (uintptr_t)((intptr_t)a >>
			   (count < WORD_BITS ? count : WORD_BITS - 1));
}

/* a op b, where b was on top. False: no operation on two values. */
static bool binary(struct machine *m, uint8_t op, uintptr_t a, uintptr_t b)
{
	intptr_t sa = (intptr_t)a, sb = (intptr_t)b;

	switch (op) {
	case OP_SWAP:
		push(m, b);
		push(m, a);
		return true;
	case OP_AND:
		push(m, a & b);
		return true;
	case OP_DIV:
		push(m, divide(m, a, b));
		return true;
	case OP_MINUS:
		push(m, a - b);
		return true;
	case OP_MOD:
		push(m, modulo(m, a, b));
		return true;
	case OP_MUL:
		push(m, a * b);
		return true;
	case OP_OR:
		push(m, a | b);
		return true;
	case OP_PLUS:
		push(m, a + b);
		return true;
	case OP_SHL:
		push(m, b < WORD_BITS ? a << b : 0);
		return true;
	case OP_SHR:
		push(m, b < WORD_BITS ? a >> b : 0);
		return true;
	case OP_SHRA:
		push(m, shift_arithmetic(a, b));
		return true;
	case OP_XOR:
		push(m, a ^ b);
		return true;
	case OP_EQ:
		push(m, a == b);
		return true;
	case OP_GE:
		push(m, sa >= sb);
		return true;
	case OP_GT:
		push(m, sa > sb);
		return true;
	case OP_LE:
		push(m, sa <= sb);
		return true;
	case OP_LT:
		push(m, sa < sb);
		return true;
	case OP_NE:
		push(m, a != b);
		return true;
	default:
		return false;
	}
}

/* Registers, memory and control flow; all other operations take two values from
 * the stack. */
static void other(struct machine *m, uint8_t op)
{
	uintptr_t b;
	uint64_t reg;

	switch (op) {
	case OP_REGX:	/* the register's value, as in other unwinders */
		push(m, reg_value(m, cfi_uleb(&m->c)));
		return;
	case OP_BREGX:
		reg = cfi_uleb(&m->c);
		push(m, reg_value(m, reg) + (uintptr_t)cfi_sleb(&m->c));
		return;
	case OP_DEREF:
		dereference(m, ARCH_WORD);
		return;
	case OP_DEREF_SIZE:
		dereference(m, cfi_u8(&m->c));
		return;
	case OP_BRA:
		branch(m, pop(m) != 0);
		return;
	case OP_SKIP:
		branch(m, true);
		return;
	case OP_NOP:
		return;
	default:
		b = pop(m);
		if (!binary(m, op, pop(m), b))
			fail(m, -EINVAL);
	}
}

static void operate(struct machine *m, uint8_t op)
{
	DEBUG_ASSERT(m->depth <= EXPR_STACK_MAX && !m->error);	/* I1 */
	if (op >= OP_BREG0 && op <= OP_BREG31) {
		uintptr_t value = reg_value(m, op - OP_BREG0);

		push(m, value + (uintptr_t)cfi_sleb(&m->c));
	} else if (op >= OP_REG0 && op < OP_BREG0) {
		push(m, reg_value(m, op - OP_REG0));
	} else if (op >= OP_LIT0 && op < OP_REG0) {
		push(m, op - OP_LIT0);
	} else if (!constant(m, op) && !unary(m, op)) {
		other(m, op);
	}
}

int expr_evaluate(const uint8_t *code, size_t size,
		  const struct expr_context *context, const uint64_t *initial,
		  uint64_t *result)
{
	unsigned int steps;
	struct machine m;	/* not zeroed: clearing the stack costs time */

	m.c = (struct cfi_cursor){ .at = code, .end = code + size };
	m.code = code;
	m.context = context;
	m.depth = 0;
	m.error = 0;
	if (initial)
		push(&m, (uintptr_t)*initial);
	for (steps = 0; m.c.at < m.c.end; steps++) {
		if (steps == EXPR_STEPS_MAX)
			return -EINVAL;
		operate(&m, cfi_u8(&m.c));
		if (m.error)
			return m.error;
	}
	if (m.c.failed || m.depth == 0)
		return -EINVAL;
	DEBUG_ASSERT(m.c.at == m.c.end && m.depth <= EXPR_STACK_MAX);
	*result = m.stack[m.depth - 1];
	return 0;
}

/* Reads "register + offset" and advances the cursor past it. */
static bool read_register(struct cfi_cursor *c, unsigned int reg,
			  int64_t *offset)
{
	uint8_t op = cfi_u8(c);

	if (op == OP_BREGX) {
		if (cfi_uleb(c) != reg)
			return false;
	} else if (reg > OP_BREG31 - OP_BREG0 || op != OP_BREG0 + reg) {
		return false;
	}
	*offset = cfi_sleb(c);
	return !c->failed;
}

bool expr_is_register(const uint8_t *code, size_t size, unsigned int reg,
		      int64_t *offset)
{
	struct cfi_cursor c = { .at = code, .end = code + size };

	return read_register(&c, reg, offset) && c.at == c.end;
}

bool expr_is_deref(const uint8_t *code, size_t size, unsigned int reg,
		   int64_t *offset)
{
	struct cfi_cursor c = { .at = code, .end = code + size };

	return read_register(&c, reg, offset) && cfi_left(&c) == 1 &&
	       cfi_u8(&c) == OP_DEREF;
}
