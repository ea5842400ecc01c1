/*
 * decode.h (ARM): decodes the effect of instructions on a frame
 * (arch/operation.h): ARM code here, Thumb code in thumb.h (Arm Architecture
 * Reference Manual, ARMv7-A, A5 and A6). Compilers emit no unwind tables for
 * plain C.
 *
 * Return addresses have lost the Thumb bit, but the call before them shows the
 * kind of code.
 */
#ifndef GNOMON_ARCH_DECODE_H
#define GNOMON_ARCH_DECODE_H

#include "arch/operation.h"
#include "calls.h"
#include "regs.h"
#include "thumb.h"

#define ARCH_DECODES 1

/* ARM code uses r11 as its frame pointer. */
#define ARCH_FRAME_BASES                                                     \
	(UINT32_C(1) << ARCH_REG_SP | UINT32_C(1) << ARCH_REG_FP |           \
	 UINT32_C(1) << 11)

/* Whether these words are ARM instructions that are always executed: their
 * highest bits are 1110. */
static inline bool arm_looks_so(uintptr_t pc)
{
	const uint32_t *word = (const uint32_t *)pc;

	return word[0] >> 28 == 0xe && word[1] >> 28 == 0xe &&
	       word[2] >> 28 == 0xe;
}

/* The distance of a call's target in bytes, if the two half-words are read as
 * an ARM or a Thumb call. */
static inline uint32_t arm_call_bytes(uint32_t word)
{
	int32_t bytes = (int32_t)(word << 8) >> 6;

	return (uint32_t)(bytes < 0 ? -bytes : bytes);
}

static inline uint32_t thumb_call_bytes(uint16_t first, uint16_t second)
{
	int32_t bytes = thumb_distance((uint32_t)first << 16 | second);

	return (uint32_t)(bytes < 0 ? -bytes : bytes);
}

/* THUMB_MODE, or 0. At a pc that a signal interrupted, the surrounding code
 * decides. If the bytes are a call in both kinds of code, the nearer target is
 * right: the other reading gives a random one. */
static inline unsigned arch_code_mode(uintptr_t pc, bool exact)
{
	const uint16_t *half = (const uint16_t *)pc;
	uint32_t word;

	if (pc % 4)
		return THUMB_MODE;
	if (exact)
		return arm_looks_so(pc) ? 0 : THUMB_MODE;
	word = half[-2] | (uint32_t)half[-1] << 16;
	if (!arch_after_thumb_call(half[-2], half[-1]))
		return 0;
	if (!arch_after_arm_call(word))
		return THUMB_MODE;
	return arm_call_bytes(word) < thumb_call_bytes(half[-2], half[-1]) ?
		       0 : THUMB_MODE;
}

/* An offset that is added, or subtracted. */
static inline int32_t arm_signed(uint32_t word, uint32_t number)
{
	return word >> 23 & 1 ? (int32_t)number : -(int32_t)number;
}

/* Bits 24 and 21: the base register changes before the access, after it, or
 * not. */
static inline void arm_index(uint32_t word, int32_t offset,
			     struct arch_operation *o)
{
	bool before = word >> 24 & 1;

	o->a = word >> 16 & 15;
	o->value = before ? offset : 0;
	o->step = !before || word >> 21 & 1 ? offset : 0;
}

/* A word or a pair of words at a register plus offset. */
static inline void arm_words(uint32_t word, bool loads, uint64_t mask,
			     int32_t offset, struct arch_operation *o)
{
	o->kind = loads ? ARCH_OP_LOAD : ARCH_OP_STORE;
	o->mask = mask;
	arm_index(word, offset, o);
	if (o->a == ARCH_REG_PC) {
		o->kind = ARCH_OP_OTHER;
		o->mask = loads ? mask : 0;
		o->step = 0;
		if (mask >> ARCH_REG_PC & 1)
			thumb_switch(o);
	}
}

/* LDM, STM. */
static inline void arm_multiple(uint32_t word, struct arch_operation *o)
{
	uint64_t mask = word & 0xffff;
	int32_t bytes = 4 * __builtin_popcountll(mask);
	bool before = word >> 24 & 1, up = word >> 23 & 1;

	if (word >> 22 & 1 || !mask) {	/* registers of another processor
					 * mode */
		o->kind = ARCH_OP_END;
		return;
	}
	o->kind = word >> 20 & 1 ? ARCH_OP_LOAD : ARCH_OP_STORE;
	o->mask = mask;
	o->a = word >> 16 & 15;
	o->value = up ? (before ? 4 : 0) : (before ? -bytes : 4 - bytes);
	o->step = word >> 21 & 1 ? (up ? bytes : -bytes) : 0;
}

