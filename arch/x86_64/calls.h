/*
 * calls.h (x86-64): recognises calls and their effects in machine code.
 */
#ifndef GNOMON_ARCH_CALLS_H
#define GNOMON_ARCH_CALLS_H

#include <stdbool.h>
#include <stdint.h>

#define ARCH_CALL_MAX 7		/* bytes of a call instruction */

/* Whether a call instruction ends at ra: E8 rel32, or FF /2 in its lengths.
 * ARCH_CALL_MAX bytes before it can be read. */
static inline bool arch_after_call(uintptr_t ra)
{
	const uint8_t *p = (const uint8_t *)ra;
	int n;

	if (p[-5] == 0xe8)
		return true;
	for (n = 2; n <= ARCH_CALL_MAX; n++)
		if (p[-n] == 0xff && (p[1 - n] >> 3 & 7) == 2)
			return true;
	return false;
}

/* The address in a word that holds a return address: the word itself. */
static inline __attribute__((always_inline)) uintptr_t
arch_return_address(uintptr_t word)
{
	return word;
}

/*
 * The CFA of a lazy PLT entry, as linkers have written it since binutils 2.18:
 * sp + 8, and 8 more once its push (11 bytes into 16) has run. Bytes of a
 * DWARF expression: breg7 8, breg16 0, lit15, and, lit11, ge, lit3, shl, plus.
 */
#define ARCH_PLT_EXPRESSION                                                 \
	0x77, 0x08, 0x80, 0x00, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22
#define ARCH_PLT_CFA 8

/* The bytes that the PLT entry has pushed at pc. */
static inline uintptr_t arch_plt_pushed(uintptr_t pc)
{
	return (pc & 15) >= 11 ? 8 : 0;
}

#endif
