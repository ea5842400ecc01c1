/*
 * cfi_verify.c: see cfi_verify.h.
 *
 *	entry ──▶ code, run symbolically ──▶ state before each instruction
 *	   │                                           │
 *	   └────▶ rows ────────────────────────────────┴──▶ the same?
 *
 * An entry may be a part of a function that other code jumps to (GCC's .cold).
 * Its first row is then not that of a function's entry. The first row is taken
 * as right, and the other rows are checked against it.
 *
 * .ARM.exidx is right only where exceptions occur: at calls. Its entries have
 * no ends, and one entry may cover several functions.
 */
#include "cli/symbol/cfi/cfi_verify.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/grow.h"
#include "cli/symbol/cfi/callframe_value.h"
#include "cli/symbol/cfi/lsda_pads.h"
#include "unwind/base/assertion.h"

#define LINKAGE_PIECE 16	/* bytes, in x86-64's PLT */

/* One function. */
struct checking {
	struct cfi_verifier *verifier;
	const struct callframe_entry *entry;
	const uint8_t *bytes;	/* all of its code */
	struct symbolic_run run;
	struct cfi_verify_result *result;
	bool first_row;
	struct callframe_row row;	/* the first */
	uint64_t *changes;		/* starts of rows that differ */
	size_t change_count, change_capacity;
	struct callframe_row before;
	uint64_t reached;		/* end of the code that was run */
};

bool cfi_verify_open(struct cfi_verifier *verifier,
		     const struct callframe *table,
		     const struct symtab *symbols)
{
	const struct elf_tables *t = &table->file->tables;

	*verifier = (struct cfi_verifier){
		.table = table, .symbols = symbols,
		.machine = machine_of(table->machine,
				      table->address_size == 8),
	};
	return verifier->machine != NULL &&
		machine_open(&verifier->decoder, verifier->machine,
			     t->class->big);
}

void cfi_verify_close(struct cfi_verifier *verifier)
{
	machine_close(&verifier->decoder);
}

void cfi_verify_free(struct cfi_verify_result *result)
{
	free(result->findings);
	memset(result, 0, sizeof(*result));
}

/* ---- findings ---- */

static void undecided(struct checking *c, enum cfi_verify_reason reason)
{
	c->result->reasons |= 1u << reason;
	c->result->undecided++;
	if (c->result->verdict == CFI_VERIFY_AGREES)
		c->result->verdict = CFI_VERIFY_UNDECIDABLE;
}

static void disagree(struct checking *c, uint64_t address, uint32_t column,
		     const char *table, const char *code)
{
	struct cfi_verify_result *result = c->result;
	struct cfi_verify_finding *found;

	result->verdict = CFI_VERIFY_DISAGREES;
	for (size_t i = 0; i < result->count; i++) {
		found = &result->findings[i];
		if (found->column == column &&
		    strcmp(found->table, table) == 0 &&
		    strcmp(found->code, code) == 0) {
			found->instructions++;
			return;
		}
	}
	GROW(result->findings, result->count, result->capacity);
	found = &result->findings[result->count++];
	*found = (struct cfi_verify_finding){ .address = address,
					     .instructions = 1,
					     .column = column };
	snprintf(found->table, sizeof(found->table), "%s", table);
	snprintf(found->code, sizeof(found->code), "%s", code);
}

/* ---- one instruction ---- */

/* False: no rule relative to the CFA can be checked. */
static bool check_cfa(struct checking *c, const struct callframe_place *place)
{
	const struct machine *machine = place->machine;
	struct symbolic_value value;
	char table[48], code[48];

	if (!callframe_cfa(place, &value)) {
		undecided(c, CFI_VERIFY_EXPRESSION);
		return false;
	}
	if (value.kind == SYMBOLIC_CFA && value.number == 0)
		return true;
	if (value.kind != SYMBOLIC_CFA) {
		undecided(c, CFI_VERIFY_BASE);
		return true;
	}
	cfi_verify_cfa_text(machine, place->row, table, sizeof(table));
	if (place->row->cfa_how == CALLFRAME_OFFSET) {
		char name[16];

		snprintf(code, sizeof(code), "%s%+lld",
			 machine_register_name(machine, place->row->cfa_reg,
					       name),
			 (long long)(place->row->cfa_offset - value.number));
	} else {
		cfi_verify_value_text(machine, value, code, sizeof(code));
	}
	disagree(c, place->pc, CFI_VERIFY_CFA, table, code);
	return false;
}

/* Text of where the code has the caller's value of a register. */
static void describe(const struct callframe_place *place, unsigned reg,
		     struct symbolic_value value, char *text, size_t size)
{
	const struct symbolic_state *state = place->state;
	int64_t offset;

