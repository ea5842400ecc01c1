/*
 * calls.h (ARM): recognises calls and their effects in machine code (Arm
 * Architecture Reference Manual, ARMv7-A, A5 and A6).
 */
#ifndef GNOMON_ARCH_CALLS_H
#define GNOMON_ARCH_CALLS_H

#include <stdbool.h>
#include <stdint.h>

#include "regs.h"

#define ARCH_CALL_MAX 4		/* bytes of a call instruction */

/* BL and BLX, with an immediate or a register target. */
static inline bool arch_after_arm_call(uint32_t word)
{
	return ((word & 0x0f000000) == 0x0b000000 && word >> 28 != 0xf) ||
	       (word & 0xfe000000) == 0xfa000000 ||
	       (word & 0x0ffffff0) == 0x012fff30;
}

/* Whether the last of two half-words before the address, or both, are a
 * call. */
static inline bool arch_after_thumb_call(uint16_t first, uint16_t second)
{
	return (second & 0xff87) == 0x4780 ||
	       ((first & 0xf800) == 0xf000 && (second & 0xc000) == 0xc000);
}

/* Whether a call instruction ends at ra, in ARM or Thumb code: ra does not say
 * which. ARCH_CALL_MAX bytes before it can be read. */
static inline bool arch_after_call(uintptr_t ra)
{
	const uint16_t *half = (const uint16_t *)ra;

	if (ra % ARCH_INSTRUCTION)
		return false;
	return arch_after_thumb_call(half[-2], half[-1]) ||
	       (ra % 4 == 0 &&
		arch_after_arm_call(half[-2] | (uint32_t)half[-1] << 16));
}

/* The address in a word that holds a return address: the lowest bit, which
 * marks Thumb code, is removed. */
static inline __attribute__((always_inline)) uintptr_t
arch_return_address(uintptr_t word)
{
	return word & ~(uintptr_t)1;
}

/* The number of the system call that the code makes, from 8 readable bytes: mov
 * r7 and svc, in Thumb or ARM; svc in ARM code may have a number. 0: the code
 * is something else. */
static inline unsigned arch_code_call(uintptr_t code)
{
	const uint16_t *half = (const uint16_t *)code;
	uint32_t first = half[0] | (uint32_t)half[1] << 16;

	if (half[1] == 0xdf00 && half[0] >> 8 == 0x27)
		return half[0] & 0xff;
	if (half[2] == 0xdf00 && half[0] == 0xf04f && half[1] >> 8 == 0x07)
		return half[1] & 0xff;
	if (code % 4 == 0 && first >> 8 == 0xe3a070 && half[3] >> 8 == 0xef)
		return first & 0xff;
	return 0;
}

/* Whether the C libraries' clone continues here after a thread's first function
 * has returned: the thread exits. No unwind table entry covers that code
 * alone. */
#define ARCH_ENDS_THREAD 8	/* bytes that are read */
#define ARCH_EXIT 1

static inline bool arch_ends_thread(uintptr_t code)
{
	return arch_code_call(code) == ARCH_EXIT;
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
