/*
 * thumb.h (ARM): decodes Thumb instructions, see decode.h; and helpers for both
 * kinds of code.
 *
 * The mode holds state for the following instructions:
 *
 *	31         16 15       8        0
 *	+------------+----------+--+----+
 *	|  compared  | IT block |  |mode|
 *	+------------+----------+--+----+
 *
 * IT block: ITSTATE. compared: one more than the last immediate of a
 * comparison, which is the number of entries of a switch's table behind the
 * switch.
 */
#ifndef GNOMON_ARCH_THUMB_H
#define GNOMON_ARCH_THUMB_H

#include "arch/operation.h"
#include "regs.h"

#define THUMB_MODE 1u
#define THUMB_IT_SHIFT 8
#define THUMB_COMPARED_SHIFT 16
#define THUMB_TABLE_MAX 250	/* bytes of a table, so that its size fits into
				 * `size` */

/* A jump to unknown targets: a switch. */
static inline void thumb_switch(struct arch_operation *o)
{
	o->kind = ARCH_OP_LEAVE;
	o->mask = 0;
	o->a = ARCH_REG_PC;
}

/* Writes d; a jump if d is the pc. */
static inline void thumb_writes(struct arch_operation *o, unsigned d)
{
	o->mask = UINT64_C(1) << d;
	if (d == ARCH_REG_PC)
		thumb_switch(o);
}

static inline void thumb_set(struct arch_operation *o, unsigned d,
			     uint32_t value)
{
	thumb_writes(o, d);
	if (o->kind == ARCH_OP_LEAVE)
		return;
	o->kind = ARCH_OP_SET;
	o->d = (uint8_t)d;
	o->value = (int32_t)value;
}

/* d = a + value. */
static inline void thumb_add(struct arch_operation *o, unsigned d, unsigned a,
			     int64_t value)
{
	thumb_writes(o, d);
	if (o->kind == ARCH_OP_LEAVE && value == 0)
		o->a = (uint8_t)a;
	if (o->kind == ARCH_OP_LEAVE || a == ARCH_REG_PC)
		return;
	o->kind = ARCH_OP_ADD;
	o->d = (uint8_t)d;
	o->a = (uint8_t)a;
	o->value = value;
}

static inline void thumb_sum(struct arch_operation *o, bool minus, unsigned d,
			     unsigned a, unsigned b)
{
	thumb_writes(o, d);
	if (o->kind == ARCH_OP_LEAVE || a == ARCH_REG_PC || b == ARCH_REG_PC)
		return;
	o->kind = minus ? ARCH_OP_DIFFERENCE : ARCH_OP_SUM;
	o->d = (uint8_t)d;
	o->a = (uint8_t)a;
	o->b = (uint8_t)b;
}

/* Loads or stores the registers of `mask` as words. */
static inline void thumb_words(struct arch_operation *o, bool loads,
			       uint64_t mask, unsigned a, int32_t value,
			       int32_t step)
{
	o->kind = loads ? ARCH_OP_LOAD : ARCH_OP_STORE;
	o->mask = mask;
	o->a = (uint8_t)a;
	o->value = value;
	o->step = step;
}

/* Coprocessor instructions are the same in both kinds of code: vpush and
 * similar change the stack pointer; others write core registers. */
static inline void thumb_coprocessor(uint32_t word, struct arch_operation *o)
{
	unsigned a = word >> 16 & 15, t = word >> 12 & 15;
	int32_t bytes = (int32_t)(word & 0xff) * 4;
	bool loads = word >> 20 & 1;

	if ((word & 0x0f000000) == 0x0f000000) {
		o->mask = 1;		/* svc: the result */
	} else if ((word & 0x0fe00000) == 0x0c400000) {
		o->mask = loads ? UINT64_C(1) << a | UINT64_C(1) << t : 0;
	} else if ((word & 0x0e000000) == 0x0c000000) {
		if (word >> 21 & 1)
			thumb_add(o, a, a, word >> 23 & 1 ? bytes : -bytes);
	} else if (loads && word & 0x10 && t != ARCH_REG_PC) {
		o->mask = UINT64_C(1) << t;
	}
}

/* ---- of 16 bits ---- */

