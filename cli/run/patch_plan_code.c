/*
 * patch_plan_code.c: see patch_plan_code.h.
 *
 *	entry:  push %rbx              jump ────▶ wrapper ─▶ moved code:
 *	        mov  table(%rip),%rax  . . .                 push %rbx
 *	        test %rdi,%rdi         test %rdi,%rdi        mov  table(%rip),%rax
 *	        …                      …          ◀───────── jump
 *
 * A relocated instruction has the same effect as before: PC-relative addresses
 * are adjusted, and short branches become long ones. A call pushes the return
 * address of its old place, so that a stack walk meets only addresses that the
 * file's unwind table covers.
 *
 * A function is refused if an instruction cannot be decoded, or if a branch of
 * its own or a jump table entry may lead into the displaced bytes.
 * (patch_plan_image.c checks branches from other functions.)
 *
 * I1: writes to *moved stay inside its arrays; a function that needs more is
 * refused.
 */
#include "cli/run/patch_plan_code.h"

#include <stdlib.h>
#include <string.h>

#include <capstone/capstone.h>

#include "cli/base/grow.h"

#define LONGEST 15		/* bytes of an instruction */
#define CALL_DEPTH 6
#define CALL_FUNCTIONS 200	/* checked at most by patch_plan_code_calls_out */
#define CALL_TARGETS 32		/* per function */
#define CALL_REACH 4096		/* bytes, if a function's end is unknown */
#define TABLE_ENTRIES 4096
#define NEAR 256		/* bytes; an instruction has about 4 */
#define NEAR_TRIES 32

static const char *const unreadable =
	"has instructions that cannot be decoded";
static const char *const too_much = "begins with instructions too long to "
				    "relocate";

/* Decodes one instruction after the other. */
struct reading {
	csh handle;
	cs_insn *instruction;
	const struct patch_plan_memory *memory;
	uint64_t at;
};

static bool reading_begin(struct reading *reading,
			  const struct patch_plan_memory *memory, uint64_t at)
{
	reading->memory = memory;
	reading->at = at;
	if (cs_open(CS_ARCH_X86, CS_MODE_64, &reading->handle) != CS_ERR_OK)
		return false;
	cs_option(reading->handle, CS_OPT_DETAIL, CS_OPT_ON);
	reading->instruction = cs_malloc(reading->handle);
	return true;
}

static void reading_end(struct reading *reading)
{
	cs_free(reading->instruction, 1);
	cs_close(&reading->handle);
}

/* The next instruction; NULL: none. */
static const cs_insn *reading_next(struct reading *reading)
{
	const uint8_t *bytes;
	size_t left;

	bytes = reading->memory->read(reading->memory, reading->at, 1, &left);
	if (bytes == NULL || !reading->memory->is_code(reading->memory,
						       reading->at))
		return NULL;
	if (left > LONGEST)
		left = LONGEST;
	if (!cs_disasm_iter(reading->handle, &bytes, &left, &reading->at,
			    reading->instruction))
		return NULL;
	return reading->instruction;
}

/* ---- kinds of instructions ---- */

static bool in_group(const cs_insn *i, uint8_t group)
{
	for (unsigned n = 0; n < i->detail->groups_count; n++)
		if (i->detail->groups[n] == group)
			return true;
	return false;
}

/* Whether it is a direct branch or call. */
static bool leads_to(const cs_insn *i, uint64_t *target)
{
	const cs_x86 *x = &i->detail->x86;

	if ((!in_group(i, CS_GRP_JUMP) && !in_group(i, CS_GRP_CALL) &&
	     !in_group(i, CS_GRP_BRANCH_RELATIVE)) ||
	    x->op_count != 1 || x->operands[0].type != X86_OP_IMM)
		return false;
	*target = (uint64_t)x->operands[0].imm;
	return true;
}

static const cs_x86_op *memory_operand(const cs_insn *i)
{
	for (unsigned n = 0; n < i->detail->x86.op_count; n++)
		if (i->detail->x86.operands[n].type == X86_OP_MEM)
			return &i->detail->x86.operands[n];
	return NULL;
}

