/*
 * decode.h (AArch64): decodes the effect of instructions on a frame
 * (arch/operation.h; Arm Architecture Reference Manual, C4.1); loads and stores
 * are in load_store.h. Compilers emit unwind tables for all code unless they
 * are told not to.
 *
 * Instructions that sign a return address or strip its signature leave it
 * unchanged here. An instruction of no known group writes all registers.
 */
#ifndef GNOMON_ARCH_DECODE_H
#define GNOMON_ARCH_DECODE_H

#include "arch/operation.h"
#include "load_store.h"
#include "regs.h"

#define ARCH_DECODES 1

/* Registers that a CFA may be relative to. */
#define ARCH_FRAME_BASES                                                     \
	(UINT32_C(1) << ARCH_REG_SP | UINT32_C(1) << ARCH_REG_FP)

/* Large frames are allocated in steps: immediates have 12 bits, or the size is
 * built in a register, and -fstack-clash-protection touches each page. */
#define ARCH_ROOM_STEPS 24	/* instructions */

/* x16 and x17: used by PLT entries, and by tail calls with branch target
 * checks. */
#define ARCH_LINKAGE_REGISTERS UINT64_C(0x30000)

#define A64_ALL UINT64_C(0xffffffff)	/* including the stack pointer */

/*
 * The mode: state from earlier instructions.
 *
 *	0 … 4	a register that holds a constant, if any of the next bits is set
 *	8 … 11	which of the constant's four parts have been written
 *	12	its other parts are ones, not zeros
 *	13	a table entry was added to the register in bits 16 … 20: a jump
 *		to that register is a switch
 */
#define A64_PARTS 0xf00u
#define A64_ONES (1u << 12)
#define A64_SWITCH (1u << 13)
#define A64_SWITCH_AT 16

/* Whether the instruction writes a register with a sum, as of an address and a
 * table entry. */
static inline bool a64_is_sum(uint32_t word)
{
	return (word & 0x7f000000) == 0x0b000000 && (word & 31) != 31;
}

/* At a pc that a signal interrupted, the instruction before may have set the
 * mode. */
static inline unsigned arch_code_mode(uintptr_t pc, bool exact)
{
	uint32_t before = exact && pc % 4096 ? ((const uint32_t *)pc)[-1] : 0;

	return a64_is_sum(before) ? A64_SWITCH | (before & 31) << A64_SWITCH_AT :
				    0;
}

/* movz, movn, movk: a constant, of which each instruction writes 16 bits. */
static inline void a64_move_wide(uint32_t word, unsigned mode,
				 struct arch_operation *o)
{
	unsigned what = word >> 29 & 3, part = word >> 21 & 3;
	unsigned d = a64_field(word, A64_D);
	uint64_t value = (uint64_t)(word >> 5 & 0xffff) << 16 * part;
	uint64_t old = (uint64_t)0xffff << 16 * part;
	bool known = mode & A64_PARTS && (mode & 31) == d &&
		     !(mode >> (8 + part) & 1) && word >> 31;

	o->mask = a64_reg(word, A64_D);
	if (d == 31 || what == 1 || (what == 3 && !known))
		return;
	if (what == 3) {		/* movk: the other bits stay */
		a64_add(o, d, d, (int64_t)(value - (mode & A64_ONES ? old : 0)));
		return;
	}
	o->kind = ARCH_OP_SET;
	o->d = (uint8_t)d;
	o->value = (int64_t)(what ? value : ~value);
	if (!(word >> 31))
		o->value &= 0xffffffff;
}

/* The immediate of a logical instruction: a run of ones, rotated and
 * repeated. */
static inline uint64_t a64_pattern(uint32_t word)
{
	unsigned n = word >> 22 & 1, turn = word >> 16 & 63;
	unsigned ones = word >> 10 & 63, size = 64;
	uint64_t value;

	while (!n && size > 1 && !((ones ^ 63) & size >> 1))
		size >>= 1;
	if (!n)
		size >>= 1;
	if (size < 2)
		return 0;
	ones = (ones & (size - 1)) + 1;
	turn &= size - 1;
	value = ones == 64 ? UINT64_MAX : (UINT64_C(1) << ones) - 1;
	if (turn)
		value = value >> turn | value << (size - turn);
	if (size < 64)
		value &= (UINT64_C(1) << size) - 1;
	for (; size < 64; size *= 2)
		value |= value << size;
	return value;
}

static inline void a64_logical_number(uint32_t word, struct arch_operation *o)
{
	unsigned what = word >> 29 & 3;

	o->mask = what == 3 ? a64_reg(word, A64_D) : a64_base(word, A64_D);
	if (what == 1 && a64_field(word, A64_N) == 31 && word >> 31) {
		o->kind = ARCH_OP_SET;			/* orr d, xzr, … */
		o->d = (uint8_t)a64_field(word, A64_D);
		o->value = (int64_t)a64_pattern(word);
	}
}

