/*
 * relocs.h (ARM): relocations that store the address of another image's
 * function in a word.
 */
#ifndef GNOMON_ARCH_RELOCS_H
#define GNOMON_ARCH_RELOCS_H

#include <elf.h>
#include <stdint.h>

#define ARCH_RELOC_WORD 2		/* R_ARM_ABS32 */
#define ARCH_RELOC_GLOB_DAT 21		/* R_ARM_GLOB_DAT */
#define ARCH_RELOC_JUMP_SLOT 22		/* R_ARM_JUMP_SLOT */

/* The fields of r_info. */
static inline uint32_t arch_reloc_type(uint64_t info)
{
	return ELF32_R_TYPE((uint32_t)info);
}

static inline uint32_t arch_reloc_symbol(uint64_t info)
{
	return ELF32_R_SYM((uint32_t)info);
}

#endif