/* Whether it has a RIP-relative operand; *target: its address. */
static bool is_relative(const cs_insn *i, uint64_t *target)
{
	const cs_x86_op *op = memory_operand(i);

	if (op == NULL || op->mem.base != X86_REG_RIP)
		return false;
	*target = i->address + i->size + (uint64_t)op->mem.disp;
	return true;
}

static bool is_ret(const cs_insn *i)
{
	return in_group(i, CS_GRP_RET) || in_group(i, CS_GRP_IRET);
}

/* Whether execution never continues after it. */
static bool is_last(const cs_insn *i)
{
	return i->id == X86_INS_JMP || is_ret(i) || i->id == X86_INS_UD2 ||
		i->id == X86_INS_HLT;
}

static bool is_padding(const cs_insn *i)
{
	return i->id == X86_INS_NOP || i->id == X86_INS_INT3 ||
		(i->size == 2 && i->bytes[0] == 0x66 && i->bytes[1] == 0x90);
}

/* ---- relocation ---- */

static bool put(struct patch_plan_moved *moved, const void *bytes, size_t size)
{
	if (moved->code_size + size > PATCH_CODE_MAX)
		return false;
	memcpy(moved->code + moved->code_size, bytes, size);
	moved->code_size += (unsigned)size;
	return true;
}

/* Adds a fix for the 4 bytes that end `tail` bytes before the end of the
 * code. */
static bool fix(struct patch_plan_moved *moved, unsigned kind, unsigned tail,
		uint64_t target)
{
	if (moved->fix_count == PATCH_FIXES_MAX ||
	    moved->code_size < tail + 4)
		return false;
	moved->fixes[moved->fix_count++] = (struct patch_fix){
		.target = target, .at = (uint8_t)(moved->code_size - tail - 4),
		.tail = (uint8_t)tail, .kind = (uint8_t)kind };
	return true;
}

static bool put_jump(struct patch_plan_moved *moved, uint64_t target)
{
	return put(moved, "\xe9\0\0\0", 5) &&
		fix(moved, PATCH_FIX_RELATIVE, 0, target);
}

/* push low half (which extends its sign); movl high half, 4(%rsp). */
static bool put_return_address(struct patch_plan_moved *moved, uint64_t address)
{
	return put(moved, "\x68\0\0\0", 5) &&
		fix(moved, PATCH_FIX_LOW, 0, address) &&
		put(moved, "\xc7\x44\x24\x04\0\0\0", 8) &&
		fix(moved, PATCH_FIX_HIGH, 0, address);
}

/* Copies an instruction, with a fix for a RIP-relative operand. */
static const char *put_copy(struct patch_plan_moved *moved, const cs_insn *i)
{
	const cs_x86 *x = &i->detail->x86;
	const cs_x86_op *op = memory_operand(i);
	uint64_t target;

	if (op != NULL && op->mem.base == X86_REG_EIP)
		return "begins with a 32-bit address";
	if (!put(moved, i->bytes, i->size))
		return too_much;
	if (!is_relative(i, &target))
		return NULL;
	if (x->encoding.disp_offset == 0 || x->encoding.disp_size != 4)
		return unreadable;
	return fix(moved, PATCH_FIX_RELATIVE,
		   i->size - x->encoding.disp_offset - 4u, target) ?
		NULL : too_much;
}

/* Replaces the call at the end of the relocated code by a push of the return
 * address and a jump. */