static inline void a64_add_number(uint32_t word, struct arch_operation *o)
{
	int64_t number = word >> 10 & 0xfff;
	bool flags = word >> 29 & 1;

	if (word >> 22 & 1)
		number <<= 12;
	if (word >> 30 & 1)
		number = -number;
	o->mask = flags ? a64_reg(word, A64_D) : a64_base(word, A64_D);
	if (word >> 31 && o->mask)
		a64_add(o, a64_field(word, A64_D), a64_field(word, A64_N),
			number);
}

static inline void a64_numbers(uint32_t word, unsigned mode,
			       struct arch_operation *o)
{
	switch (word >> 23 & 7) {
	case 2:
		a64_add_number(word, o);
		break;
	case 3:				/* addg, subg; min, max */
		o->mask = a64_base(word, A64_D);
		break;
	case 4:
		a64_logical_number(word, o);
		break;
	case 5:
		a64_move_wide(word, mode, o);
		break;
	default:			/* adr, adrp; bit fields */
		o->mask = a64_reg(word, A64_D);
	}
}

/* The end of a loop that touches a frame's pages: cmp sp, m and b.ne back. Then
 * sp equals a register. */
static inline bool a64_probes(uint32_t word, uint32_t next)
{
	return (word & 0xffe0ffff) == 0xeb2063ff &&
	       (next & 0xff80001f) == 0x54800001;
}

/* d = a ± b with 64-bit registers. next: the following instruction. */
static inline void a64_add_registers(uint32_t word, uint32_t next,
				     struct arch_operation *o)
{
	unsigned n = a64_field(word, A64_N), m = a64_field(word, A64_M);
	bool extended = word >> 21 & 1, flags = word >> 29 & 1;
	bool plain = word >> 31 && m != 31 && (extended ?
		     (word >> 10 & 0x3f) == 0x18 :
		     !(word >> 10 & 0x3f) && n != 31);

	o->mask = extended && !flags ? a64_base(word, A64_D) :
				       a64_reg(word, A64_D);
	if (a64_probes(word, next))
		a64_add(o, ARCH_REG_SP, m, 0);
	if (!o->mask || !plain)
		return;
	o->kind = word >> 30 & 1 ? ARCH_OP_DIFFERENCE : ARCH_OP_SUM;
	o->d = (uint8_t)a64_field(word, A64_D);
	o->a = (uint8_t)n;
	o->b = (uint8_t)m;
}

static inline void a64_registers(uint32_t word, uint32_t next,
				 struct arch_operation *o)
{
	if ((word & 0x1f000000) == 0x0b000000) {
		a64_add_registers(word, next, o);
		return;
	}
	o->mask = a64_reg(word, A64_D);
	if ((word & 0xffe0ffe0) == 0xaa0003e0 && o->mask) {	/* mov */
		if (a64_field(word, A64_M) == 31) {
			o->kind = ARCH_OP_SET;
			o->d = (uint8_t)a64_field(word, A64_D);
		} else {
			a64_add(o, a64_field(word, A64_D),
				a64_field(word, A64_M), 0);
		}
	} else if ((word & 0x1fe00000) == 0x1a400000 ||
		   (word & 0xffff001f) == 0xdac1001e) {
		/* ccmp; pacia x30 and similar */
		o->mask = 0;
	}
}

/* Vector instructions that write a general register. */
static inline void a64_vector(uint32_t word, struct arch_operation *o)
{
	unsigned what = word >> 16 & 7;
	bool converts = (word & 0x7f20fc00) == 0x1e200000 ?
				what != 2 && what != 3 && what != 7 :
				(word & 0x7f200000) == 0x1e000000 && what < 2;

	if (converts || (word & 0xbfe0d400) == 0x0e001400)	/* smov, umov */
		o->mask = a64_reg(word, A64_D);
}

/* addvl, addpl and similar may change the stack pointer. */
static inline void a64_scalable(uint32_t word, struct arch_operation *o)
{
	o->mask = (word & 0xffa0f000) == 0x04205000 ?
			  a64_base(word, A64_D) : a64_reg(word, A64_D);
}

static inline void a64_system(uint32_t word, struct arch_operation *o)
{
	if (word >> 24 == 0xd4)		/* svc writes x0; or a trap */
		o->kind = (word & 0xffe0001f) == 0xd4000001 ? ARCH_OP_OTHER :
							      ARCH_OP_END;
	o->mask = word >> 24 == 0xd4 ? 1 :
		  word == 0xd503251f ? UINT64_C(1) << 16 :	/* chkfeat */
		  word >> 21 & 1 ? a64_reg(word, A64_D) : 0;
	if (word >> 22 == 0x355)	/* register pairs (mrrs) */
		o->mask |= o->mask << 1;
}

static inline void a64_to_register(uint32_t word, unsigned mode,
				   struct arch_operation *o)
{
	unsigned what = word >> 21 & 7, n = a64_field(word, A64_N);

