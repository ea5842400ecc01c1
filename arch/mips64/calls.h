/*
 * calls.h (MIPS64): recognises calls and their effects in machine code (MIPS64
 * Architecture for Programmers, volume II).
 */
#ifndef GNOMON_ARCH_CALLS_H
#define GNOMON_ARCH_CALLS_H

#include <stdbool.h>
#include <stdint.h>

#include "regs.h"

#define ARCH_CALL_MAX 8		/* bytes of a call and its delay slot */

/* Whether a call ends at ra: JAL, JALR, BAL and the branches that are calls.
 * ARCH_CALL_MAX bytes before it can be read. */
static inline bool arch_after_call(uintptr_t ra)
{
	uint32_t word;

	if (ra % ARCH_INSTRUCTION)
		return false;
	word = ((const uint32_t *)ra)[-2];
	return word >> 26 == 3 || (word & 0xfc1ff83f) == 0x0000f809 ||
	       (word & 0xfc1c0000) == 0x04100000;
}

/* The address in a word that holds a return address. */
static inline __attribute__((always_inline)) uintptr_t
arch_return_address(uintptr_t word)
{
	return word;
}

/* Stubs of lazy binding push nothing and are in no unwind table. So this
 * expression must never match: no DWARF operation has this code. */
#define ARCH_PLT_EXPRESSION 0x00
#define ARCH_PLT_CFA 0

static inline uintptr_t arch_plt_pushed(uintptr_t pc)
{
	(void)pc;
	return 0;
}

#endif
