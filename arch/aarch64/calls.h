/*
 * calls.h (AArch64): recognises calls and their effects in machine code (Arm
 * Architecture Reference Manual, C4.1).
 */
#ifndef GNOMON_ARCH_CALLS_H
#define GNOMON_ARCH_CALLS_H

#include <stdbool.h>
#include <stdint.h>

#include "regs.h"

#define ARCH_CALL_MAX 4		/* bytes of a call instruction */

/* Whether a call instruction ends at ra: BL, BLR, or a BLR that authenticates.
 * ARCH_CALL_MAX bytes before it can be read. */
static inline bool arch_after_call(uintptr_t ra)
{
	uint32_t word;

	if (ra % ARCH_CALL_MAX)
		return false;
	word = ((const uint32_t *)ra)[-1];
	return (word & 0xfc000000) == 0x94000000 ||
	       (word & 0xfffffc1f) == 0xd63f0000 ||
	       (word & 0xfefff800) == 0xd63f0800;
}

/*
 * The address in a word that holds a return address, which a function may have
 * signed (PACIASP). Strips the signature like XPACLRI, for addresses of
 * ARCH_ADDRESS_BITS. Signatures are never checked here.
 */
static inline __attribute__((always_inline)) uintptr_t
arch_return_address(uintptr_t word)
{
	return word & ARCH_ADDRESS_MAX;
}

/* PLT entries do not push and have no unwind table entry: an expression that
 * never occurs, as no operation has this code. */
#define ARCH_PLT_EXPRESSION 0x00
#define ARCH_PLT_CFA 0

static inline uintptr_t arch_plt_pushed(uintptr_t pc)
{
	(void)pc;
	return 0;
}

#endif