	o->kind = what == 1 ? ARCH_OP_CALL : what == 0 || what == 2 ?
			      ARCH_OP_LEAVE : ARCH_OP_END;
	if (what == 0 && mode & A64_SWITCH &&
	    (mode >> A64_SWITCH_AT & 31) == n)
		o->kind = ARCH_OP_END;
	/* retaa and retab name no register */
	o->a = (uint8_t)(n == 31 ? ARCH_REG_LR : n);
}

static inline void a64_branch(uint32_t word, uintptr_t pc, unsigned mode,
			      struct arch_operation *o)
{
	unsigned at = 5, bits = 19;

	o->kind = ARCH_OP_BRANCH;
	if ((word & 0x7c000000) == 0x14000000) {
		o->kind = word >> 31 ? ARCH_OP_CALL : ARCH_OP_JUMP;
		at = 0;
		bits = 26;
	} else if ((word & 0x7e000000) == 0x36000000) {	/* tbz, tbnz */
		bits = 14;
	} else if ((word & 0x7e000000) == 0x74000000) {	/* cb… */
		bits = 9;
	} else if (word >> 24 == 0x55) {		/* retaasppc */
		o->kind = ARCH_OP_LEAVE;
		o->a = ARCH_REG_LR;
	} else if ((word & 0xfe000000) == 0xd6000000) {
		a64_to_register(word, mode, o);
	} else if ((word & 0x7e000000) != 0x34000000 && word >> 24 != 0x54) {
		o->kind = ARCH_OP_OTHER;
		a64_system(word, o);
	}
	o->target = pc + (uintptr_t)((intptr_t)a64_signed(word, at, bits) * 4);
}

/* Clears the parts of the mode whose register has been written. */
static inline void a64_forget(const struct arch_operation *o, unsigned *mode)
{
	uint64_t written = o->mask;

	if (o->kind >= ARCH_OP_SET && o->kind <= ARCH_OP_DIFFERENCE)
		written = UINT64_C(1) << o->d;
	if (o->step)
		written |= UINT64_C(1) << o->a;
	if (o->kind == ARCH_OP_CALL)
		written = A64_ALL;
	if (written >> (*mode & 31) & 1)
		*mode &= ~(A64_PARTS | A64_ONES | 31);
	if (written >> (*mode >> A64_SWITCH_AT & 31) & 1)
		*mode &= ~(A64_SWITCH | 31u << A64_SWITCH_AT);
}

/* Updates the mode for the following instructions. */
static inline void a64_remember(uint32_t word, const struct arch_operation *o,
				unsigned *mode)
{
	unsigned d = a64_field(word, A64_D);
	unsigned part = 1u << (8 + (word >> 21 & 3));
	bool wide = (word & 0x9f800000) == 0x92800000;

	if (wide && o->kind == ARCH_OP_ADD) {
		*mode |= part;
		return;
	}
	a64_forget(o, mode);
	if (wide && o->kind == ARCH_OP_SET)
		*mode = (*mode & ~(A64_PARTS | A64_ONES | 31)) | d | part |
			(word >> 30 & 1 ? 0 : A64_ONES);
	if (a64_is_sum(word))
		*mode = (*mode & ~(31u << A64_SWITCH_AT)) | A64_SWITCH |
			d << A64_SWITCH_AT;
}

static inline void a64_decode(uint32_t word, uint32_t next, uintptr_t pc,
			      unsigned mode, struct arch_operation *o)
{
	switch (word >> 25 & 15) {
	case 0:
		/* SME, or no instruction */
		o->kind = word >> 31 ? ARCH_OP_OTHER : ARCH_OP_END;
		o->mask = A64_ALL;
		break;
	case 2:
		a64_scalable(word, o);
		break;
	case 4:
	case 6:
	case 12:
	case 14:
		a64_memory(word, o);
		break;
	case 5:
	case 13:
		a64_registers(word, next, o);
		break;
	case 7:
	case 15:
		a64_vector(word, o);
		break;
	case 8:
	case 9:
		a64_numbers(word, mode, o);
		break;
	case 10:
	case 11:
		a64_branch(word, pc, mode, o);
		break;
	default:
		o->kind = ARCH_OP_END;
	}
}

/*
 * Decodes the instruction at `code`, of which `room` bytes are readable. On
 * entry *o is zero except for its kind, ARCH_OP_END. *mode: from
 * arch_code_mode, see above.
 */
static inline void arch_decode(const void *code, size_t room, unsigned *mode,
			       struct arch_operation *o)
{
	const uint32_t *word = code;

	if (room < 4 || (uintptr_t)code % 4)
		return;
	o->size = 4;
	o->kind = ARCH_OP_OTHER;
	a64_decode(word[0], room < 8 ? 0 : word[1], (uintptr_t)code, *mode, o);
	a64_remember(word[0], o, mode);
}

#endif
