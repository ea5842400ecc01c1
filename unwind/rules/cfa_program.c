/*
 * cfa_program.c: the interpreter of call frame instructions (DW_CFA_*).
 *
 * An instruction is an opcode with at most two operands. A table gives the
 * operands' encodings and the action, so that only actions need code. The
 * machine's state is a row and a location; an instruction that advances the
 * location emits the row for the range before it.
 *
 * Called by any thread, also in signal handlers: it writes to its own stack
 * only.
 *
 * I1  The location never decreases and never passes fde->end.
 * I2  Every instruction consumes a byte of a program of at most PROGRAM_MAX
 *     bytes, which bounds the work.
 * I3  A row's register numbers are below ARCH_REG_COUNT for the CFA; operands
 *     of CFA_REGISTER may be any number, which their users check.
 * I4  An expression in a row lies inside the program it came from.
 */
#include "unwind/base/assertion.h"
#include "unwind/rules/cfa_program.h"

enum {
	/* Nesting of remember_state. Compilers nest once; hand-written code up
	 * to twice. A state takes some 170 bytes of stack. */
	STATES_MAX = 8,
	/* Bytes of one program; the longest known are some 100 KB. */
	PROGRAM_MAX = 1 << 20
};

enum operand { NONE, U8, U16, U32, U64, ADDRESS, ULEB, ULEB_DATA, ULEB_MINUS,
	       SLEB_DATA, BLOCK };

enum action {
	BAD,		/* not an instruction */
	IGNORE,
	ADVANCE,	/* by the first operand */
	SET_LOCATION,
	RULE,		/* for register one: `how` with two as its value */
	RESTORE,
	REMEMBER,
	RECALL,
	CFA,		/* register one, offset two */
	CFA_SET_REGISTER,
	CFA_SET_OFFSET,
	CFA_SET_EXPRESSION,
	TOGGLE_SIGNS
};

struct instruction {
	uint8_t first, second;	/* enum operand */
	uint8_t action;
	uint8_t how;
};

/* By opcode (DWARF 5, 7.24; GNU and MIPS extensions from binutils' dwarf2.def).
 * The three primary opcodes, which contain their first operand, follow
 * below. */
static const struct instruction instructions[0x40] = {
	[0x00] = { NONE, NONE, IGNORE, 0 },		/* nop */
	[0x01] = { ADDRESS, NONE, SET_LOCATION, 0 },	/* set_loc */
	[0x02] = { U8, NONE, ADVANCE, 0 },		/* advance_loc1 */
	[0x03] = { U16, NONE, ADVANCE, 0 },
	[0x04] = { U32, NONE, ADVANCE, 0 },
	[0x05] = { ULEB, ULEB_DATA, RULE, CFA_OFFSET },	/* offset_extended */
	[0x06] = { ULEB, NONE, RESTORE, 0 },
	[0x07] = { ULEB, NONE, RULE, CFA_UNDEFINED },
	[0x08] = { ULEB, NONE, RULE, CFA_SAME },
	[0x09] = { ULEB, ULEB, RULE, CFA_REGISTER },
	[0x0a] = { NONE, NONE, REMEMBER, 0 },
	[0x0b] = { NONE, NONE, RECALL, 0 },
	[0x0c] = { ULEB, ULEB, CFA, 0 },		/* def_cfa */
	[0x0d] = { ULEB, NONE, CFA_SET_REGISTER, 0 },
	[0x0e] = { NONE, ULEB, CFA_SET_OFFSET, 0 },
	[0x0f] = { NONE, BLOCK, CFA_SET_EXPRESSION, 0 },
	[0x10] = { ULEB, BLOCK, RULE, CFA_EXPRESSION },
	[0x11] = { ULEB, SLEB_DATA, RULE, CFA_OFFSET },
	[0x12] = { ULEB, SLEB_DATA, CFA, 0 },		/* def_cfa_sf */
	[0x13] = { NONE, SLEB_DATA, CFA_SET_OFFSET, 0 },
	[0x14] = { ULEB, ULEB_DATA, RULE, CFA_VAL_OFFSET },
	[0x15] = { ULEB, SLEB_DATA, RULE, CFA_VAL_OFFSET },
	[0x16] = { ULEB, BLOCK, RULE, CFA_VAL_EXPRESSION },
	[0x1d] = { U64, NONE, ADVANCE, 0 },	/* MIPS_advance_loc8 */
#ifdef ARCH_CFA_NEGATE_RA_STATE
	[ARCH_CFA_NEGATE_RA_STATE] = { NONE, NONE, TOGGLE_SIGNS, 0 },
#endif
	[0x2e] = { ULEB, NONE, IGNORE, 0 },	/* GNU_args_size */
	[0x2f] = { ULEB, ULEB_MINUS, RULE, CFA_OFFSET },
};