	if (symbolic_saved(state, reg, &offset))
		snprintf(text, size, "c%+lld", (long long)offset);
	else if (symbolic_same(state->reg[reg], symbolic_entry(reg)))
		snprintf(text, size, "s");
	else
		cfi_verify_value_text(place->machine, value, text, size);
}

static void check_register(struct checking *c,
			   const struct callframe_place *place,
			   unsigned column, unsigned reg)
{
	uint8_t how = place->row->how[column];
	struct symbolic_value value;
	char table[48], code[48];

	if (how == CALLFRAME_UNDEFINED)
		return;		/* no rule */
	if (!callframe_caller(place, column, &value)) {
		undecided(c, CFI_VERIFY_EXPRESSION);
		return;
	}
	if (symbolic_same(value, symbolic_entry(reg)))
		return;
	if (value.kind == SYMBOLIC_UNKNOWN && c->run.guessed > 0) {
		undecided(c, CFI_VERIFY_UNDECODED);
		return;
	}
	/* A store to an unknown address may have written it. */
	if (value.kind == SYMBOLIC_UNKNOWN && how != CALLFRAME_SAME &&
	    how != CALLFRAME_UNSPECIFIED) {
		undecided(c, CFI_VERIFY_SLOT);
		return;
	}
	cfi_verify_rule_text(place->machine, place->row, column, table,
			     sizeof(table));
	describe(place, reg, value, code, sizeof(code));
	disagree(c, place->pc, column, table, code);
}

/* An unwinder that misses a signature goes to a wrong address; one that strips
 * a signature that is not there corrupts the right address. */
static void check_signature(struct checking *c,
			    const struct callframe_place *place, unsigned ra)
{
	static const char *const texts[] = { "not signed", "signed" };
	uint8_t of_code = place->state->signed_ra;

	if (of_code == SYMBOLIC_EITHER)
		undecided(c, CFI_VERIFY_SIGNATURE);
	else if ((of_code == SYMBOLIC_SIGNED) != place->row->signs)
		disagree(c, place->pc, ra, texts[place->row->signs],
			 texts[of_code == SYMBOLIC_SIGNED]);
}

static void check_node(struct checking *c, const struct callframe_row *row,
		       const struct symbolic_node *node)
{
	const struct machine *machine = c->verifier->machine;
	const struct callframe_place place = {
		c->verifier->table, c->entry, machine, row, &node->state,
		node->address };
	unsigned ra = callframe_ra(c->verifier->table, c->entry);

	c->result->instructions++;
	if (ra < CALLFRAME_COLUMNS && row->how[ra] == CALLFRAME_UNDEFINED)
		return;		/* the outermost frame */
	if (!check_cfa(c, &place))
		return;
	if (ra < CALLFRAME_COLUMNS) {
		check_register(c, &place, ra, machine->ra);
		check_signature(c, &place, ra);
	}
	for (unsigned reg = 0; reg < SYMBOLIC_REGS; reg++)
		if (machine->preserved >> reg & 1)
			check_register(c, &place,
				       (unsigned)callframe_column(
					       machine, row, reg),
				       reg);
}

static bool check_row(void *owner, const struct callframe_row *row)
{
	struct checking *c = owner;
	bool calls_only = c->entry->source == CALLFRAME_EXIDX;

	for (size_t i = 0; i < c->run.count; i++) {
		const struct symbolic_node *node = &c->run.nodes[i];

		if (node->address >= row->start && node->address < row->end &&
		    (!calls_only || node->flow == MACHINE_CALL))
			check_node(c, row, node);
	}
	return true;
}

/* ---- the state at the entry ---- */

static bool same_rules(const struct callframe_row *a,
		       const struct callframe_row *b)
{
	return a->cfa_how == b->cfa_how && a->cfa_reg == b->cfa_reg &&
		a->cfa_offset == b->cfa_offset &&
		memcmp(a->how, b->how, sizeof(a->how)) == 0 &&
		memcmp(a->value, b->value, sizeof(a->value)) == 0;
}

static bool look_at_row(void *owner, const struct callframe_row *row)
{
	struct checking *c = owner;

	if (!c->first_row) {
		c->first_row = true;
		c->row = *row;
	} else if (!same_rules(&c->before, row)) {
		GROW(c->changes, c->change_count, c->change_capacity);
		c->changes[c->change_count++] = row->start;
	}
	c->before = *row;
	return true;
}

