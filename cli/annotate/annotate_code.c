/*
 * annotate_code.c: disassembles a piece of code with Capstone, for the machine
 * in its ELF file. Branches within the piece get labels, calls the name of
 * their callee, if the file or the trace has it.
 *
 * A call's cost is known by its return address: the instruction that ends there
 * is the call. On MIPS, the delay slot lies in between.
 *
 * ARM and Thumb code alternate, as do code and constant tables: mapping symbols
 * separate them (mapping.h). Bytes that Capstone does not know are printed as a
 * number, and the listing continues.
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

/* Whether the instruction before this return address is a Thumb call: BL or BLX
 * of two halfwords, or BLX of a register, of one. */
static bool is_thumb_call(const uint8_t *bytes)
{
	unsigned first = bytes[0] | bytes[1] << 8;
	unsigned second = bytes[2] | bytes[3] << 8;

	return ((first & 0xf800) == 0xf000 && (second & 0xc000) == 0xc000) ||
		(second & 0xff87) == 0x4780;
}

/* Whether the code is Thumb, without a mapping symbol: from the lowest bit of a
 * return address, or from the call before it. */
static bool is_thumb(const struct annotate_piece *piece)
{
	for (size_t i = 0; i < piece->function->call_count; i++) {
		const struct annotate_call *call = &piece->function->calls[i];
		const uint8_t *bytes;

		if (call->exact || call->address < piece->range.start + 4 ||
		    call->address > piece->range.end + 1)
			continue;
		if (call->address & 3)
			return true;
		bytes = code_bytes(piece->code, call->address - 4, 4);
		if (bytes != NULL)
			return is_thumb_call(bytes);
	}
	return false;
}

/* NULL: not supported by Capstone. */
static const struct machine *machine_of(const struct elf_kind *kind)
{
	for (size_t i = 0; i < sizeof(machines) / sizeof(machines[0]); i++)
		if (machines[i].machine == kind->machine &&
		    machines[i].wide == kind->wide)
			return &machines[i];
	return NULL;
}

static const char *open_machine(const struct elf_kind *kind, csh *handle)
{
	const struct machine *machine = machine_of(kind);

	if (machine == NULL ||
	    cs_open(machine->arch, machine->mode |
		    (kind->big ? CS_MODE_BIG_ENDIAN : 0), handle) != CS_ERR_OK)
		return "Capstone cannot disassemble code of this machine";
	cs_option(*handle, CS_OPT_DETAIL, CS_OPT_ON);
	return NULL;
}

/* ---- operands ---- */

/* MIPS' near calls, which Capstone puts into no group. */
static bool is_mips_call(const cs_insn *instruction)
{
	return strcmp(instruction->mnemonic, "bal") == 0 ||
		strcmp(instruction->mnemonic, "jal") == 0;
}

/* The target of a branch or call with a constant operand; on x86-64 also the
 * memory word that holds the target. */