static const char *put_call(struct patch_plan_moved *moved, const cs_insn *i)
{
	const cs_x86_op *op = memory_operand(i);
	unsigned modrm = i->detail->x86.encoding.modrm_offset;
	const char *refused;
	uint64_t target;
	uint8_t *at;

	if (!put_return_address(moved, i->address + i->size))
		return too_much;
	if (leads_to(i, &target))
		return put_jump(moved, target) ? NULL : too_much;
	if (i->id != X86_INS_CALL || modrm == 0 ||
	    (op != NULL && (op->mem.base == X86_REG_RSP ||
			    op->mem.segment != X86_REG_INVALID)) ||
	    (op == NULL && i->detail->x86.operands[0].reg == X86_REG_RSP))
		return "begins with a call that cannot be moved";
	at = moved->code + moved->code_size;
	refused = put_copy(moved, i);
	/* ff /2 is a call, ff /4 a jump to the same place */
	if (refused == NULL)
		at[modrm] = (uint8_t)((at[modrm] & ~0x38) | 0x20);
	return refused;
}

static const char *put_branch(struct patch_plan_moved *moved, const cs_insn *i,
			      uint64_t target)
{
	const uint8_t *opcode = i->detail->x86.opcode;
	uint8_t code[6] = { 0x0f };

	if (i->id == X86_INS_JMP)
		return put_jump(moved, target) ? NULL : too_much;
	if (opcode[0] >= 0x70 && opcode[0] <= 0x7f)
		code[1] = opcode[0] + 0x10;
	else if (opcode[0] == 0x0f && (opcode[1] & 0xf0) == 0x80)
		code[1] = opcode[1];
	else
		return "begins with a loop";
	return put(moved, code, sizeof(code)) &&
		fix(moved, PATCH_FIX_RELATIVE, 0, target) ? NULL : too_much;
}

static const char *put_any(struct patch_plan_moved *moved, const cs_insn *i)
{
	uint64_t target;

	if (in_group(i, CS_GRP_CALL))
		return put_call(moved, i);
	if (leads_to(i, &target))
		return put_branch(moved, i, target);
	return put_copy(moved, i);
}

/*
 * Relocates the displaced instructions. Padding after a short function may be
 * overwritten.
 */
static const char *move_entry(struct reading *reading,
			      const struct patch_plan_function *f,
			      struct patch_plan_moved *moved)
{
	bool ended = false;

	while (reading->at - f->entry < PATCH_JUMP) {
		bool behind = reading->at >= f->end;
		const cs_insn *i = reading_next(reading);
		const char *refused;

		if (i == NULL)
			return behind ? "is shorter than a jump" : unreadable;
		if (reading->at > (behind ? f->limit : f->end) ||
		    (behind && (!ended || !is_padding(i))))
			return "is shorter than a jump";
		if (behind)
			continue;
		refused = put_any(moved, i);
		if (refused != NULL)
			return refused;
		ended = is_last(i);
		if (!in_group(i, CS_GRP_CALL))
			continue;
		if (reading->at - f->entry < PATCH_JUMP)
			return "begins with a call that cannot be moved";
		ended = true;
	}
	moved->displaced = (unsigned)(reading->at - f->entry);
	if (moved->displaced > PATCH_DISPLACED_MAX)
		return too_much;
	if (!ended && reading->at >= f->end)
		return "is shorter than a jump";
	if (!ended && !put_jump(moved, reading->at))
		return too_much;
	return NULL;
}

/* ---- branches into the displaced bytes ---- */

/* Possible jump tables, at most one per instruction. Most are strings, not
 * tables: hundreds in unoptimised code. */
struct tables {
	uint64_t *at;
	size_t count, capacity;
	bool jumps;		/* there is an indirect jump */
};

static void tables_note(struct tables *tables, uint64_t at)
{
	GROW(tables->at, tables->count, tables->capacity);
	tables->at[tables->count++] = at;
}

/* Notes possible tables: an indirect jump loads its target from one of them. */
static void tables_look(struct tables *tables,
			const struct patch_plan_memory *memory,
			const cs_insn *i)
{
	const cs_x86_op *op = memory_operand(i);
	uint64_t target;

	if (i->id == X86_INS_JMP && !leads_to(i, &target) &&
	    !is_relative(i, &target))
		tables->jumps = true;
	if (op == NULL)
		return;
	if (i->id == X86_INS_LEA && is_relative(i, &target) &&
	    !memory->is_code(memory, target))
		tables_note(tables, target);
	else if (op->mem.index != X86_REG_INVALID && op->mem.scale == 8 &&
		 op->mem.base == X86_REG_INVALID)
		tables_note(tables, (uint64_t)op->mem.disp);
}