/* 00: shifts, additions and comparisons with immediates. */
static inline void thumb_numbers(uint16_t half, unsigned *mode,
				 struct arch_operation *o)
{
	unsigned d = half & 7, a = half >> 3 & 7, wide = half >> 8 & 7;
	int64_t number = half & 0xff;

	switch (half >> 11) {
	case 3:			/* with registers or small immediates */
		o->mask = UINT64_C(1) << d;
		number = half >> 6 & 7;
		if (half & 0x400)
			thumb_add(o, d, a, half & 0x200 ? -number : number);
		break;
	case 4:
		thumb_set(o, wide, (uint32_t)number);
		break;
	case 5:			/* cmp */
		*mode = (*mode & UINT16_MAX) |
			(unsigned)(number + 1) << THUMB_COMPARED_SHIFT;
		break;
	case 6:
	case 7:
		thumb_add(o, wide, wide, half & 0x800 ? -number : number);
		break;
	default:
		o->mask = UINT64_C(1) << d;
		if (!(half & 0x7c0) && half >> 11 == 0)
			thumb_add(o, d, a, 0);
	}
}

/* 010000 and 010001: between registers; the latter with all sixteen. */
static inline void thumb_registers(uint16_t half, struct arch_operation *o)
{
	unsigned d = (half & 7) | (half >> 4 & 8), m = half >> 3 & 15;
	unsigned what = half >> 6 & 15;

	if (half < 0x4400) {
		if (what != 8 && what != 10 && what != 11)
			o->mask = UINT64_C(1) << (half & 7);
	} else if (half < 0x4500) {
		thumb_sum(o, false, d, d, m);
	} else if (half >= 0x4700) {
		o->kind = half & 0x80 ? ARCH_OP_CALL : ARCH_OP_LEAVE;
		o->a = (uint8_t)m;
	} else if (half >= 0x4600) {
		thumb_add(o, d, m, 0);
	}
}

/* 01001 to 1001: loads and stores. */
static inline void thumb_memory(uint16_t half, struct arch_operation *o)
{
	unsigned t = half & 7, a = half >> 3 & 7, wide = half >> 8 & 7;
	bool loads = half & 0x800;

	if (half < 0x5000) {
		o->mask = UINT64_C(1) << wide;
	} else if (half < 0x6000) {
		o->mask = (half >> 9 & 7) >= 3 ? UINT64_C(1) << t : 0;
	} else if (half < 0x7000) {
		thumb_words(o, loads, UINT64_C(1) << t, a,
			    4 * (half >> 6 & 31), 0);
	} else if (half < 0x9000) {
		o->mask = loads ? UINT64_C(1) << t : 0;
	} else {
		thumb_words(o, loads, UINT64_C(1) << wide, ARCH_REG_SP,
			    4 * (half & 0xff), 0);
	}
}

/* 1011, except IT. */
static inline void thumb_miscellaneous(uint16_t half, uintptr_t pc,
				       struct arch_operation *o)
{
	uint64_t mask = half & 0xff;
	int32_t bytes = 4 * __builtin_popcount(half & 0x1ff);

	if ((half & 0xff00) == 0xb000) {
		bytes = 4 * (half & 0x7f);
		thumb_add(o, ARCH_REG_SP, ARCH_REG_SP,
			  half & 0x80 ? -bytes : bytes);
	} else if ((half & 0xf500) == 0xb100) {		/* cbz, cbnz */
		o->kind = ARCH_OP_BRANCH;
		o->target = pc + 4 + (half >> 2 & 0x3e) + (half >> 3 & 0x40);
	} else if ((half & 0xfe00) == 0xb400) {
		mask |= half & 0x100 ? UINT64_C(1) << ARCH_REG_LR : 0;
		thumb_words(o, false, mask, ARCH_REG_SP, -bytes, -bytes);
	} else if ((half & 0xfe00) == 0xbc00) {
		mask |= half & 0x100 ? UINT64_C(1) << ARCH_REG_PC : 0;
		thumb_words(o, true, mask, ARCH_REG_SP, 0, bytes);
	} else if ((half & 0xff00) == 0xbe00) {
		o->kind = ARCH_OP_END;
	} else if ((half & 0xff00) == 0xb200 || (half & 0xff00) == 0xba00) {
		o->mask = UINT64_C(1) << (half & 7);
	}
}

