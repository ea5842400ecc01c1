/*
 * callframe_program.c: executes the instructions of an entry, which make its
 * rows (DWARF 5, 6.4.2; GNU's and MIPS' own instructions from binutils'
 * dwarf2.def).
 *
 *  I1  The location never decreases and never passes the entry's end.
 *  I2  Every instruction takes a byte of a program, so the work is bounded.
 */
#include "cli/symbol/cfi/callframe.h"

#include <dwarf.h>
#include <stdlib.h>

#include "cli/base/grow.h"
#include "cli/symbol/cfi/callframe_exidx.h"
#include "unwind/base/assertion.h"

#define STATES_MAX 16		/* nested remember_state */
#define MIPS_ADVANCE_LOC8 0x1d	/* DW_CFA_MIPS_advance_loc8 */
#define NEGATE_RA_STATE 0x2d	/* DW_CFA_AARCH64_negate_ra_state */
#define GNU_ARGS_SIZE 0x2e
#define GNU_NEGATIVE_OFFSET 0x2f

struct program {
	const struct callframe *table;
	const struct callframe_entry *entry;
	const struct callframe_common *common;
	struct bytes bytes;
	bool (*each)(void *owner, const struct callframe_row *row);
	void *owner;
	bool stopped;		/* by `each`, or at the end */
	bool in_common;
	unsigned remembered;
	struct callframe_row row, initial;
	struct callframe_row states[STATES_MAX];
};

static bool move_to(struct program *p, uint64_t location)
{
	if (p->in_common || location < p->row.start)
		return false;
	if (location > p->entry->end)
		location = p->entry->end;
	if (location == p->row.start)
		return true;
	p->row.end = location;
	p->stopped = !p->each(p->owner, &p->row);
	p->row.start = location;
	if (location == p->entry->end)
		p->stopped = true;
	DEBUG_ASSERT(p->row.start <= p->entry->end);	/* I1 */
	return true;
}

static bool advance(struct program *p, uint64_t delta)
{
	uint64_t left = p->entry->end - p->row.start;

	if (__builtin_mul_overflow(delta, p->common->code_align, &delta) ||
	    delta > left)
		delta = left;
	return p->in_common ? false : move_to(p, p->row.start + delta);
}

static bool set(struct program *p, uint64_t column, uint8_t how, int64_t value)
{
	if (column < CALLFRAME_COLUMNS) {
		p->row.how[column] = how;
		p->row.value[column] = value;
	}
	return true;
}

static bool set_offset(struct program *p, uint64_t column, uint8_t how,
		       int64_t value)
{
	return !__builtin_mul_overflow(value, p->common->data_align, &value) &&
		set(p, column, how, value);
}

/* Skips the block at the cursor; returns its offset. */
static uint64_t block(struct program *p)
{
	uint64_t at = (uint64_t)(p->bytes.at -
				 p->table->section[p->entry->source].data);

	bytes_skip(&p->bytes, bytes_uleb(&p->bytes));
	return at;
}

static bool restore(struct program *p, uint64_t column)
{
	if (p->in_common)
		return false;
	return column >= CALLFRAME_COLUMNS ||
		set(p, column, p->initial.how[column],
		    p->initial.value[column]);
}

static bool set_cfa(struct program *p, uint64_t column, int64_t offset)
{
	if (column >= CALLFRAME_COLUMNS)
		return false;
	p->row.cfa_how = CALLFRAME_OFFSET;
	p->row.cfa_reg = (uint16_t)column;
	p->row.cfa_offset = offset;
	return true;
}

/* Rules for the CFA. An expression keeps register and offset for later
 * rules. */
static bool run_cfa(struct program *p, uint8_t opcode)
{
	uint64_t column;
	int64_t offset;

	switch (opcode) {
	case DW_CFA_def_cfa:
		column = bytes_uleb(&p->bytes);
		return set_cfa(p, column, (int64_t)bytes_uleb(&p->bytes));
	case DW_CFA_def_cfa_sf:
		column = bytes_uleb(&p->bytes);
		offset = bytes_sleb(&p->bytes);
		return !__builtin_mul_overflow(offset, p->common->data_align,
					       &offset) &&
			set_cfa(p, column, offset);
	case DW_CFA_def_cfa_register:
		return set_cfa(p, bytes_uleb(&p->bytes), p->row.cfa_offset);
	case DW_CFA_def_cfa_offset:
		p->row.cfa_offset = (int64_t)bytes_uleb(&p->bytes);
		return p->row.cfa_how != CALLFRAME_UNSPECIFIED;
	case DW_CFA_def_cfa_offset_sf:
		return !__builtin_mul_overflow(bytes_sleb(&p->bytes),
					       p->common->data_align,
					       &p->row.cfa_offset) &&
			p->row.cfa_how != CALLFRAME_UNSPECIFIED;
	default:
		DEBUG_ASSERT(opcode == DW_CFA_def_cfa_expression);
		p->row.cfa_how = CALLFRAME_EXPRESSION;
		p->row.cfa_expression = block(p);
		return true;
	}
}