static uint64_t little(const uint8_t *bytes, unsigned size)
{
	uint64_t value = 0;

	while (size-- > 0)
		value = value << 8 | bytes[size];
	return value;
}

/* Whether a table entry leads into [from, to). Entries have `width` bytes:
 * addresses, or distances from the table. */
static bool table_hits(const struct patch_plan_memory *memory, uint64_t table,
		       unsigned width, uint64_t from, uint64_t to)
{
	for (uint64_t n = 0; n < TABLE_ENTRIES; n++) {
		const uint8_t *bytes = memory->read(memory, table + n * width,
						    width, NULL);
		uint64_t target;

		if (bytes == NULL)
			return false;
		target = little(bytes, width);
		if (width == 4)
			target = table + (uint64_t)(int64_t)(int32_t)target;
		if (!memory->is_code(memory, target))
			return false;
		if (target >= from && target < to)
			return true;
	}
	return true;
}

static int by_address(const void *left, const void *right)
{
	uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;

	return a < b ? -1 : a > b;
}

static const char *check_tables(const struct patch_plan_memory *memory,
				const struct tables *tables, uint64_t from,
				uint64_t to)
{
	if (!tables->jumps || tables->count == 0)
		return NULL;
	qsort(tables->at, tables->count, sizeof(*tables->at), by_address);
	for (size_t n = 0; n < tables->count; n++)
		if (n > 0 && tables->at[n] == tables->at[n - 1])
			continue;
		else if (table_hits(memory, tables->at[n], 4, from, to) ||
			 table_hits(memory, tables->at[n], 8, from, to))
			return "has a jump table that leads to its beginning";
	return NULL;
}

static const char *check_branches(struct reading *reading,
				  const struct patch_plan_function *f,
				  const struct patch_plan_moved *moved)
{
	uint64_t from = f->entry + 1, to = f->entry + moved->displaced;
	struct tables tables = { .count = 0 };
	const char *refused = NULL;
	uint64_t target;

	reading->at = f->entry;
	while (refused == NULL && reading->at < f->end) {
		const cs_insn *i = reading_next(reading);

		if (i == NULL)
			refused = unreadable;
		else if (leads_to(i, &target) && target >= from && target < to)
			refused = "has a branch back to its beginning";
		else
			tables_look(&tables, reading->memory, i);
	}
	if (refused == NULL)
		refused = check_tables(reading->memory, &tables, from, to);
	free(tables.at);
	return refused;
}

const char *patch_plan_code_move(const struct patch_plan_memory *memory,
				 const struct patch_plan_function *function,
				 struct patch_plan_moved *moved)
{
	struct reading reading;
	const char *refused;

	memset(moved, 0, sizeof(*moved));
	if (!reading_begin(&reading, memory, function->entry))
		return "cannot be decoded: Capstone does not start";
	refused = move_entry(&reading, function, moved);
	if (refused == NULL)
		refused = check_branches(&reading, function, moved);
	reading_end(&reading);
	return refused;
}

/* ---- calls ---- */

uint64_t patch_plan_code_forwards(const struct patch_plan_memory *memory,
				  const struct patch_plan_function *function)
{
	struct reading reading;
	uint64_t target = 0;
	const cs_insn *i;

	if (!reading_begin(&reading, memory, function->entry))
		return 0;
	i = reading_next(&reading);
	if (i != NULL && i->id == X86_INS_ENDBR64)
		i = reading_next(&reading);
	if (i == NULL || i->id != X86_INS_JMP || !leads_to(i, &target))
		target = 0;
	reading_end(&reading);
	return target;
}

