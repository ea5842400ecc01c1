/*
 * exidx.c: see exidx.h. Encodings: ARM IHI 0038, sections 6, 7 and 10.3.
 *
 *  I1  Every word is read by word_at, which knows the image's bounds.
 *  I2  A program is at most 255 words long, so everything ends.
 */
#include "unwind/base/assertion.h"
#include "unwind/rules/exidx.h"

#include <errno.h>

#define ENTRY_BYTES 8
#define CANTUNWIND 1u
#define COMPACT 0x80000000u	/* a program follows instead of a prel31 */
#define OFFSET_MAX (1 << 20)	/* largest change of vsp */
#define RA_MAX 127		/* of struct rule's ra */

static bool word_at(const struct exidx_image *image, uint32_t address,
		    uint32_t *word)
{
	const uint8_t *p;

	if (address < image->start || address >= image->end ||
	    image->end - address < 4)
		return false;
	p = image->bytes + (address - image->start);
	*word = (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 |
		(uint32_t)p[3] << 24;
	return true;
}

/* A place-relative offset of 31 bits. */
static uint32_t prel31(uint32_t word, uint32_t place)
{
	return place + (word << 1 & 0x80000000u) + (word & 0x7fffffffu);
}

/* ---- the index ---- */

static uint32_t count_of(const struct exidx_image *image)
{
	if (image->index < image->start || image->index_end > image->end ||
	    image->index_end < image->index)
		return 0;
	return (image->index_end - image->index) / ENTRY_BYTES;
}

static bool function_at(const struct exidx_image *image, uint32_t i,
			uint32_t *start)
{
	uint32_t place = image->index + i * ENTRY_BYTES, word;

	if (!word_at(image, place, &word) || word & COMPACT)
		return false;
	*start = prel31(word, place) & ~1u;	/* of Thumb code */
	return true;
}

/* In .ARM.extab. */
static int long_program(struct exidx_entry *entry, uint32_t place)
{
	struct exidx_program *program = &entry->program;
	uint32_t word, extra = 0;

	if (!word_at(program->image, place, &word))
		return -EINVAL;
	if (!(word & COMPACT)) {	/* a language's own personality
					 * routine */
		entry->personality = EXIDX_GENERIC;
		place += 4;
		if (!word_at(program->image, place, &word))
			return -EINVAL;
		extra = word >> 24;
		program->at = 1;
	} else {
		entry->personality = word >> 24 & 0x7f;
		if (entry->personality > 2)
			return -EINVAL;
		if (entry->personality > 0)
			extra = word >> 16 & 0xff;
		program->at = entry->personality > 0 ? 2 : 1;
	}
	program->words = place;
	program->end = 4 + 4 * extra;
	DEBUG_ASSERT(program->at < program->end && program->end <= 4 + 4 * 255);
	return 0;
}

static int read_entry(const struct exidx_image *image, uint32_t i,
		      struct exidx_entry *entry)
{
	uint32_t place = image->index + i * ENTRY_BYTES + 4, word;

	*entry = (struct exidx_entry){ .program.image = image };
	if (!function_at(image, i, &entry->start) ||
	    !word_at(image, place, &word))
		return -EINVAL;
	entry->end = image->end;
	if (i + 1 < count_of(image) && !function_at(image, i + 1, &entry->end))
		return -EINVAL;
	if (word == CANTUNWIND) {
		entry->cannot = true;
		return 0;
	}
	if (!(word & COMPACT))
		return long_program(entry, prel31(word, place));
	if (word >> 24 != 0x80)
		return -EINVAL;		/* only personality 0 is inline */
	entry->program.words = place;
	entry->program.at = 1;
	entry->program.end = 4;
	return 0;
}

int exidx_at(const struct exidx_image *image, uint32_t i,
	     struct exidx_entry *entry)
{
	if (i >= count_of(image))
		return -ENOENT;
	return read_entry(image, i, entry);
}

int exidx_find(const struct exidx_image *image, uint32_t pc,
	       struct exidx_entry *entry)
{
	uint32_t low = 0, high = count_of(image);

	while (low < high) {
		uint32_t middle = low + (high - low) / 2, start;

		if (!function_at(image, middle, &start))
			return -EINVAL;
		if (start <= pc)
			low = middle + 1;
		else
			high = middle;
	}
	DEBUG_ASSERT(low == high && low <= count_of(image));
	if (low == 0)
		return -ENOENT;
	return read_entry(image, low - 1, entry);
}

/* ---- programs ---- */

/* Reads the next byte; a word's most significant byte comes first. False: there
 * are no more. */
static bool next_byte(struct exidx_program *program, uint32_t *byte)
{
	uint32_t word;

	if (program->at >= program->end ||
	    !word_at(program->image, program->words + (program->at & ~3u),
		     &word))
		return false;
	DEBUG_ASSERT(program->end <= 4 + 4 * 255);	/* I2 */
	*byte = word >> (24 - 8 * (program->at & 3)) & 0xff;
	program->at++;
	return true;
}

static int add(struct exidx_op *op, int32_t amount)
{
	op->kind = EXIDX_ADD;
	DEBUG_ASSERT(amount % 4 == 0);
	op->amount = amount;
	return 0;
}

static int skip(struct exidx_op *op, uint32_t count, int32_t size,
		int32_t more)
{
	DEBUG_ASSERT(count > 0);
	op->kind = EXIDX_SKIP;
	op->amount = (int32_t)count * size + more;
	return 0;
}

static int pop(struct exidx_op *op, uint32_t mask)
{
	DEBUG_ASSERT(mask && mask <= UINT16_MAX);
	op->kind = EXIDX_POP;
	op->mask = (uint16_t)mask;
	return 0;
}

/* 10110010: 0x204 and four times an ULEB128. */
static int add_large(struct exidx_program *program, struct exidx_op *op)
{
	uint32_t value = 0, byte = 0x80;

	for (unsigned shift = 0; byte & 0x80; shift += 7) {
		if (shift > 14 || !next_byte(program, &byte))
			return -EINVAL;
		value |= (byte & 0x7f) << shift;
	}
	return add(op, (int32_t)(0x204 + (value << 2)));
}

/* The operand byte: first register and count minus one; 8 bytes each. */
static int skip_range(struct exidx_program *program, struct exidx_op *op,
		      uint32_t registers, int32_t more)
{
	uint32_t byte;

	if (!next_byte(program, &byte) ||
	    (byte >> 4) + (byte & 15) >= registers)
		return -EINVAL;
	op->vector = (uint8_t)(byte >> 4);
	op->vectors = (uint8_t)((byte & 15) + 1);
	return skip(op, op->vectors, 8, more);
}

/* d8 and following; the lowest three bits are the count minus one. */
static int skip_eighth(struct exidx_op *op, uint32_t byte, int32_t more)
{
	op->vector = EXIDX_VECTORS;
	op->vectors = (uint8_t)((byte & 7) + 1);
	return skip(op, op->vectors, 8, more);
}

/* The operand byte: a mask of four bits, not empty. */
static int pop_low(struct exidx_program *program, uint32_t *mask)
{
	if (!next_byte(program, mask) || *mask == 0 || *mask > 15)
		return -EINVAL;
	return 0;
}

/* 1011xxxx */
static int next_special(struct exidx_program *program, uint32_t byte,
			struct exidx_op *op)
{
	uint32_t mask;

	if (byte >= 0xb8)	/* stored by FSTMFDX, which takes another
				 * word */
		return skip_eighth(op, byte, 4);
	switch (byte) {
	case 0xb0:
		op->kind = EXIDX_FINISH;
		return 0;
	case 0xb1:
		return pop_low(program, &mask) ? -EINVAL : pop(op, mask);
	case 0xb2:
		return add_large(program, op);
	case 0xb3:
		return skip_range(program, op, 16, 4);
	case 0xb4:		/* lr's authentication code */
		return skip(op, 1, 4, 0);
	case 0xb5:		/* vsp is the modifier of the authentication */
		return add(op, 0);
	}
	return -EINVAL;
}

/* 11xxxxxx: registers of coprocessors */
static int next_coprocessor(struct exidx_program *program, uint32_t byte,
			    struct exidx_op *op)
{
	uint32_t mask, count = 0;
	int error;

	if (byte <= 0xc5)
		return skip(op, (byte & 7) + 1, 8, 0);
	if (byte >= 0xd0 && byte <= 0xd7)
		return skip_eighth(op, byte, 0);
	switch (byte) {
	case 0xc6:	/* iWMMXt registers */
		error = skip_range(program, op, 16, 0);
		op->vectors = 0;
		return error;
	case 0xc8:	/* from d16 on */
		error = skip_range(program, op, 16, 0);
		op->vector = (uint8_t)(op->vector + 16);
		return error;
	case 0xc9:
		return skip_range(program, op, 16, 0);
	case 0xc7:
		if (pop_low(program, &mask))
			return -EINVAL;
		/* a popcount builtin may call libgcc */
		for (; mask; mask &= mask - 1)
			count++;
		return skip(op, count, 4, 0);
	}
	return -EINVAL;
}

int exidx_next(struct exidx_program *program, struct exidx_op *op)
{
	uint32_t byte, second;

	*op = (struct exidx_op){ .kind = EXIDX_FINISH };
	if (program->at >= program->end)
		return 0;
	if (!next_byte(program, &byte))
		return -EINVAL;
	if (byte < 0x40)
		return add(op, (int32_t)(byte << 2) + 4);
	if (byte < 0x80)
		return add(op, -(int32_t)((byte & 0x3f) << 2) - 4);
	if (byte < 0x90) {
		if (!next_byte(program, &second))
			return -EINVAL;
		if (byte == 0x80 && second == 0)
			op->kind = EXIDX_REFUSE;
		else
			pop(op, ((byte & 15) << 8 | second) << 4);
		return 0;
	}
	if (byte < 0xa0) {
		op->kind = EXIDX_SET;
		op->amount = (int32_t)(byte & 15);
		return op->amount == EXIDX_SP || op->amount == EXIDX_PC ?
			-EINVAL : 0;
	}
	if (byte < 0xb0)
		return pop(op, ((2u << (4 + (byte & 7))) - 16) |
			   (byte & 8 ? 1u << EXIDX_LR : 0));
	return byte < 0xc0 ? next_special(program, byte, op) :
		next_coprocessor(program, byte, op);
}

/* ---- whole frames ---- */

/* Invariant: vsp = base + cfa_off; offsets are relative to base until the
 * end. */
static void frame_pop(struct exidx_frame *frame, uint16_t mask)
{
	DEBUG_ASSERT(frame->cfa_off % 4 == 0);
	for (unsigned i = 0; i < EXIDX_REGISTERS; i++) {
		if (!(mask >> i & 1))
			continue;
		frame->at[i] = (int16_t)frame->cfa_off;
		frame->cfa_off += 4;
	}
	frame->saved |= mask;
	if (mask >> EXIDX_SP & 1)
		frame->complex = true;
}

/* Double registers lie one after another, the lowest first. */
static void frame_skip(struct exidx_frame *frame, const struct exidx_op *op)
{
	for (unsigned i = 0; i < op->vectors; i++) {
		unsigned saved = op->vector + i - EXIDX_VECTORS;

		if (saved >= EXIDX_VECTORS)
			continue;
		frame->vectors |= (uint8_t)(1u << saved);
		frame->vector_at[saved] = (int16_t)(frame->cfa_off + 8 * (int)i);
	}
	frame->cfa_off += op->amount;
}

int exidx_frame(const struct exidx_entry *entry, struct exidx_frame *frame)
{
	struct exidx_program program = entry->program;
	struct exidx_op op;
	int error;

	*frame = (struct exidx_frame){ .base = EXIDX_SP };
	if (entry->cannot)
		return 1;
	while ((error = exidx_next(&program, &op)) == 0 &&
	       op.kind != EXIDX_FINISH) {
		if (op.kind == EXIDX_REFUSE)
			return 1;
		if (op.kind == EXIDX_POP) {
			frame_pop(frame, op.mask);
		} else if (op.kind == EXIDX_SET) {
			frame->complex |= frame->saved != 0 ||
					  frame->vectors != 0;
			frame->base = (uint8_t)op.amount;
			frame->cfa_off = 0;
		} else {
			frame_skip(frame, &op);
		}
		if (frame->cfa_off > INT16_MAX || frame->cfa_off < INT16_MIN)
			frame->complex = true;
		if (frame->cfa_off > OFFSET_MAX ||
		    frame->cfa_off < -OFFSET_MAX)
			return -EINVAL;
	}
	for (unsigned i = 0; i < EXIDX_REGISTERS; i++)
		if (frame->saved >> i & 1)
			frame->at[i] -= (int16_t)frame->cfa_off;
	for (unsigned i = 0; i < EXIDX_VECTORS; i++)
		if (frame->vectors >> i & 1)
			frame->vector_at[i] -= (int16_t)frame->cfa_off;
	return error;
}

struct rule exidx_rule(const struct exidx_entry *entry, unsigned fp)
{
	struct exidx_frame frame;
	struct rule rule = { .kind = RULE_COMPLEX };
	int error = exidx_frame(entry, &frame);
	unsigned pc = frame.saved >> EXIDX_PC & 1 ? EXIDX_PC : EXIDX_LR;

	if (error != 0) {
		rule.kind = error > 0 ? RULE_END : RULE_BAD;
		return rule;
	}
	if (frame.complex || !(frame.saved >> pc & 1) || frame.at[pc] > -4 ||
	    frame.at[pc] < -4 * (RA_MAX + 1) || (frame.base != EXIDX_SP && frame.base != fp))
		return rule;
	rule.kind = RULE_FRAME;
	rule.base = frame.base == EXIDX_SP ? RULE_BASE_SP : RULE_BASE_FP;
	rule.cfa_off = frame.cfa_off;
	rule.ra = (unsigned)(-frame.at[pc] / 4 - 1) & RA_MAX;
	DEBUG_ASSERT(frame.at[pc] % 4 == 0 && frame.at[fp] % 4 == 0);
	if (frame.saved >> fp & 1)
		rule.fp_off = (int16_t)(frame.at[fp] / 4);
	return rule;
}

/* ---- one step with register values ---- */

static int step_pop(uint32_t regs[EXIDX_REGISTERS], uint16_t mask,
		    uint32_t *vsp,
		    bool (*read)(void *ctx, uint32_t address, uint32_t *value),
		    void *ctx)
{
	for (unsigned i = 0; i < EXIDX_REGISTERS; i++) {
		if (!(mask >> i & 1))
			continue;
		if (!read(ctx, *vsp, &regs[i]))
			return -EFAULT;
		*vsp += 4;
	}
	if (mask >> EXIDX_SP & 1)
		*vsp = regs[EXIDX_SP];
	return 0;
}

int exidx_step(const struct exidx_entry *entry,
	       uint32_t regs[EXIDX_REGISTERS],
	       bool (*read)(void *ctx, uint32_t address, uint32_t *value),
	       void *ctx)
{
	struct exidx_program program = entry->program;
	uint32_t vsp = regs[EXIDX_SP];
	bool has_pc = false;
	struct exidx_op op;
	int error;

	if (entry->cannot)
		return 1;
	while ((error = exidx_next(&program, &op)) == 0 &&
	       op.kind != EXIDX_FINISH) {
		if (op.kind == EXIDX_REFUSE)
			return 1;
		if (op.kind == EXIDX_SET)
			vsp = regs[op.amount];
		else if (op.kind != EXIDX_POP)
			vsp += (uint32_t)op.amount;
		else if (step_pop(regs, op.mask, &vsp, read, ctx))
			return -EFAULT;
		has_pc |= op.kind == EXIDX_POP && op.mask >> EXIDX_PC & 1;
	}
	regs[EXIDX_SP] = vsp;
	if (!has_pc)
		regs[EXIDX_PC] = regs[EXIDX_LR];
	return error;
}