static inline void thumb_branch(uint16_t half, uintptr_t pc,
				struct arch_operation *o)
{
	unsigned condition = half >> 8 & 15;

	if (half >= 0xe000) {
		o->kind = ARCH_OP_JUMP;
		o->target = pc + 4 +
			    (uintptr_t)((int32_t)((uint32_t)half << 21) >> 20);
	} else if (condition == 14) {
		o->kind = ARCH_OP_END;
	} else if (condition == 15) {
		o->mask = 1;
	} else {
		o->kind = ARCH_OP_BRANCH;
		o->target = pc + 4 +
			    (uintptr_t)((int32_t)((uint32_t)half << 24) >> 23);
	}
}

static inline void thumb_short(uint16_t half, uintptr_t pc, unsigned *mode,
			       struct arch_operation *o)
{
	unsigned wide = half >> 8 & 7;
	uint64_t mask = half & 0xff;
	int32_t bytes = 4 * __builtin_popcountll(mask);
	bool loads = half & 0x800;

	switch (half >> 12) {
	case 0 ... 3:
		thumb_numbers(half, mode, o);
		break;
	case 4:
		if (half < 0x4800) {
			thumb_registers(half, o);
			break;
		}
		/* fall through */
	case 5 ... 9:
		thumb_memory(half, o);
		break;
	case 10:
		o->mask = UINT64_C(1) << wide;
		if (loads)
			thumb_add(o, wide, ARCH_REG_SP, 4 * (int64_t)mask);
		break;
	case 11:
		thumb_miscellaneous(half, pc, o);
		break;
	case 12:
		thumb_words(o, loads, mask, wide, 0,
			    loads && mask >> wide & 1 ? 0 : bytes);
		break;
	default:
		thumb_branch(half, pc, o);
	}
}

/* ---- of 32 bits ---- */

/* LDM, STM, including push and pop. */
static inline void thumb_multiple(uint32_t word, struct arch_operation *o)
{
	uint64_t mask = word & 0xffff;
	int32_t bytes = 4 * __builtin_popcountll(mask);
	bool down = word >> 24 & 1, up = word >> 23 & 1;

	if (down == up) {
		o->kind = ARCH_OP_END;
		return;
	}
	thumb_words(o, word >> 20 & 1, mask, word >> 16 & 15,
		    down ? -bytes : 0,
		    word >> 21 & 1 ? (down ? -bytes : bytes) : 0);
}

/* A switch by a table behind it. */
static inline void thumb_table(uint32_t word, unsigned mode,
			       struct arch_operation *o)
{
	unsigned places = mode >> THUMB_COMPARED_SHIFT;
	unsigned bytes = ((word & 0x10 ? 2 * places : places) + 1) & ~1u;

	thumb_switch(o);
	o->size = bytes > THUMB_TABLE_MAX ? 0 : (uint8_t)(4 + bytes);
}

/* Register pairs, exclusive accesses, and switches. */
static inline void thumb_pair(uint32_t word, unsigned mode,
			      struct arch_operation *o)
{
	unsigned t = word >> 12 & 15, other = word >> 8 & 15;
	bool loads = word >> 20 & 1, before = word >> 24 & 1;
	int32_t offset = 4 * (int32_t)(word & 0xff);

	if (!before && !(word >> 21 & 1)) {
		if ((word & 0x00f000e0) == 0x00d00000)
			thumb_table(word, mode, o);
		else if (loads)
			o->mask = UINT64_C(1) << t |
				  ((word & 0xf0) == 0x70 &&
				   word >> 23 & 1 ? UINT64_C(1) << other : 0);
		else	/* the status register */
			o->mask = UINT64_C(1) << (word >> 23 & 1 ? word & 15 :
								   other);
		return;
	}
	offset = word >> 23 & 1 ? offset : -offset;
	if (t < other && (word >> 16 & 15) != ARCH_REG_PC) {
		thumb_words(o, loads, UINT64_C(1) << t | UINT64_C(1) << other,
			    word >> 16 & 15, before ? offset : 0,
			    word >> 21 & 1 ? offset : 0);
		return;
	}
	o->mask = (loads ? UINT64_C(1) << t | UINT64_C(1) << other : 0) |
		  (word >> 21 & 1 ? UINT64_C(1) << (word >> 16 & 15) : 0);
}