/* LDR, STR and their byte variants. known: the offset is an immediate. */
static inline void arm_single(uint32_t word, bool known,
			      struct arch_operation *o)
{
	unsigned t = word >> 12 & 15, n = word >> 16 & 15;
	bool loads = word >> 20 & 1, bytes = word >> 22 & 1;
	bool changes = !(word >> 24 & 1) || word >> 21 & 1;

	if (known && !bytes) {
		arm_words(word, loads, UINT64_C(1) << t,
			  arm_signed(word, word & 0xfff), o);
		return;
	}
	if (loads && t == ARCH_REG_PC) {
		thumb_switch(o);
		return;
	}
	if (known && !loads && changes) {
		thumb_add(o, n, n, arm_signed(word, word & 0xfff));
		return;
	}
	o->mask = (loads ? UINT64_C(1) << t : 0) |
		  (changes ? UINT64_C(1) << n : 0);
}

/* Half-words and register pairs. */
static inline void arm_extra(uint32_t word, struct arch_operation *o)
{
	unsigned t = word >> 12 & 15, n = word >> 16 & 15;
	unsigned what = word >> 5 & 3;
	bool loads = word >> 20 & 1 || what == 2;
	bool pair = !(word >> 20 & 1) && what >= 2;
	bool changes = !(word >> 24 & 1) || word >> 21 & 1;
	int32_t offset = arm_signed(word, (word >> 4 & 0xf0) | (word & 15));

	if (pair && word >> 22 & 1 && t % 2 == 0) {
		arm_words(word, loads, UINT64_C(3) << t, offset, o);
		return;
	}
	o->mask = (loads ? (uint64_t)(pair ? 3 : 1) << t : 0) |
		  (changes ? UINT64_C(1) << n : 0);
}

/* Multiplications and exclusive accesses. */
static inline void arm_multiply(uint32_t word, struct arch_operation *o)
{
	unsigned high = word >> 16 & 15, low = word >> 12 & 15;

	if (!(word >> 24 & 1))
		o->mask = UINT64_C(1) << high |
			  (word >> 23 & 1 ? UINT64_C(1) << low : 0);
	else
		o->mask = UINT64_C(3) << low;	/* ldrexd has two */
	if (word >> 24 & 1 && (word >> 20 & 15) != 11)
		o->mask = UINT64_C(1) << low;
}

/* The encodings of comparisons that set no flags. */
static inline void arm_miscellaneous(uint32_t word, struct arch_operation *o)
{
	if ((word & 0x00ffffd0) == 0x002fff10) {	/* bx, blx */
		o->kind = word & 0x20 ? ARCH_OP_CALL : ARCH_OP_LEAVE;
		o->a = word & 15;
	} else if ((word & 0x00f000f0) == 0x00200070) {	/* bkpt */
		o->kind = ARCH_OP_END;
	} else if (word >> 7 & 1) {		/* multiplications of
						 * half-words */
		o->mask = UINT64_C(1) << (word >> 16 & 15) |
			  ((word >> 21 & 3) == 2 ?
				   UINT64_C(1) << (word >> 12 & 15) : 0);
	} else if ((word & 0x002000f0) != 0x00200000) {	/* not msr */
		o->mask = UINT64_C(1) << (word >> 12 & 15);
	}
}

/* d = a + immediate, d = a + b, and similar. */
static inline void arm_arithmetic(uint32_t word, struct arch_operation *o)
{
	unsigned what = word >> 21 & 15, d = word >> 12 & 15;
	unsigned n = word >> 16 & 15, turn = word >> 7 & 30;
	uint32_t number = word & 0xff;
	bool immediate = word >> 25 & 1, plain = !(word & 0xff0);

	if (turn)
		number = number >> turn | number << (32 - turn);
	if (what >= 8 && what < 12)	/* comparisons */
		return;
	o->mask = UINT64_C(1) << d;
	if (what == 13 && !immediate && plain)
		thumb_add(o, d, word & 15, 0);
	else if ((what == 13 || what == 15) && immediate)
		thumb_set(o, d, what == 13 ? number : ~number);
	else if ((what == 4 || what == 2) && immediate)
		thumb_add(o, d, n, what == 4 ? (int64_t)number :
					       -(int64_t)number);
	else if ((what == 4 || what == 2) && plain)
		thumb_sum(o, what == 2, d, n, word & 15);
	else if (d == ARCH_REG_PC)
		thumb_switch(o);
}

