/*
 * annotate_code.c: the instructions of a piece of code, by Capstone, as its
 * ELF file says what they are. Branches within the piece get labels, calls
 * the name of what they call, as far as the file or the trace knows it.
 *
 * The cost of a call stands at the return address, which is behind it: the
 * instruction that ends there is the call. On MIPS one more instruction stands
 * between, in the delay slot.
 *
 * Called by the main thread.
 */
#include "cli/annotate/annotate.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include <capstone/capstone.h>

#include "cli/base/grow.h"
#include "cli/base/search.h"
#include "cli/symbol/names/names.h"

#define PIECE_MAX (1u << 20)	/* bytes of one function */
#define NAME_WIDTH 48

struct machine {
	unsigned machine;
	bool wide;
	cs_arch arch;
	cs_mode mode;
};

static const struct machine machines[] = {
	{ EM_X86_64, true, CS_ARCH_X86, CS_MODE_64 },
	{ EM_X86_64, false, CS_ARCH_X86, CS_MODE_64 },	/* x32 */
	{ EM_386, false, CS_ARCH_X86, CS_MODE_32 },
	{ EM_AARCH64, true, CS_ARCH_ARM64, CS_MODE_ARM },
	{ EM_ARM, false, CS_ARCH_ARM, CS_MODE_ARM },
	{ EM_MIPS, false, CS_ARCH_MIPS, CS_MODE_MIPS32 },
	{ EM_MIPS, true, CS_ARCH_MIPS, CS_MODE_MIPS64 },
	{ EM_PPC64, true, CS_ARCH_PPC, CS_MODE_64 },
};

/* Thumb or not: a return address tells by its lowest bit. */
static bool is_thumb(const struct annotate_piece *piece)
{
	for (size_t i = 0; i < piece->function->call_count; i++) {
		const struct annotate_call *call = &piece->function->calls[i];

		if (call->address >= piece->range.start &&
		    call->address <= piece->range.end + 1)
			return call->address & 1;
	}
	return false;
}

static const char *open_machine(const struct annotate_piece *piece,
				csh *handle)
{
	const struct elf_kind *kind = code_kind(piece->code);

	for (size_t i = 0; i < sizeof(machines) / sizeof(machines[0]); i++) {
		const struct machine *m = &machines[i];
		cs_mode mode = m->mode;

		if (m->machine != kind->machine || m->wide != kind->wide)
			continue;
		if (kind->big)
			mode |= CS_MODE_BIG_ENDIAN;
		if (m->machine == EM_ARM && is_thumb(piece))
			mode |= CS_MODE_THUMB;
		if (cs_open(m->arch, mode, handle) != CS_ERR_OK)
			break;
		cs_option(*handle, CS_OPT_DETAIL, CS_OPT_ON);
		/* tables of constants between the instructions */
		cs_option(*handle, CS_OPT_SKIPDATA, CS_OPT_ON);
		return NULL;
	}
	return "Capstone cannot disassemble code of this machine";
}

/* ---- operands ---- */

/* Where a branch or a call with a constant operand leads; for x86-64 also the
 * word that it takes its target from. */
static bool target_of(csh handle, const cs_insn *instruction,
		      uint64_t *target, bool *slot)
{
	const cs_detail *detail = instruction->detail;
	const char *number;
	char *end;

	*slot = false;
	if (instruction->id == 0 || detail == NULL ||
	    (!cs_insn_group(handle, instruction, CS_GRP_JUMP) &&
	     !cs_insn_group(handle, instruction, CS_GRP_CALL)))
		return false;
	number = strstr(instruction->op_str, "[rip ");
	if (number != NULL) {
		int64_t distance = strtoll(number + 7, &end, 0);

		*slot = *end == ']';
		*target = instruction->address + instruction->size +
			(number[5] == '-' ? 0 - (uint64_t)distance :
			 (uint64_t)distance);
		return *slot;
	}
	/* The last operand of all machines' branches; a constant. */
	number = strrchr(instruction->op_str, ',');
	number = number ? number + 1 : instruction->op_str;
	while (*number == ' ' || *number == '#')
		number++;
	if (*number < '0' || *number > '9')
		return false;
	*target = strtoull(number, &end, 0);
	return *end == 0;
}

static void put_name(struct buffer *text, const char *symbol, uint64_t offset)
{
	struct buffer plain = { 0 };

	names_demangle(&plain, symbol);
	names_brief(text, plain.data, NAME_WIDTH);
	buffer_free(&plain);
	if (offset > 0)
		buffer_printf(text, "+0x%llx", (unsigned long long)offset);
}

static bool is_inside(const struct annotate_piece *piece, uint64_t address)
{
	return address >= piece->range.start && address < piece->range.end;
}

static bool is_not_below(const void *list, size_t i, uint64_t address)
{
	return ((const struct annotate_instruction *)list)[i].address >=
		address;
}

static struct annotate_instruction *
find_instruction(struct annotate_listing *listing, uint64_t address)
{
	size_t i = search_first(listing->list, listing->count, is_not_below,
				address);

	return i < listing->count && listing->list[i].address == address ?
		&listing->list[i] : NULL;
}

