/*
 * load_store.h (AArch64): decodes the effect of loads and stores on a frame
 * (arch/operation.h; Arm Architecture Reference Manual, C4.1, "Loads and
 * Stores"). Part of decode.h.
 */
#ifndef GNOMON_ARCH_LOAD_STORE_H
#define GNOMON_ARCH_LOAD_STORE_H

#include "arch/operation.h"
#include "regs.h"

/* Bit positions of register fields. */
enum { A64_D = 0, A64_N = 5, A64_T2 = 10, A64_M = 16 };

static inline unsigned a64_field(uint32_t word, unsigned at)
{
	return word >> at & 31;
}

/* The register in a field as a mask, where 31 is the stack pointer. */
static inline uint64_t a64_base(uint32_t word, unsigned at)
{
	return UINT64_C(1) << a64_field(word, at);
}

/* The same, where 31 is the zero register or none. */
static inline uint64_t a64_reg(uint32_t word, unsigned at)
{
	return a64_base(word, at) & ~(UINT64_C(1) << ARCH_REG_SP);
}

static inline int32_t a64_signed(uint32_t word, unsigned at, unsigned bits)
{
	return (int32_t)(word << (32 - at - bits)) >> (32 - bits);
}

static inline void a64_add(struct arch_operation *o, unsigned d, unsigned a,
			   int64_t value)
{
	o->kind = ARCH_OP_ADD;
	o->d = (uint8_t)d;
	o->a = (uint8_t)a;
	o->value = value;
}

/* Addressing modes. */
enum { A64_POST = 1, A64_OFFSET = 2, A64_PRE = 3 };

/* An access to anything other than whole general registers: `mask` is written,
 * and the base may change. */
static inline void a64_parts(uint32_t word, unsigned form, int32_t offset,
			     uint64_t mask, struct arch_operation *o)
{
	unsigned n = a64_field(word, A64_N);

	o->mask = mask;
	if (form == A64_OFFSET)
		return;
	if (mask)
		o->mask |= a64_base(word, A64_N);
	else
		a64_add(o, n, n, offset);
}

/* An access to one or two whole general registers. */
static inline void a64_words(uint32_t word, unsigned form, int32_t offset,
			     uint64_t mask, struct arch_operation *o)
{
	o->kind = word >> 22 & 1 ? ARCH_OP_LOAD : ARCH_OP_STORE;
	o->a = (uint8_t)a64_field(word, A64_N);
	o->value = form == A64_POST ? 0 : offset;
	o->step = form == A64_OFFSET ? 0 : offset;
	o->mask = mask;
}

static inline void a64_pair(uint32_t word, struct arch_operation *o)
{
	unsigned kind = word >> 30, form = word >> 23 & 3;
	unsigned t = a64_field(word, A64_D), t2 = a64_field(word, A64_T2);
	bool vector = word >> 26 & 1, loads = word >> 22 & 1;
	unsigned shift = vector ? 2 + kind : kind == 2 ? 3 : 2;
	int32_t offset;

	if (!vector && kind == 1 && !loads)	/* stgp */
		shift = 4;
	offset = a64_signed(word, 15, 7) * (1 << shift);
	if (form == 0)			/* non-temporal */
		form = A64_OFFSET;
	if (kind == 3) {
		o->kind = ARCH_OP_END;
	} else if (vector || kind != 2) {
		a64_parts(word, form, offset, vector || !loads ? 0 :
			  a64_reg(word, A64_D) | a64_reg(word, A64_T2), o);
	} else {
		a64_words(word, form, offset, a64_reg(word, A64_D) |
			  a64_reg(word, A64_T2), o);
		o->falls = t > t2;
		/* the first register is the zero register */
		if (t == 31 && t2 != 31) {
			o->value += ARCH_WORD;
			o->falls = false;
		}
	}
}

