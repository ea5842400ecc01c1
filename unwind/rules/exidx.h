/*
 * exidx.h: decodes the unwind tables of 32-bit ARM, .ARM.exidx and .ARM.extab
 * (ARM IHI 0038, "Exception Handling ABI for the Arm Architecture").
 *
 *	index: function, word ──▶ EXIDX_CANTUNWIND: no program
 *	       function, word ──▶ up to 3 bytes of program in the word itself
 *	       function, word ──▶ .ARM.extab: a personality, a longer program
 *
 * A program is a sequence of one- and two-byte instructions. They update a
 * virtual stack pointer, vsp, which starts as sp and ends as the CFA, and name
 * the registers that are popped.
 *
 * Addresses are the target's, 32 bits wide, whatever machine this runs on: the
 * caller passes the bytes together with their address in the target. Little
 * endian. Nothing here allocates or writes; every read stays inside those
 * bytes, whatever their content. Any thread, also signal handlers.
 */
#ifndef GNOMON_UNWIND_EXIDX_H
#define GNOMON_UNWIND_EXIDX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "unwind/rules/rules.h"

enum { EXIDX_FP_THUMB = 7, EXIDX_FP_ARM = 11, EXIDX_SP = 13, EXIDX_LR = 14,
       EXIDX_PC = 15, EXIDX_REGISTERS = 16 };

/* Readable bytes, and the index within them. */
struct exidx_image {
	const uint8_t *bytes;		/* of [start, end) */
	uint32_t start, end;
	uint32_t index, index_end;
};

/* An unwind program. */
struct exidx_program {
	const struct exidx_image *image;
	uint32_t words;			/* address of the first one */
	uint32_t at, end;		/* bytes from there; byte 0 is the most
					 * significant of the first word */
};

struct exidx_entry {
	uint32_t start;			/* of the function */
	uint32_t end;			/* where the next one starts; for the
					 * last one, the image's end */
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
	EXIDX_REFUSE,	/* refuse to unwind */
	EXIDX_FINISH
};

struct exidx_op {
	enum exidx_op_kind kind;
	int32_t amount;
	uint16_t mask;		/* bit i: register i */
	uint8_t vector, vectors;	/* SKIP: first double register and how
					 * many; 0: other registers */
};

/* The entry that covers pc. 0; -ENOENT: none; -EINVAL: malformed. The index
 * must be sorted by address; if it is not, the result may be any entry. */
int exidx_find(const struct exidx_image *image, uint32_t pc,
	       struct exidx_entry *entry);
/* The i-th entry; -ENOENT: there is none. */
int exidx_at(const struct exidx_image *image, uint32_t i,
	     struct exidx_entry *entry);

/*
 * The next instruction; EXIDX_FINISH at the end of the bytes. 0, or -EINVAL:
 * the instruction has no meaning.
 */
int exidx_next(struct exidx_program *program, struct exidx_op *op);

#define EXIDX_VECTORS 8		/* d8 to d15, which calls preserve */

/* The frame that a whole program describes, if it does not depend on values. */
struct exidx_frame {
	uint8_t base;		/* CFA = this register + cfa_off */
	int32_t cfa_off;
	uint16_t saved;		/* registers that lie at CFA + at[] */
	int16_t at[EXIDX_REGISTERS];
	uint8_t vectors;	/* bit i: d8+i lies at CFA + vector_at[i] */
	int16_t vector_at[EXIDX_VECTORS];
	/* The frame depends on values: sp is popped, or vsp is set from a
	 * register after registers were popped. */
	bool complex;
};
/* 0; 1: no caller (EXIDX_CANTUNWIND or refused); -EINVAL. */
int exidx_frame(const struct exidx_entry *entry, struct exidx_frame *frame);

/*
 * The entry as a rule (rules.h), for words of 4 bytes, with the frame pointer
 * in `fp`. RULE_COMPLEX if the caller's pc lies far below the CFA or is in lr,
 * or if the CFA is relative to another register: use exidx_step then.
 */
struct rule exidx_rule(const struct exidx_entry *entry, unsigned fp);

/*
 * One step with all registers: regs holds the frame's on entry, the caller's on
 * return. If pc was not popped, the caller's pc is lr. 0; 1: no caller;
 * -EFAULT: a read failed; -EINVAL. On failure regs are unspecified.
 */
int exidx_step(const struct exidx_entry *entry,
	       uint32_t regs[EXIDX_REGISTERS],
	       bool (*read)(void *ctx, uint32_t address, uint32_t *value),
	       void *ctx);

#endif
