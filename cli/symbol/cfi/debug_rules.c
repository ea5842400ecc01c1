/*
 * debug_rules.c: see debug_rules.h.
 */
#include "cli/symbol/cfi/debug_rules.h"

#include <dwarf.h>
#include <string.h>

#include "cli/symbol/cfi/callframe_value.h"

void debug_rules_open(struct debug_rules *rules, const struct binary *binary)
{
	*rules = (struct debug_rules){ .binary = binary };
	if (binary->debug != NULL)
		callframe_open(&rules->separate, binary->debug);
}

void debug_rules_close(struct debug_rules *rules)
{
	callframe_free(&rules->separate);
}

static void starts_of(const struct callframe *table,
		      void (*each)(void *owner, uint64_t start), void *owner)
{
	for (size_t i = 0; i < table->count; i++)
		if (table->entries[i].source == CALLFRAME_DEBUG)
			each(owner, table->entries[i].start);
}

void debug_rules_starts(const struct debug_rules *rules,
			void (*each)(void *owner, uint64_t start), void *owner)
{
	starts_of(&rules->binary->table, each, owner);
	starts_of(&rules->separate, each, owner);
}

static const struct callframe_entry *entry_at(const struct callframe *table,
					      uint64_t start)
{
	size_t i = callframe_behind(table, start);

	for (; i > 0 && table->entries[i - 1].start == start; i--)
		if (table->entries[i - 1].source == CALLFRAME_DEBUG)
			return &table->entries[i - 1];
	return NULL;
}

/* State while a function's rows are converted. */
struct rows {
	const struct machine *machine;
	const struct callframe *table;
	const struct callframe_entry *entry;
	void (*each)(void *owner, const struct generated_row *row,
		     uint64_t end);
	void *owner;
};

/* Whether an expression is the frame pointer plus an offset; deref: the word at
 * that address. */
static bool is_by_fp(const struct rows *rows, uint64_t where, bool deref,
		     int64_t *offset)
{
	struct bytes bytes = bytes_from(callframe_expression(
						rows->table, rows->entry,
						where), 0);

	if (bytes_u8(&bytes) != DW_OP_breg0 + rows->machine->fp[0])
		return false;
	*offset = bytes_sleb(&bytes);
	if (deref && bytes_u8(&bytes) != DW_OP_deref)
		return false;
	return !bytes.bad && bytes_left(&bytes) == 0 &&
		*offset >= INT32_MIN && *offset <= INT32_MAX;
}

static void take_register(const struct rows *rows,
			  const struct callframe_row *from, unsigned reg,
			  struct generated_row *row)
{
	const struct machine *machine = rows->machine;
	unsigned column = (unsigned)callframe_column(machine, from, reg);
	int64_t offset = from->value[column];

	switch (from->how[column]) {
	case CALLFRAME_UNSPECIFIED:
	case CALLFRAME_SAME:
		row->where[reg] = reg == machine->ra && machine->ra_on_stack ?
			GENERATED_UNKNOWN : GENERATED_SAME;
		break;
	case CALLFRAME_OFFSET:
		row->where[reg] = offset % machine->word == 0 &&
			offset >= INT32_MIN && offset <= INT32_MAX ?
			GENERATED_AT_CFA : GENERATED_UNKNOWN;
		row->offset[reg] = row->where[reg] == GENERATED_AT_CFA ?
			(int32_t)offset : 0;
		break;
	case CALLFRAME_EXPRESSION:
		row->where[reg] = GENERATED_UNKNOWN;
		if (is_by_fp(rows, (uint64_t)offset, false, &offset)) {
			row->where[reg] = GENERATED_AT_FP;
			row->offset[reg] = (int32_t)offset;
		}
		break;
	default:
		row->where[reg] = GENERATED_UNKNOWN;
	}
}

static bool take_cfa(const struct rows *rows, const struct callframe_row *from,
		     struct generated_row *row)
{
	if (from->cfa_how == CALLFRAME_EXPRESSION) {
		row->deref = true;
		row->cfa_reg = rows->machine->fp[0];
		return rows->machine->ra_on_stack &&
			is_by_fp(rows, from->cfa_expression, true,
				 &row->cfa_offset);
	}
	row->cfa_reg = (uint8_t)from->cfa_reg;
	row->cfa_offset = from->cfa_offset;
	return from->cfa_how == CALLFRAME_OFFSET &&
		from->cfa_reg < SYMBOLIC_FLOATS && from->cfa_offset >= 0 &&
		from->cfa_offset <= INT32_MAX;
}

static bool take_row(void *owner, const struct callframe_row *from)
{
	struct rows *rows = owner;
	const struct machine *machine = rows->machine;
	struct generated_row row = { .start = from->start,
				     .signs = from->signs };

	if (!take_cfa(rows, from, &row))
		return true;
	for (unsigned reg = 0; reg < SYMBOLIC_REGS; reg++)
		if (machine->preserved >> reg & 1 || reg == machine->ra)
			take_register(rows, from, reg, &row);
	if (row.where[machine->ra] != GENERATED_UNKNOWN)
		rows->each(rows->owner, &row, from->end);
	return true;
}

uint64_t debug_rules_rows(const struct debug_rules *rules, uint64_t start,
			  void (*each)(void *owner,
				       const struct generated_row *row,
				       uint64_t end),
			  void *owner)
{
	const struct callframe *table = &rules->binary->table;
	const struct callframe_entry *entry = entry_at(table, start);
	struct rows rows = { .machine = rules->binary->machine,
			     .each = each, .owner = owner };

	if (entry == NULL) {
		table = &rules->separate;
		entry = entry_at(table, start);
	}
	rows.table = table;
	rows.entry = entry;
	if (entry == NULL || table->commons[entry->common].signal ||
	    callframe_ra(table, entry) != rules->binary->machine->ra)
		return 0;
	return callframe_rows(table, entry, take_row, &rows) ? entry->end : 0;
}