static inline void arm_registers(uint32_t word, struct arch_operation *o)
{
	bool immediate = word >> 25 & 1;

	if (!immediate && (word & 0x90) == 0x90) {
		if (word & 0x60)
			arm_extra(word, o);
		else
			arm_multiply(word, o);
	} else if ((word & 0x01900000) != 0x01000000) {
		arm_arithmetic(word, o);
	} else if (!immediate) {
		arm_miscellaneous(word, o);
	} else if ((word & 0x00f00000) == 0) {		/* movw */
		thumb_set(o, word >> 12 & 15,
			  (word >> 4 & 0xf000) | (word & 0xfff));
	} else if ((word & 0x00f00000) == 0x00400000) {	/* movt */
		o->mask = UINT64_C(1) << (word >> 12 & 15);
	}
}

/* Parallel additions, bit fields, divisions. */
static inline void arm_media(uint32_t word, struct arch_operation *o)
{
	unsigned what = word >> 20 & 0x1f;

	o->mask = UINT64_C(1) << (what >= 0x10 && what < 0x1a ?
					  word >> 16 & 15 : word >> 12 & 15);
	if (what == 0x14)
		o->mask |= UINT64_C(1) << (word >> 12 & 15);
	if ((word & 0x01f000f0) == 0x01f000f0)
		o->kind = ARCH_OP_END;
}

static inline void arm_branch(uint32_t word, uintptr_t pc,
			      struct arch_operation *o)
{
	bool always = word >> 28 == 0xe;

	o->target = pc + 8 + (uintptr_t)((int32_t)(word << 8) >> 6);
	o->kind = word >> 24 & 1 ? ARCH_OP_CALL :
		  always ? ARCH_OP_JUMP : ARCH_OP_BRANCH;
	if (o->kind == ARCH_OP_BRANCH)
		o->conditional = false;
}

/* The unconditional instructions (condition 1111). */
static inline void arm_always(uint32_t word, struct arch_operation *o)
{
	if ((word >> 25 & 7) == 5)
		o->kind = ARCH_OP_CALL;
	else if ((word & 0x0f100000) == 0x04000000 && (word & 15) != 15)
		o->mask = UINT64_C(1) << (word >> 16 & 15);
	else if ((word >> 25 & 7) == 4)
		o->kind = ARCH_OP_END;
	else if ((word >> 25 & 7) >= 6)
		thumb_coprocessor(word, o);
}

static inline void arm_decode(uint32_t word, uintptr_t pc,
			      struct arch_operation *o)
{
	o->conditional = word >> 28 < 0xe;
	switch (word >> 28 == 0xf ? 8 : word >> 25 & 7) {
	case 0:
	case 1:
		arm_registers(word, o);
		break;
	case 2:
		arm_single(word, true, o);
		break;
	case 3:
		if (word & 0x10)
			arm_media(word, o);
		else
			arm_single(word, false, o);
		break;
	case 4:
		arm_multiple(word, o);
		break;
	case 5:
		arm_branch(word, pc, o);
		break;
	case 8:
		arm_always(word, o);
		break;
	default:
		thumb_coprocessor(word, o);
	}
}

/*
 * Decodes the instruction at `code`, of which `room` bytes are readable. On
 * entry *o is zero except for its kind, ARCH_OP_END. *mode: from
 * arch_code_mode; thumb.h keeps its state there.
 */
static inline void arch_decode(const void *code, size_t room, unsigned *mode,
			       struct arch_operation *o)
{
	const uint16_t *half = code;

	if (room < 2 || (uintptr_t)code % 2)
		return;
	if (*mode & THUMB_MODE) {
		if (half[0] < 0xe800 || room >= 4)
			thumb_decode(half, room, mode, o);
		return;
	}
	if (room < 4 || (uintptr_t)code % 4)
		return;
	o->size = 4;
	o->kind = ARCH_OP_OTHER;
	arm_decode(half[0] | (uint32_t)half[1] << 16, (uintptr_t)code, o);
}

#endif
