/*
 * exidx.h: the unwind tables of 32-bit ARM (ARM IHI 0038, "Exception Handling
 * ABI for the Arm Architecture"): .ARM.exidx and .ARM.extab.
 *
 *	index: function, what ──▶ nothing: it cannot be unwound
 *	       function, what ──▶ up to 3 bytes of program in the word itself
 *	       function, what ──▶ .ARM.extab: a personality, a longer program
 *
 * A program is a row of one- and two-byte instructions for a virtual stack
 * pointer, vsp, which begins as sp and ends as the CFA, and tells which
 * registers are popped on the way.
 *
 * Addresses are the target's, 32 bits wide, whatever machine this runs on:
 * the bytes are handed over with the address that they have there. Little
 * endian. Nothing here allocates or writes; every read stays inside of those
 * bytes, whatever they say. Any thread, also signal handlers.
 */
#ifndef GNOMON_UNWIND_EXIDX_H
#define GNOMON_UNWIND_EXIDX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "unwind/rules.h"

enum { EXIDX_FP_THUMB = 7, EXIDX_FP_ARM = 11, EXIDX_SP = 13, EXIDX_LR = 14,
       EXIDX_PC = 15, EXIDX_REGISTERS = 16 };

/* Readable bytes, and the index within. */
struct exidx_image {
	const uint8_t *bytes;		/* of [start, end) */
	uint32_t start, end;
	uint32_t index, index_end;
};

/* A row of instructions. */
struct exidx_program {
	const struct exidx_image *image;
	uint32_t words;			/* address of the first one */
	uint32_t at, end;		/* bytes from there; 0 is the highest
					 * of the first word */
};

struct exidx_entry {
	uint32_t start;			/* of the function */
	uint32_t end;			/* where the next one starts; that of
					 * the last is the image's end */
	bool cannot;			/* EXIDX_CANTUNWIND */
	unsigned personality;		/* 0 to 2; EXIDX_GENERIC */
	struct exidx_program program;	/* unless `cannot` */
};
#define EXIDX_GENERIC 3

enum exidx_op_kind {
	EXIDX_ADD,	/* vsp += amount */
	EXIDX_SET,	/* vsp = register `amount` */
	EXIDX_POP,	/* registers of the mask, lowest first */
	EXIDX_SKIP,	/* `amount` bytes of other registers are popped */
	EXIDX_REFUSE,	/* not to be unwound from here */
	EXIDX_FINISH
};

struct exidx_op {
	enum exidx_op_kind kind;
	int32_t amount;
	uint16_t mask;		/* bit i: register i */
	uint8_t vector, vectors;	/* SKIP: from which double register
					 * on, and how many; 0: others */
};

/* The entry that covers pc. 0; -ENOENT: none does; -EINVAL: it makes no sense.
 * The index is in order of addresses; where it is not, any answer may come. */
int exidx_find(const struct exidx_image *image, uint32_t pc,
	       struct exidx_entry *entry);
/* The i-th one; -ENOENT behind the last. */
int exidx_at(const struct exidx_image *image, uint32_t i,
	     struct exidx_entry *entry);

/*
 * The next instruction; the end of the bytes is a finish. 0, or -EINVAL: one
 * that has no meaning.
 */
int exidx_next(struct exidx_program *program, struct exidx_op *op);

#define EXIDX_VECTORS 8		/* d8 to d15, which calls preserve */

/* What a whole program comes to, where that does not depend on values. */
struct exidx_frame {
	uint8_t base;		/* CFA = this register + cfa_off */
	int32_t cfa_off;
	uint16_t saved;		/* registers that lie at CFA + at[] */
	int16_t at[EXIDX_REGISTERS];
	uint8_t vectors;	/* bit i: d8+i lies at CFA + vector_at[i] */
	int16_t vector_at[EXIDX_VECTORS];
	/* It does depend: sp is popped, or vsp is taken from a register after
	 * others were. */
	bool complex;
};
/* 0, 1: it ends here (cannot, or refuses); or -EINVAL. */
int exidx_frame(const struct exidx_entry *entry, struct exidx_frame *frame);

/*
 * As a rule (rules.h), for words of 4 bytes, with the frame pointer in `fp`.
 * RULE_COMPLEX where the caller's pc is far below the CFA or in lr, or the CFA
 * counts from another register: exidx_step then.
 */
struct rule exidx_rule(const struct exidx_entry *entry, unsigned fp);

/*
 * One step with all registers: in, the frame's; out, the caller's. Where none
 * was popped the caller's pc is in lr. 0; 1: no caller; -EFAULT: a read failed;
 * -EINVAL. On failure regs are unspecified.
 */
int exidx_step(const struct exidx_entry *entry,
	       uint32_t regs[EXIDX_REGISTERS],
	       bool (*read)(void *ctx, uint32_t address, uint32_t *value),
	       void *ctx);

#endif