/* Additions and moves of registers, which may be shifted. */
static inline void thumb_shifted(uint32_t word, struct arch_operation *o)
{
	unsigned what = word >> 21 & 15, a = word >> 16 & 15;
	unsigned d = word >> 8 & 15, m = word & 15;
	bool plain = !(word & 0x70f0);

	if (d == ARCH_REG_PC)	/* comparisons */
		return;
	o->mask = UINT64_C(1) << d;
	if (plain && what == 2 && a == ARCH_REG_PC)
		thumb_add(o, d, m, 0);
	else if (plain && (what == 8 || what == 13))
		thumb_sum(o, what == 13, d, a, m);
}

/* An 8-bit immediate, repeated or rotated. */
static inline uint32_t thumb_number(uint32_t word)
{
	uint32_t number = word & 0xff, turn;
	uint32_t how = (word >> 12 & 7) | (word >> 23 & 8);

	if (how >= 4) {
		turn = how << 1 | number >> 7;
		number |= 0x80;
		return number >> turn | number << (32 - turn);
	}
	return how == 0 ? number :
	       how == 1 ? number * 0x10001 :
	       how == 2 ? number * 0x1000100 : number * 0x1010101;
}

/* Operations on a register and an immediate. */
static inline void thumb_immediate(uint32_t word, unsigned *mode,
				   struct arch_operation *o)
{
	uint32_t long_number = (word & 0xff) | (word >> 4 & 0x700) |
			       (word >> 15 & 0x800);
	unsigned what = word >> 21 & 15, a = word >> 16 & 15;
	unsigned d = word >> 8 & 15;
	uint32_t number = thumb_number(word);

	if (word >> 25 & 1) {		/* immediates of twelve or sixteen
					 * bits */
		o->mask = UINT64_C(1) << d;
		if ((word >> 20 & 31) == 4)
			thumb_set(o, d, long_number | a << 12);
		else if ((word >> 20 & 31) == 0)
			thumb_add(o, d, a, long_number);
		else if ((word >> 20 & 31) == 10)
			thumb_add(o, d, a, -(int64_t)long_number);
		return;
	}
	if (d == ARCH_REG_PC) {		/* comparisons */
		if (what == 13 && number < UINT16_MAX)
			*mode = (*mode & UINT16_MAX) |
				(number + 1) << THUMB_COMPARED_SHIFT;
		return;
	}
	o->mask = UINT64_C(1) << d;
	if ((what == 2 || what == 3) && a == ARCH_REG_PC)
		thumb_set(o, d, what == 2 ? number : ~number);
	else if (what == 8 || what == 13)
		thumb_add(o, d, a, what == 8 ? (int64_t)number :
					       -(int64_t)number);
}

/* The distance of BL, BLX and B, which has 25 bits. */
static inline int32_t thumb_distance(uint32_t word)
{
	uint32_t sign = word >> 26 & 1, j1 = word >> 13 & 1;
	uint32_t j2 = word >> 11 & 1, offset = (word & 0x7ff) << 1;

	offset |= (word >> 4 & 0x3ff000) | (!(j2 ^ sign)) << 22 |
		  (!(j1 ^ sign)) << 23 | sign << 24;
	return (int32_t)(offset << 7) >> 7;
}

static inline void thumb_far_branch(uint32_t word, uintptr_t pc,
				    struct arch_operation *o)
{
	uint32_t sign = word >> 26 & 1, j1 = word >> 13 & 1;
	uint32_t j2 = word >> 11 & 1, offset = (word & 0x7ff) << 1;

	if (word & 0x4000) {
		o->kind = ARCH_OP_CALL;
	} else if (word & 0x1000) {
		o->kind = ARCH_OP_JUMP;
		o->target = pc + 4 + (uintptr_t)thumb_distance(word);
	} else if ((word >> 22 & 15) < 14) {
		offset |= (word >> 4 & 0x3f000) | j1 << 18 | j2 << 19 |
			  sign << 20;
		o->kind = ARCH_OP_BRANCH;
		o->target = pc + 4 +
			    (uintptr_t)((int32_t)(offset << 11) >> 11);
	} else if ((word & 0xffe0d000) == 0xf3e08000) {	/* mrs */
		o->mask = UINT64_C(1) << (word >> 8 & 15);
	} else if ((word & 0xfff0d000) == 0xf7f08000) {
		o->kind = ARCH_OP_END;
	}
}