static bool target_of(csh handle, const cs_insn *instruction,
		      uint64_t *target, bool *slot)
{
	const cs_detail *detail = instruction->detail;
	const char *number;
	char *end;

	*slot = false;
	if (instruction->id == 0 || detail == NULL ||
	    (!cs_insn_group(handle, instruction, CS_GRP_JUMP) &&
	     !cs_insn_group(handle, instruction, CS_GRP_CALL) &&
	     !is_mips_call(instruction)))
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
	/* The last operand, a constant, on all machines. */
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

void annotate_name_call(struct annotate_instruction *at, const char *symbol)
{
	struct buffer text = { 0 };

	buffer_printf(&text, "%.*s ", (int)strcspn(at->text, " "), at->text);
	put_name(&text, symbol, 0);
	snprintf(at->text, sizeof(at->text), "%s", text.data);
	at->named = true;
	buffer_free(&text);
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

/* Prints an instruction's target; true: it has a name. */
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

/* ---- the listing ---- */

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
		if (comma != NULL)	/* its condition comes first */
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

/* Prints bytes that are no instruction as a number, in the machine's byte
 * order. */
static void describe_bytes(const struct elf_kind *kind, const uint8_t *bytes,
			   bool data, struct annotate_instruction *to)
{
	const char *word = to->size == 4 ? (data ? ".word" : ".inst") :
		to->size == 2 ? (data ? ".short" : ".inst.n") : ".byte";
	unsigned long long value = 0;

	for (unsigned i = 0; i < to->size && i < 8; i++)
		value |= (unsigned long long)
			bytes[kind->big ? to->size - 1 - i : i] << 8 * i;
	snprintf(to->text, sizeof(to->text), "%s 0x%0*llx", word,
		 (int)(2 * to->size), value);
}

/*
 * A pass over the instructions. Capstone's details take much memory, so they
 * are not kept; the first pass (`fill` is false) only finds addresses.
 */
struct pass {
	csh handle;
	const struct annotate_piece *piece;
	struct annotate_listing *listing;
	bool fill;
	size_t next;		/* index in the listing */
};

/* First pass: adds an instruction and returns NULL. Second: the one to fill. */
static struct annotate_instruction *next_of(struct pass *pass, uint64_t address,
					    unsigned size)
{
	struct annotate_listing *listing = pass->listing;

	if (pass->fill)
		return &listing->list[pass->next++];
	GROW(listing->list, listing->count, listing->capacity);
	listing->list[listing->count++] = (struct annotate_instruction){
		.address = address, .size = size };
	return NULL;
}

/* Data as words, with smaller pieces at the ends. */
static void pass_data(struct pass *pass, const uint8_t *bytes, uint64_t address,
		      uint64_t end)
{
	const struct elf_kind *kind = code_kind(pass->piece->code);

	while (address < end) {
		unsigned size = address % 4 == 0 && end - address >= 4 ? 4 :
			address % 2 == 0 && end - address >= 2 ? 2 : 1;
		struct annotate_instruction *to = next_of(pass, address, size);

		if (to != NULL)
			describe_bytes(kind, bytes, true, to);
		bytes += size;
		address += size;
	}
}

static void pass_code(struct pass *pass, const uint8_t *bytes, uint64_t address,
		      uint64_t end)
{
	size_t left = (size_t)(end - address);
	cs_insn *one = cs_malloc(pass->handle);

	while (one != NULL && cs_disasm_iter(pass->handle, &bytes, &left,
					     &address, one)) {
		struct annotate_instruction *to = next_of(pass, one->address,
							  one->size);

		if (to == NULL)
			continue;
		if (one->id == 0)
			describe_bytes(code_kind(pass->piece->code), one->bytes,
				       false, to);
		else
			describe(pass->handle, pass->piece, pass->listing, one,
				 to);
	}
	if (one != NULL)
		cs_free(one, 1);
	/* the rest, shorter than an instruction */
	pass_data(pass, bytes, address, end);
}

static void pass_all(struct pass *pass, const uint8_t *bytes, bool thumb)
{
	const struct code_range *range = &pass->piece->range;
	struct code *code = pass->piece->code;
	cs_mode mode = machine_of(code_kind(code))->mode |
		(code_kind(code)->big ? CS_MODE_BIG_ENDIAN : 0);

	for (uint64_t at = range->start, end; at < range->end; at = end) {
		enum mapping_kind kind = thumb ? MAPPING_THUMB : MAPPING_CODE;

		code_mapping(code, range, at, &kind, &end);
		if (kind == MAPPING_DATA) {
			pass_data(pass, bytes + (at - range->start), at, end);
			continue;
		}
		cs_option(pass->handle, CS_OPT_MODE, kind == MAPPING_THUMB ?
			  mode | CS_MODE_THUMB : mode);
		/* Skip unknown bytes by the size of the mode's shortest
		 * instruction. */
		cs_option(pass->handle, CS_OPT_SKIPDATA, CS_OPT_ON);
		pass_code(pass, bytes + (at - range->start), at, end);
	}
}

const char *annotate_disassemble(const struct annotate_piece *piece,
				 struct annotate_listing *listing)
{
	size_t size = (size_t)(piece->range.end - piece->range.start);
	struct pass pass = { .piece = piece, .listing = listing };
	const uint8_t *bytes;
	const char *why;
	bool thumb;

	memset(listing, 0, sizeof(*listing));
	if (size > PIECE_MAX)
		return "the function is too large";
	bytes = code_bytes(piece->code, piece->range.start, size);
	if (bytes == NULL)
		return code_path(piece->code) == NULL ?
			"the file of the code was not found" :
			"the file that was found has no code";
	why = open_machine(code_kind(piece->code), &pass.handle);
	if (why != NULL)
		return why;
	thumb = code_kind(piece->code)->machine == EM_ARM && is_thumb(piece);
	pass_all(&pass, bytes, thumb);
	pass.fill = true;
	pass_all(&pass, bytes, thumb);
	cs_close(&pass.handle);
	annotate_name_mips(piece, listing);
	number_labels(listing);
	assign_calls(piece, listing);
	return listing->count > 0 ? NULL : "its code is invalid";
}

void annotate_listing_free(struct annotate_listing *listing)
{
	free(listing->list);
	memset(listing, 0, sizeof(*listing));
}