/* Rules for one register. */
static bool run_register(struct program *p, uint8_t opcode)
{
	uint64_t column = bytes_uleb(&p->bytes);

	switch (opcode) {
	case DW_CFA_undefined:
		return set(p, column, CALLFRAME_UNDEFINED, 0);
	case DW_CFA_same_value:
		return set(p, column, CALLFRAME_SAME, 0);
	case DW_CFA_register:
		return set(p, column, CALLFRAME_REGISTER,
			   (int64_t)bytes_uleb(&p->bytes));
	case DW_CFA_offset_extended:
		return set_offset(p, column, CALLFRAME_OFFSET,
				  (int64_t)bytes_uleb(&p->bytes));
	case DW_CFA_offset_extended_sf:
		return set_offset(p, column, CALLFRAME_OFFSET,
				  bytes_sleb(&p->bytes));
	case DW_CFA_val_offset:
		return set_offset(p, column, CALLFRAME_VAL_OFFSET,
				  (int64_t)bytes_uleb(&p->bytes));
	case DW_CFA_val_offset_sf:
		return set_offset(p, column, CALLFRAME_VAL_OFFSET,
				  bytes_sleb(&p->bytes));
	case GNU_NEGATIVE_OFFSET:
		return set_offset(p, column, CALLFRAME_OFFSET,
				  (int64_t)(0 - bytes_uleb(&p->bytes)));
	case DW_CFA_expression:
		return set(p, column, CALLFRAME_EXPRESSION,
			   (int64_t)block(p));
	case DW_CFA_val_expression:
		return set(p, column, CALLFRAME_VAL_EXPRESSION,
			   (int64_t)block(p));
	default:
		return opcode == DW_CFA_restore_extended && restore(p, column);
	}
}

static bool recall(struct program *p)
{
	uint64_t start = p->row.start;

	if (p->remembered == 0)
		return false;
	p->row = p->states[--p->remembered];
	p->row.start = start;
	return true;
}

static bool set_location(struct program *p)
{
	unsigned source = p->entry->source;
	uint64_t at = p->table->address[source] +
		(uint64_t)(p->bytes.at - p->table->section[source].data);

	return move_to(p, callframe_pointer(p->table, &p->bytes, at,
					    p->common->encoding));
}

static bool run_extended(struct program *p, uint8_t opcode)
{
	switch (opcode) {
	case DW_CFA_nop:
		return true;
	case DW_CFA_set_loc:
		return set_location(p);
	case DW_CFA_advance_loc1:
		return advance(p, bytes_u8(&p->bytes));
	case DW_CFA_advance_loc2:
		return advance(p, bytes_u16(&p->bytes));
	case DW_CFA_advance_loc4:
		return advance(p, bytes_u32(&p->bytes));
	case MIPS_ADVANCE_LOC8:
		return advance(p, bytes_u64(&p->bytes));
	case DW_CFA_remember_state:
		if (p->remembered == STATES_MAX)
			return false;
		p->states[p->remembered++] = p->row;
		return true;
	case DW_CFA_restore_state:
		return recall(p);
	case DW_CFA_def_cfa: case DW_CFA_def_cfa_sf:
	case DW_CFA_def_cfa_register: case DW_CFA_def_cfa_offset:
	case DW_CFA_def_cfa_offset_sf: case DW_CFA_def_cfa_expression:
		return run_cfa(p, opcode);
	case NEGATE_RA_STATE:
		/* on SPARC this number is another instruction */
		p->row.signs = !p->row.signs;
		return p->table->machine == EM_AARCH64;
	case GNU_ARGS_SIZE:
		bytes_uleb(&p->bytes);
		return true;
	default:
		return run_register(p, opcode);
	}
}

static bool run(struct program *p, uint64_t start, uint64_t end)
{
	DEBUG_ASSERT(start <= end);
	p->bytes = bytes_from(p->table->section[p->entry->source], start);
	if (end - start > bytes_left(&p->bytes))
		return false;
	p->bytes.end = p->bytes.at + (end - start);
	while (p->bytes.at < p->bytes.end && !p->stopped) {
		uint8_t opcode = bytes_u8(&p->bytes);
		uint8_t low = opcode & 0x3f;
		bool good;

		switch (opcode & 0xc0) {
		case DW_CFA_advance_loc:
			good = advance(p, low);
			break;
		case DW_CFA_offset:
			good = set_offset(p, low, CALLFRAME_OFFSET,
					  (int64_t)bytes_uleb(&p->bytes));
			break;
		case DW_CFA_restore:
			good = restore(p, low);
			break;
		default:
			good = run_extended(p, opcode);
		}
		if (!good || p->bytes.bad)
			return false;
	}
	return true;
}

bool callframe_rows(const struct callframe *table,
		    const struct callframe_entry *entry,
		    bool (*each)(void *owner, const struct callframe_row *row),
		    void *owner)
{
	struct program *p;
	bool good;

	if (entry->source == CALLFRAME_EXIDX)
		return callframe_exidx_rows(table, entry, each, owner);
	p = grow_zeroed(1, sizeof(*p));
	p->table = table;
	p->entry = entry;
	p->common = &table->commons[entry->common];
	p->each = each;
	p->owner = owner;
	p->in_common = true;
	good = run(p, p->common->program, p->common->program_end);
	p->in_common = false;
	p->row.start = entry->start;
	p->initial = p->row;
	good = good && run(p, entry->program, entry->program_end);
	if (good && !p->stopped)
		move_to(p, entry->end);
	free(p);
	return good;
}