/* Loads or stores one register, of any size. */
static inline void thumb_single(uint32_t word, struct arch_operation *o)
{
	unsigned t = word >> 12 & 15, a = word >> 16 & 15;
	bool loads = word >> 20 & 1, is_word = (word >> 21 & 11) == 2;
	bool is_long = word >> 23 & 1 || a == ARCH_REG_PC;
	bool by_number = is_long || word & 0x800;
	bool changes = !is_long && word & 0x800 && word & 0x100;
	int32_t offset = (int32_t)(is_long ? word & 0xfff : word & 0xff);

	if (!is_long && !(word & 0x200))
		offset = -offset;
	if (is_word && by_number && a != ARCH_REG_PC) {
		thumb_words(o, loads, UINT64_C(1) << t, a,
			    is_long || word & 0x400 ? offset : 0,
			    changes ? offset : 0);
	} else if (loads && t == ARCH_REG_PC) {
		if (is_word)
			thumb_switch(o);	/* otherwise a preload */
	} else if (!loads && changes) {
		thumb_add(o, a, a, offset);
	} else {
		o->mask = (loads ? UINT64_C(1) << t : 0) |
			  (changes ? UINT64_C(1) << a : 0);
	}
}

static inline void thumb_long(uint32_t word, uintptr_t pc, unsigned *mode,
			      struct arch_operation *o)
{
	if ((word & 0xec000000) == 0xec000000)
		thumb_coprocessor(word & 0x0fffffff, o);
	else if ((word & 0xfe400000) == 0xe8000000)
		thumb_multiple(word, o);
	else if ((word & 0xfe400000) == 0xe8400000)
		thumb_pair(word, *mode, o);
	else if ((word & 0xfe000000) == 0xea000000)
		thumb_shifted(word, o);
	else if ((word & 0xf8008000) == 0xf0000000)
		thumb_immediate(word, mode, o);
	else if ((word & 0xf8000000) == 0xf0000000)
		thumb_far_branch(word, pc, o);
	else if ((word & 0xff100000) == 0xf9000000)
		o->mask = (word & 15) == 15 ? 0 :	/* vector loads and
							 * stores */
			  UINT64_C(1) << (word >> 16 & 15);
	else if ((word & 0xfe000000) == 0xf8000000)
		thumb_single(word, o);
	else	/* multiplications, divisions, other register operations */
		o->mask = UINT64_C(1) << (word >> 8 & 15) |
			  ((word >> 12 & 15) < 15 &&
			   (word & 0xff800000) == 0xfb800000 ?
				   UINT64_C(1) << (word >> 12 & 15) : 0);
}

/* ---- both ---- */

/* Whether the instruction is conditional by its IT block; advances the block's
 * state by one instruction. */
static inline bool thumb_in_block(unsigned *mode)
{
	unsigned it = *mode >> THUMB_IT_SHIFT & 0xff;
	unsigned rest = it & 7 ? (it & 0xe0) | (it << 1 & 0x1f) : 0;

	*mode = (*mode & ~(0xffu << THUMB_IT_SHIFT)) | rest << THUMB_IT_SHIFT;
	return it && it >> 4 != 14;
}

static inline void thumb_decode(const uint16_t *half, size_t room,
				unsigned *mode, struct arch_operation *o)
{
	bool conditional = thumb_in_block(mode), is_long = half[0] >= 0xe800;
	uintptr_t pc = (uintptr_t)half;

	o->kind = ARCH_OP_OTHER;
	o->size = is_long ? 4 : 2;
	if (is_long)
		thumb_long((uint32_t)half[0] << 16 | half[1], pc, mode, o);
	else if ((half[0] & 0xff00) == 0xbf00 && half[0] & 15)
		*mode = (*mode & ~(0xffu << THUMB_IT_SHIFT)) |
			(half[0] & 0xffu) << THUMB_IT_SHIFT;
	else
		thumb_short(half[0], pc, mode, o);
	if (o->size > room) {
		o->kind = ARCH_OP_END;
		o->size = 0;
	}
	o->conditional = conditional;
	if (conditional && o->kind == ARCH_OP_JUMP) {
		o->kind = ARCH_OP_BRANCH;
		o->conditional = false;
	}
}

#endif