/* Where an instruction leads, in words; true: it has a name. */
static bool put_target(const struct annotate_piece *piece,
		       struct annotate_listing *listing, uint64_t target,
		       bool slot, struct buffer *text)
{
	struct annotate_instruction *to;
	uint64_t offset = 0;
	const char *name;

	if (!slot && is_inside(piece, target)) {
		to = find_instruction(listing, target);
		if (to != NULL && target != piece->range.start) {
			to->label = 1;	/* numbered later */
			buffer_printf(text, "@%llx",
				      (unsigned long long)target);
			return true;
		}
	}
	name = slot ? code_slot(piece->code, target) :
		code_name(piece->code, target, &offset);
	if (name != NULL)
		put_name(text, name, offset);
	else
		buffer_printf(text, "%s0x%llx", slot ? "*" : "",
			      (unsigned long long)(target - piece->bias));
	return name != NULL;
}

/* ---- all of them ---- */

static void describe(csh handle, const struct annotate_piece *piece,
		     struct annotate_listing *listing,
		     const cs_insn *instruction,
		     struct annotate_instruction *to)
{
	struct buffer text = { 0 };
	uint64_t target;
	bool slot;

	buffer_string(&text, instruction->mnemonic);
	if (target_of(handle, instruction, &target, &slot)) {
		const char *comma = strrchr(instruction->op_str, ',');

		buffer_string(&text, " ");
		if (comma != NULL)	/* what it depends on comes first */
			buffer_add(&text, instruction->op_str,
				   (size_t)(comma - instruction->op_str) + 2);
		to->named = put_target(piece, listing, target, slot, &text);
	} else if (instruction->op_str[0] != 0) {
		buffer_printf(&text, " %s", instruction->op_str);
	}
	snprintf(to->text, sizeof(to->text), "%s", text.data);
	buffer_free(&text);
}

static void number_labels(struct annotate_listing *listing)
{
	for (size_t i = 0; i < listing->count; i++)
		if (listing->list[i].label)
			listing->list[i].label = ++listing->labels;
	for (size_t i = 0; i < listing->count; i++) {
		struct annotate_instruction *from = &listing->list[i], *to;
		char *at = strrchr(from->text, '@');

		if (at == NULL)
			continue;
		to = find_instruction(listing, strtoull(at + 1, NULL, 16));
		if (to != NULL && to->label)
			snprintf(at, sizeof(from->text) -
				 (size_t)(at - from->text), "L%u", to->label);
	}
}

/* The instruction that a cost belongs to. */
static struct annotate_instruction *
instruction_of(const struct annotate_piece *piece,
	       struct annotate_listing *listing,
	       const struct annotate_call *call)
{
	const struct elf_kind *kind = code_kind(piece->code);
	uint64_t address = call->address;

	if (kind->machine == EM_ARM)
		address &= ~UINT64_C(1);
	if (call->exact)
		return find_instruction(listing, address);
	for (size_t i = 0; i < listing->count; i++) {
		struct annotate_instruction *at = &listing->list[i];

		if (at->address + at->size != address)
			continue;
		return kind->machine == EM_MIPS && i > 0 ? at - 1 : at;
	}
	return NULL;
}

static void assign_calls(const struct annotate_piece *piece,
			 struct annotate_listing *listing)
{
	const struct annotate_function *function = piece->function;

	for (size_t i = 0; i < function->call_count; i++) {
		const struct annotate_call *call = &function->calls[i];
		struct annotate_instruction *at;

		if (!is_inside(piece, call->address - !call->exact))
			continue;
		at = instruction_of(piece, listing, call);
		if (at != NULL)
			at->call = call;
	}
}

/* One pass over the instructions: what each is takes much memory, so they are
 * not kept. The first (`fill` is false) only finds where they are. */
static void pass(csh handle, const struct annotate_piece *piece,
		 struct annotate_listing *listing, const uint8_t *bytes,
		 bool fill)
{
	size_t left = (size_t)(piece->range.end - piece->range.start), i = 0;
	uint64_t address = piece->range.start;
	cs_insn *one = cs_malloc(handle);

	while (one != NULL &&
	       cs_disasm_iter(handle, &bytes, &left, &address, one)) {
		if (fill) {
			describe(handle, piece, listing, one,
				 &listing->list[i++]);
			continue;
		}
		GROW(listing->list, listing->count, listing->capacity);
		listing->list[listing->count++] = (struct annotate_instruction){
			.address = one->address, .size = one->size };
	}
	if (one != NULL)
		cs_free(one, 1);
}

const char *annotate_disassemble(const struct annotate_piece *piece,
				 struct annotate_listing *listing)
{
	size_t size = (size_t)(piece->range.end - piece->range.start);
	const uint8_t *bytes;
	const char *why;
	csh handle;

	memset(listing, 0, sizeof(*listing));
	if (size > PIECE_MAX)
		return "the function is too large";
	bytes = code_bytes(piece->code, piece->range.start, size);
	if (bytes == NULL)
		return code_path(piece->code) == NULL ?
			"the file of the code was not found" :
			"the file that was found has no code";
	why = open_machine(piece, &handle);
	if (why != NULL)
		return why;
	pass(handle, piece, listing, bytes, false);
	pass(handle, piece, listing, bytes, true);
	cs_close(&handle);
	number_labels(listing);
	assign_calls(piece, listing);
	return listing->count > 0 ? NULL : "its code makes no sense";
}

void annotate_listing_free(struct annotate_listing *listing)
{
	free(listing->list);
	memset(listing, 0, sizeof(*listing));
}
