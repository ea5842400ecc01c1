/*
 * relocs.h (MIPS64): relocations that store the address of another image's
 * function in a word. GOT entries have none: all symbols from DT_MIPS_GOTSYM on
 * have a GOT entry.
 */
#ifndef GNOMON_ARCH_RELOCS_H
#define GNOMON_ARCH_RELOCS_H

#include <stdint.h>

#define ARCH_RELOC_WORD 0x1203		/* R_MIPS_REL32, then R_MIPS_64 */
#define ARCH_RELOC_GLOB_DAT 51		/* R_MIPS_GLOB_DAT */
#define ARCH_RELOC_JUMP_SLOT 127	/* R_MIPS_JUMP_SLOT */

/*
 * The fields of r_info, which is a structure: a 32-bit symbol, a special
 * symbol, and three types, the last one first (MIPS64 ELF Object File
 * Specification, 2.9). Read as one word, it has the usual layout only in
 * big-endian files.
 */
static inline uint32_t arch_reloc_type(uint64_t info)
{
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	return (uint32_t)info;
#else
	return __builtin_bswap32((uint32_t)(info >> 32));
#endif
}

static inline uint32_t arch_reloc_symbol(uint64_t info)
{
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	return (uint32_t)(info >> 32);
#else
	return (uint32_t)info;
#endif
}

#endif
