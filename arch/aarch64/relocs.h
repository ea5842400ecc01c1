/*
 * relocs.h (AArch64): the relocations that leave the address of a function of
 * another image in a word.
 */
#ifndef GNOMON_ARCH_RELOCS_H
#define GNOMON_ARCH_RELOCS_H

#define ARCH_RELOC_WORD 257		/* R_AARCH64_ABS64 */
#define ARCH_RELOC_GLOB_DAT 1025	/* R_AARCH64_GLOB_DAT */
#define ARCH_RELOC_JUMP_SLOT 1026	/* R_AARCH64_JUMP_SLOT */

#endif