static bool is_entry_row(const struct checking *c)
{
	const struct machine *machine = c->verifier->machine;
	const struct callframe_row *row = &c->row;

	if (row->cfa_how != CALLFRAME_OFFSET || row->cfa_reg != machine->sp ||
	    row->cfa_offset != machine->entry_offset)
		return false;
	for (unsigned reg = 0; reg < SYMBOLIC_REGS; reg++) {
		int column = callframe_column(machine, row, reg);
		uint8_t how = column < 0 ? CALLFRAME_UNSPECIFIED :
			row->how[column];

		if ((machine->preserved >> reg & 1 ||
		     (reg == machine->ra && !machine->ra_on_stack)) &&
		    how != CALLFRAME_UNSPECIFIED && how != CALLFRAME_SAME &&
		    how != CALLFRAME_UNDEFINED)
			return false;
	}
	return true;
}

/* The state that a row describes. */
static void begin_within(const struct checking *c,
			 struct symbolic_state *state)
{
	const struct machine *machine = c->verifier->machine;
	const struct callframe_row *row = &c->row;
	int reg = row->cfa_how == CALLFRAME_OFFSET ?
		machine_register(machine, row->cfa_reg) : -1;

	symbolic_begin(state);
	for (unsigned i = 0; i < SYMBOLIC_REGS; i++) {
		int column = callframe_column(machine, row, i);
		struct symbolic_value old = symbolic_entry(i);

		if (column < 0)
			continue;
		if (row->how[column] == CALLFRAME_OFFSET) {
			symbolic_store(state, symbolic_cfa(row->value[column]),
				       machine->word, machine->word, old);
			state->reg[i] = symbolic_unknown();
		} else if (row->how[column] == CALLFRAME_REGISTER) {
			int other = machine_register(
				machine, (unsigned)row->value[column]);

			if (other >= 0)
				state->reg[other] = old;
		}
	}
	state->reg[machine->sp] = symbolic_unknown();
	if (reg >= 0)
		state->reg[reg] = symbolic_cfa(-row->cfa_offset);
	state->signed_ra = row->signs ? SYMBOLIC_SIGNED : SYMBOLIC_PLAIN;
}

/* Whether another function begins there, judged by its first instruction. */
static bool begins(const struct checking *c, uint64_t address)
{
	const struct machine *machine = c->verifier->machine;

	return machine->begins != NULL && address < c->entry->end &&
		machine->begins(&c->verifier->decoder,
				c->bytes + (address - c->entry->start),
				(size_t)(c->entry->end - address));
}

/* The first instruction after padding. */
static uint64_t skip_padding(const struct checking *c, uint64_t at)
{
	struct cfi_verifier *verifier = c->verifier;
	struct machine_step step;
	struct symbolic_state state;

	symbolic_begin(&state);
	for (; at < c->entry->end; at += step.size) {
		verifier->machine->step(&verifier->decoder, at,
				       c->bytes + (at - c->entry->start),
				       (size_t)(c->entry->end - at), &state,
				       &step);
		if (step.flow == MACHINE_BAD || !step.nothing)
			break;
	}
	return at;
}

/* A call does not change the frame: if the rules change after it, it never
 * returns. */
static bool returns(void *owner, uint64_t behind)
{
	const struct checking *c = owner;
	uint64_t first = skip_padding(c, behind);

	for (size_t i = 0; i < c->change_count; i++)
		if (c->changes[i] == behind || c->changes[i] == first)
			return false;
	return c->entry->source != CALLFRAME_EXIDX || !begins(c, behind);
}

/* ---- the code ---- */

/* is_linkage: the section is a PLT. */
static const uint8_t *code_of(const struct checking *c, bool *is_linkage)
{
	const struct elf_tables *t = &c->verifier->table->file->tables;

	for (uint32_t i = 0; i < t->sections; i++) {
		const Elf64_Shdr *section = &t->section[i];

		if (section->sh_flags & SHF_EXECINSTR &&
		    c->entry->start >= section->sh_addr &&
		    c->entry->end - section->sh_addr <= section->sh_size &&
		    elf_tables_has(t, section)) {
			*is_linkage = strncmp(elf_tables_name(t, section),
					      ".plt", 4) == 0;
			return t->bytes + section->sh_offset +
				(c->entry->start - section->sh_addr);
		}
	}
	return NULL;
}

static void look_at_run(struct checking *c)
{
	c->result->assumed += c->run.assumed;	/* several, in merged entries */
	if (c->run.too_large)
		undecided(c, CFI_VERIFY_TOO_LARGE);
	if (c->run.bad > 0)
		undecided(c, CFI_VERIFY_UNDECODED);
	else if (c->run.unreached > 0 && c->entry->source != CALLFRAME_EXIDX)
		undecided(c, CFI_VERIFY_UNREACHED);
}

