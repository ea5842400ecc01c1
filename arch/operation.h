/*
 * operation.h: an architecture-independent description of what an instruction
 * does to a frame. A port whose compilers emit code without unwind tables
 * translates its instructions into these (decode.h); unwind/rules/prologue.c
 * interprets them.
 */
#ifndef GNOMON_ARCH_OPERATION_H
#define GNOMON_ARCH_OPERATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum arch_operation_kind {
	ARCH_OP_OTHER,	/* the registers of `mask` get unknown values */
	ARCH_OP_SET,	/* d = value */
	ARCH_OP_ADD,	/* d = a + value */
	ARCH_OP_SUM,	/* d = a + b */
	ARCH_OP_DIFFERENCE,	/* d = a - b */
	ARCH_OP_LOAD,	/* loads the registers of `mask`, lowest first, from the
			 * words at a + value; then a += step. Loading
			 * ARCH_REG_PC is a jump, like ARCH_OP_LEAVE */
	ARCH_OP_STORE,	/* likewise, stores them */
	ARCH_OP_UNFRAME,	/* the stack pointer = a; then a is popped */
	ARCH_OP_CALL,	/* calls a function, which may not return */
	ARCH_OP_JUMP,	/* jumps to target */
	ARCH_OP_BRANCH,	/* jumps to target, or not */
	ARCH_OP_LEAVE,	/* jumps to the address in register a: a return, a tail
			 * call, or a switch */
	ARCH_OP_END	/* no next instruction: a trap, or invalid */
};

/* Registers by their DWARF numbers, all below ARCH_REG_COUNT. */
struct arch_operation {
	uint8_t kind;		/* enum arch_operation_kind */
	uint8_t size;		/* bytes */
	uint8_t d, a, b;
	bool delayed;		/* has a delay slot: the next instruction is
				 * executed before the jump */
	bool annuls;		/* of a branch: the delay slot is executed only
				 * if the branch is taken */
	bool conditional;	/* it may have no effect; not a branch */
	bool falls;		/* the registers of `mask` are in order highest
				 * first */
	int32_t step;		/* bytes */
	int64_t value;		/* bytes, or the value that is set */
	uint64_t mask;		/* registers, 1 << number */
	uintptr_t target;
};

#endif