/* One register and an immediate offset. */
static inline void a64_single(uint32_t word, unsigned form, int32_t offset,
			      struct arch_operation *o)
{
	unsigned size = word >> 30, what = word >> 22 & 3;
	bool vector = word >> 26 & 1;
	uint64_t mask = a64_reg(word, A64_D);

	if (!vector && size == 3 && what >= 2)		/* prfm */
		return;
	if (!vector && size == 3 && mask)
		a64_words(word, form, offset, mask, o);
	else
		a64_parts(word, form, offset, vector || !what ? 0 : mask, o);
}

/* Atomic operations write the old value, or several registers. */
static inline void a64_atomic(uint32_t word, struct arch_operation *o)
{
	unsigned what = word >> 12 & 7;

	o->mask = a64_reg(word, A64_D);
	if (word >> 15 & 1 && what != 0 && what != 4)	/* ld64b, st64bv */
		o->mask = (UINT64_C(0xff) << a64_field(word, A64_D) |
			   a64_base(word, A64_M)) & UINT64_C(0x7fffffff);
}

static inline void a64_register(uint32_t word, struct arch_operation *o)
{
	bool vector = word >> 26 & 1;
	unsigned how = word >> 10 & 3, shift = word >> 30;

	if (vector && word >> 23 & 1)
		shift = 4;
	if (word >> 24 & 1) {
		a64_single(word, A64_OFFSET,
			   (int32_t)((word >> 10 & 0xfff) << shift), o);
	} else if (!(word >> 21 & 1)) {
		a64_single(word, how == A64_POST || how == A64_PRE ?
				 how : A64_OFFSET, a64_signed(word, 12, 9), o);
	} else if (how == 2) {				/* [n, m] */
		o->mask = vector || !(word >> 22 & 3) ? 0 :
			  a64_reg(word, A64_D);
	} else if (how == 0) {
		if (!vector)
			a64_atomic(word, o);
	} else {					/* ldraa, ldrab */
		o->mask = a64_reg(word, A64_D) |
			  (word >> 11 & 1 ? a64_base(word, A64_N) : 0);
	}
}

/* Exclusive and ordered accesses, compare and swap. */
static inline void a64_exclusive(uint32_t word, struct arch_operation *o)
{
	uint64_t status = a64_reg(word, A64_M);
	bool two = word >> 21 & 1, pair = !(word >> 23 & 1);

	if (two && (!pair || !(word >> 31)))		/* cas, casp */
		o->mask = status | (pair ? status << 1 : 0);
	else if (word >> 22 & 1)
		o->mask = a64_reg(word, A64_D) |
			  (two ? a64_reg(word, A64_T2) : 0);
	else
		o->mask = status;
}

/* Memory tags, memory copies, ordered accesses with an offset. */
static inline void a64_rare(uint32_t word, struct arch_operation *o)
{
	if (word >> 21 & 1 || word >> 10 & 3)
		o->mask = a64_reg(word, A64_D) | a64_reg(word, A64_M) |
			  a64_base(word, A64_N);
	else if (!(word >> 26 & 1))
		o->mask = a64_reg(word, A64_D);
}

/* On entry *o has its size and the kind ARCH_OP_OTHER. */
static inline void a64_memory(uint32_t word, struct arch_operation *o)
{
	bool vector = word >> 26 & 1;

	switch (word >> 28 & 3) {
	case 0:
		if (vector)		/* vector structures */
			o->mask = word >> 23 & 1 ? a64_base(word, A64_N) : 0;
		else if (word >> 24 & 1)
			o->mask = a64_reg(word, A64_D) |
				  a64_reg(word, A64_T2) |
				  a64_reg(word, A64_M) | a64_base(word, A64_N);
		else
			a64_exclusive(word, o);
		break;
	case 1:
		if (word >> 24 & 1)
			a64_rare(word, o);
		else if (!vector && word >> 30 != 3)	/* a literal */
			o->mask = a64_reg(word, A64_D);
		break;
	case 2:
		a64_pair(word, o);
		break;
	default:
		a64_register(word, o);
	}
}

#endif
