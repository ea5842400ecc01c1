/*
 * operation.h: what an instruction does to a frame, in words that are the same
 * on all architectures. A port that has compilers which emit no unwind tables
 * turns its instructions into these (decode.h), and unwind/prologue.c follows
 * them.
 */
#ifndef GNOMON_ARCH_OPERATION_H
#define GNOMON_ARCH_OPERATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum arch_operation_kind {
	ARCH_OP_OTHER,	/* the registers of `mask` are written with anything */
	ARCH_OP_SET,	/* d = value */
	ARCH_OP_ADD,	/* d = a + value */
	ARCH_OP_SUM,	/* d = a + b */
	ARCH_OP_DIFFERENCE,	/* d = a - b */
	ARCH_OP_LOAD,	/* the registers of `mask`, lowest first, from whole
			 * words at a + value on; then a += step. One of
			 * ARCH_REG_PC leaves, as ARCH_OP_LEAVE does */
	ARCH_OP_STORE,	/* likewise, to there */
	ARCH_OP_UNFRAME,	/* the stack pointer = a; a is loaded from there,
				 * and the stack pointer passes it */
	ARCH_OP_CALL,	/* a function, which may not return */
	ARCH_OP_JUMP,	/* to target */
	ARCH_OP_BRANCH,	/* to target, or not */
	ARCH_OP_LEAVE,	/* to the address in register a: a return, a tail call,
			 * or a switch */
	ARCH_OP_END	/* no way on: a trap, or no instruction */
};

/* Registers by their DWARF numbers, all below ARCH_REG_COUNT. */
struct arch_operation {
	uint8_t kind;		/* enum arch_operation_kind */
	uint8_t size;		/* bytes */
	uint8_t d, a, b;
	bool delayed;		/* the next instruction runs before it goes
				 * anywhere else */
	bool annuls;		/* a branch: but not if it does not branch */
	bool conditional;	/* it may do nothing at all; no branch */
	bool falls;		/* the registers of `mask` go highest first */
	int32_t step;		/* bytes */
	int64_t value;		/* bytes, or what it is */
	uint64_t mask;		/* registers, by 1 << number */
	uintptr_t target;
};

#endif