static const struct instruction primary[4] = {
	[1] = { NONE, NONE, ADVANCE, 0 },
	[2] = { NONE, ULEB_DATA, RULE, CFA_OFFSET },
	[3] = { NONE, NONE, RESTORE, 0 },
};

enum outcome { GO_ON, STOP, NONSENSE };

struct machine {
	const struct cfi_fde *fde;
	struct cfi_cursor c;
	uintptr_t location;
	bool (*emit)(void *ctx, const struct cfa_row *row, uintptr_t start,
		     uintptr_t end);
	void *ctx;
	bool in_cie;		/* executing the CIE's program: no locations */
	unsigned int remembered;
	struct cfa_row row, initial;
	struct cfa_row states[STATES_MAX];
};

static int64_t factored(struct cfi_cursor *c, int64_t value, int64_t factor)
{
	if (__builtin_mul_overflow(value, factor, &value))
		cfi_fail(c);
	return value;
}

static int64_t read_operand(struct machine *m, uint8_t kind)
{
	const struct cfi_cie *cie = &m->fde->cie;
	struct cfi_cursor *c = &m->c;
	int64_t value;

	switch (kind) {
	case U8:
		return cfi_u8(c);
	case U16:
		return cfi_u16(c);
	case U32:
		return cfi_u32(c);
	case U64:
		return (int64_t)cfi_u64(c);
	case ULEB:
		return (int64_t)cfi_uleb(c);
	case ULEB_DATA:
		return factored(c, (int64_t)cfi_uleb(c), cie->data_align);
	case ULEB_MINUS:
		value = factored(c, (int64_t)cfi_uleb(c), cie->data_align);
		return factored(c, value, -1);
	case SLEB_DATA:
		return factored(c, cfi_sleb(c), cie->data_align);
	case BLOCK:
		value = (int64_t)(uintptr_t)c->at;
		cfi_bytes(c, cfi_uleb(c));
		return value;
	case ADDRESS:
		return (int64_t)cfi_pointer(c, cie->pointer_encoding,
					    &m->fde->bases);
	default:
		return 0;
	}
}

static enum outcome move_to(struct machine *m, uintptr_t location)
{
	uintptr_t end = m->fde->end;

	DEBUG_ASSERT(m->location <= end);	/* I1 */
	if (m->in_cie || location < m->location)
		return NONSENSE;
	if (location > end)
		location = end;
	if (location == m->location)
		return GO_ON;
	if (m->emit(m->ctx, &m->row, m->location, location))
		return STOP;
	m->location = location;
	return location == end ? STOP : GO_ON;
}

static enum outcome advance(struct machine *m, uint64_t delta)
{
	uint64_t bytes;

	DEBUG_ASSERT(m->location <= m->fde->end);
	if (__builtin_mul_overflow(delta, m->fde->cie.code_align, &bytes) ||
	    bytes > m->fde->end - m->location)
		bytes = m->fde->end - m->location;
	return move_to(m, m->location + bytes);
}

/* Columns beyond ARCH_REG_COUNT are vector registers and the like: ignored. */
static enum outcome set_rule(struct machine *m, uint64_t reg, uint8_t how,
			     int64_t value)
{
	DEBUG_ASSERT(how <= CFA_VAL_EXPRESSION);
	if (reg < ARCH_REG_COUNT) {
		m->row.how[reg] = how;
		m->row.value[reg] = value;
	}
	return GO_ON;
}

static enum outcome restore_rule(struct machine *m, uint64_t reg)
{
	if (m->in_cie)
		return NONSENSE;
	if (reg >= ARCH_REG_COUNT)
		return GO_ON;
	return set_rule(m, reg, m->initial.how[reg], m->initial.value[reg]);
}

static enum outcome set_cfa(struct machine *m, uint64_t reg, int64_t value)
{
	if (reg >= ARCH_REG_COUNT)
		return NONSENSE;
	m->row.cfa_how = CFA_OFFSET;
	m->row.cfa_reg = (uint8_t)reg;
	m->row.cfa_offset = value;
	return GO_ON;
}