void patch_plan_code_calls(const struct patch_plan_memory *memory,
			   const struct patch_plan_function *function,
			   void (*visit)(void *data, uint64_t target),
			   void *data)
{
	struct reading reading;
	const cs_insn *i;
	uint64_t target;

	if (!reading_begin(&reading, memory, function->entry))
		return;
	while (reading.at < function->end &&
	       (i = reading_next(&reading)) != NULL)
		if (leads_to(i, &target) && (target < function->entry ||
					     target >= function->end))
			visit(data, target);
	reading_end(&reading);
}

/* Decodes from `from` on. Returns the start of the first instruction at or
 * after `at`, or of one that cannot be decoded. */
static uint64_t read_up_to(const struct patch_plan_memory *memory,
			   uint64_t from, uint64_t at)
{
	struct reading reading;

	if (!reading_begin(&reading, memory, from))
		return from;
	while (reading.at < at && reading_next(&reading) != NULL)
		;
	reading_end(&reading);
	return reading.at;
}

/*
 * For code that cannot be decoded from its symbol on, which may be millions of
 * bytes away, with an unknown instruction in between. Decoding from any address
 * soon synchronises with the real instructions. So it starts from several
 * addresses well before `at`. If none of these reaches `at`, and none fails
 * where it should be in step, no instruction begins there.
 */
static bool begins_near(const struct patch_plan_memory *memory, uint64_t from,
			uint64_t at)
{
	bool passed = false;

	for (uint64_t back = NEAR; back < NEAR + NEAR_TRIES; back++) {
		uint64_t end;

		if (at - from < back)
			return true;
		end = read_up_to(memory, at - back, at);
		if (end <= at && end > at - NEAR / 2)
			return true;
		passed |= end > at;
	}
	return !passed;
}

bool patch_plan_code_begins(const struct patch_plan_memory *memory,
			    uint64_t from, uint64_t at)
{
	uint64_t end = read_up_to(memory, from, at);

	return end < at ? begins_near(memory, from, at) : end == at;
}

struct outward {
	struct reading reading;
	uint64_t seen[CALL_FUNCTIONS];
	unsigned count;
};

static bool seen(struct outward *outward, uint64_t entry)
{
	for (unsigned n = 0; n < outward->count; n++)
		if (outward->seen[n] == entry)
			return true;
	if (outward->count < CALL_FUNCTIONS)
		outward->seen[outward->count++] = entry;
	return outward->count == CALL_FUNCTIONS;
}

/*
 * Checks code from `at` on. The end of called functions is unknown: the first
 * return counts. So indirect calls may be missed, and then registers are
 * preserved needlessly.
 */
static bool calls_out(struct outward *outward, uint64_t at, uint64_t end,
		      unsigned depth)
{
	struct reading *reading = &outward->reading;
	uint64_t targets[CALL_TARGETS], target;
	unsigned count = 0;
	const cs_insn *i;

	reading->at = at;
	while (reading->at < end && (i = reading_next(reading)) != NULL) {
		if (leads_to(i, &target)) {
			if ((target < at || target >= (depth > 0 ?
						reading->at : end)) &&
			    count < CALL_TARGETS)
				targets[count++] = target;
		} else if (i->id == X86_INS_JMP ||
			   in_group(i, CS_GRP_CALL)) {
			return true;
		}
		if (depth > 0 && is_last(i))
			break;
	}
	for (unsigned n = 0; depth < CALL_DEPTH && n < count; n++)
		if (!seen(outward, targets[n]) &&
		    calls_out(outward, targets[n], targets[n] + CALL_REACH,
			      depth + 1))
			return true;
	return false;
}

bool patch_plan_code_calls_out(const struct patch_plan_memory *memory,
			       const struct patch_plan_function *function)
{
	struct outward outward = { .count = 0 };
	bool out;

	if (!reading_begin(&outward.reading, memory, function->entry))
		return false;
	out = calls_out(&outward, function->entry, function->end, 0);
	reading_end(&outward.reading);
	return out;
}