static void run_and_check(struct checking *c, struct symbolic_wanted *wanted)
{
	wanted->decoder = &c->verifier->decoder;
	wanted->returns = returns;
	wanted->owner = c;
	symbolic_run(&c->run, wanted);
	callframe_rows(c->verifier->table, c->entry, check_row, c);
	look_at_run(c);
	c->reached = wanted->start;
	if (c->run.count > 0) {
		const struct symbolic_node *last =
			&c->run.nodes[c->run.count - 1];

		c->reached = last->address + last->size;
	}
	symbolic_run_free(&c->run);
}

static void check_function(struct checking *c, const uint8_t *bytes,
			   bool named)
{
	struct symbolic_state entry;
	struct symbolic_pad *pads;
	struct symbolic_wanted wanted = {
		.start = c->entry->start, .end = c->entry->end,
		.bytes = bytes, .entry = &entry,
	};

	c->result->starts_in_body = !named && !is_entry_row(c);
	if (c->result->starts_in_body)
		begin_within(c, &entry);
	else
		machine_begin(c->verifier->machine, &entry);
	wanted.pad_count = lsda_pads(c->verifier->table, c->entry, &pads);
	wanted.pads = pads;
	run_and_check(c, &wanted);
	free(pads);
}

/* The next function with a symbol. */
static uint64_t next_symbol(const struct checking *c, uint64_t start)
{
	uint64_t before = 0, next = c->entry->end;

	/* odd in Thumb state */
	symtab_around(c->verifier->symbols, start | 1, &before, &next);
	next &= ~UINT64_C(1);
	return next < c->entry->end ? next : c->entry->end;
}

/* Linkers merge entries of functions with equal rules. */
static void check_merged(struct checking *c)
{
	unsigned step = c->verifier->machine->alignment;
	struct symbolic_state entry;
	struct symbolic_pad *pads;
	struct symbolic_wanted wanted = {
		.start = c->entry->start, .entry = &entry,
	};

	wanted.pad_count = lsda_pads(c->verifier->table, c->entry, &pads);
	wanted.pads = pads;
	while (wanted.start < c->entry->end) {
		wanted.end = next_symbol(c, wanted.start);
		wanted.bytes = c->bytes + (wanted.start - c->entry->start);
		machine_begin(c->verifier->machine, &entry);
		run_and_check(c, &wanted);
		wanted.start = c->reached > wanted.start ? c->reached :
			wanted.start + step;
		while (wanted.start < wanted.end && !begins(c, wanted.start))
			wanted.start += step;
	}
	free(pads);
}

/* A PLT: each stub has an entry of its own, and all jump to the first. */
static void check_linkage(struct checking *c, const uint8_t *bytes)
{
	struct symbolic_state entry;
	struct symbolic_wanted wanted = { .entry = &entry };
	uint64_t size = c->entry->end - c->entry->start;

	begin_within(c, &entry);
	for (uint64_t at = 0; at < size; at += LINKAGE_PIECE) {
		wanted.start = c->entry->start + at;
		wanted.end = size - at < LINKAGE_PIECE ? c->entry->end :
			wanted.start + LINKAGE_PIECE;
		wanted.bytes = bytes + at;
		run_and_check(c, &wanted);
		machine_begin(c->verifier->machine, &entry);
	}
}

void cfi_verify_entry(struct cfi_verifier *verifier,
		      const struct callframe_entry *entry, bool named,
		      struct cfi_verify_result *result)
{
	const struct callframe *table = verifier->table;
	struct checking *c = grow_zeroed(1, sizeof(*c));
	const uint8_t *bytes;
	bool is_linkage = false;

	DEBUG_ASSERT(entry->start < entry->end);
	memset(result, 0, sizeof(*result));
	c->verifier = verifier;
	c->entry = entry;
	c->result = result;
	verifier->decoder.thumb = entry->thumb;
	bytes = c->bytes = code_of(c, &is_linkage);
	if (!callframe_rows(table, entry, look_at_row, c) || !c->first_row)
		undecided(c, CFI_VERIFY_INVALID);
	else if (entry->source != CALLFRAME_EXIDX &&
		 table->commons[entry->common].signal)
		undecided(c, CFI_VERIFY_SIGNAL);
	else if (bytes == NULL)
		undecided(c, CFI_VERIFY_NO_CODE);
	else if (is_linkage && verifier->machine->elf_machine == EM_X86_64)
		check_linkage(c, bytes);
	else if (entry->source == CALLFRAME_EXIDX)
		check_merged(c);
	else
		check_function(c, bytes, named);
	free(c->changes);
	free(c);
}