/*
 * An expression replaces register and offset but does not discard them:
 * assemblers keep the offset, and hand-written code returns to it by naming a
 * register alone. An offset alone changes nothing else. A register alone
 * without an earlier rule gets the offset 0: MIPS CIEs begin so.
 */
static enum outcome set_cfa_part(struct machine *m, uint8_t action,
				 int64_t first, int64_t second)
{
	if (action == CFA_SET_EXPRESSION) {
		m->row.cfa_how = CFA_EXPRESSION;
		m->row.cfa_expression = second;
		return GO_ON;
	}
	if (action == CFA_SET_REGISTER)
		return set_cfa(m, (uint64_t)first, m->row.cfa_offset);
	if (m->row.cfa_how == CFA_UNSPECIFIED)
		return NONSENSE;
	m->row.cfa_offset = second;
	return GO_ON;
}

static enum outcome act(struct machine *m, const struct instruction *in,
			int64_t first, int64_t second)
{
	DEBUG_ASSERT(m->remembered <= STATES_MAX);
	switch (in->action) {
	case IGNORE:
		return GO_ON;
	case ADVANCE:
		return advance(m, (uint64_t)first);
	case SET_LOCATION:
		return move_to(m, (uintptr_t)first);
	case RULE:
		return set_rule(m, (uint64_t)first, in->how, second);
	case RESTORE:
		return restore_rule(m, (uint64_t)first);
	case REMEMBER:
		if (m->remembered == STATES_MAX)
			return NONSENSE;
		m->states[m->remembered++] = m->row;
		return GO_ON;
	case RECALL:
		if (m->remembered == 0)
			return NONSENSE;
		m->row = m->states[--m->remembered];
		return GO_ON;
	case CFA:
		return set_cfa(m, (uint64_t)first, second);
	case CFA_SET_REGISTER:
	case CFA_SET_OFFSET:
	case CFA_SET_EXPRESSION:
		return set_cfa_part(m, in->action, first, second);
	case TOGGLE_SIGNS:
		m->row.signs = !m->row.signs;
		return GO_ON;
	default:
		return NONSENSE;
	}
}

static enum outcome run(struct machine *m, uintptr_t start, uintptr_t end)
{
	enum outcome outcome;

	if (end - start > PROGRAM_MAX)
		return NONSENSE;
	m->c = cfi_cursor_make(start, end);
	while (m->c.at < m->c.end) {
		uint8_t opcode = *m->c.at++;
		const struct instruction *in = &primary[opcode >> 6];
		int64_t first = opcode & 0x3f, second;

		if (opcode < 0x40) {
			in = &instructions[opcode];
			first = read_operand(m, in->first);
		}
		second = read_operand(m, in->second);
		DEBUG_ASSERT(m->c.at <= m->c.end);
		if (m->c.failed)
			return NONSENSE;
		outcome = act(m, in, first, second);
		if (outcome != GO_ON)
			return outcome;
	}
	return GO_ON;
}

void cfa_program_run(const struct cfi_fde *fde,
		     bool (*emit)(void *ctx, const struct cfa_row *row,
				  uintptr_t start, uintptr_t end),
		     void *ctx)
{
	const struct cfi_cie *cie = &fde->cie;
	enum outcome outcome;
	struct machine m;	/* not zeroed: clearing the states costs time */

	DEBUG_ASSERT(fde->start <= fde->end);
	m.fde = fde;
	m.location = fde->start;
	m.emit = emit;
	m.ctx = ctx;
	m.remembered = 0;
	m.row = (struct cfa_row){ 0 };
	m.in_cie = true;
	outcome = run(&m, cie->program, cie->program_end);
	if (outcome == GO_ON) {
		m.in_cie = false;
		m.initial = m.row;
		outcome = run(&m, fde->program, fde->program_end);
	}
	if (outcome == STOP || m.location >= fde->end)
		return;
	DEBUG_ASSERT(m.location >= fde->start);	/* I1 */
	DEBUG_ASSERT(m.row.cfa_reg < ARCH_REG_COUNT);	/* I3 */
	emit(ctx, outcome == GO_ON ? &m.row : NULL, m.location, fde->end);
}

const uint8_t *cfa_program_expression(int64_t value, size_t *size_bytes)
{
	/* The block has been read once (I4), so it needs no bound. */
	struct cfi_cursor c = cfi_cursor_make((uintptr_t)value, UINTPTR_MAX);

	*size_bytes = cfi_uleb(&c);
	DEBUG_ASSERT(!c.failed);	/* I4 */
	return c.at;
}
