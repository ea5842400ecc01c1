/*
 * relocs.h (AArch64): relocations that store the address of another image's
 * function in a word.
 */
#ifndef GNOMON_ARCH_RELOCS_H
#define GNOMON_ARCH_RELOCS_H

#include <elf.h>
#include <stdint.h>

#define ARCH_RELOC_WORD 257		/* R_AARCH64_ABS64 */
#define ARCH_RELOC_GLOB_DAT 1025	/* R_AARCH64_GLOB_DAT */
#define ARCH_RELOC_JUMP_SLOT 1026	/* R_AARCH64_JUMP_SLOT */

/* The fields of r_info. */
static inline uint32_t arch_reloc_type(uint64_t info)
{
	return (uint32_t)ELF64_R_TYPE(info);
}

static inline uint32_t arch_reloc_symbol(uint64_t info)
{
	return (uint32_t)ELF64_R_SYM(info);
}

#endif
