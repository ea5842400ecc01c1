/*
 * elf_class.h: records of ELF files of either class and either order of bytes
 * (System V gABI), as the wide ones of <elf.h>, in this machine's order.
 */
#ifndef GNOMON_ELF_CLASS_H
#define GNOMON_ELF_CLASS_H

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* `bytes` is a record as it lies in a file, at any alignment. */
struct elf_class {
	bool big;	/* the most significant byte comes first */
	bool swapped;	/* the order is not this machine's */
	size_t ehdr_size, phdr_size, shdr_size, sym_size;
	size_t rel_size, rela_size, chdr_size;
	void (*get_ehdr)(Elf64_Ehdr *to, const void *bytes);
	void (*get_phdr)(Elf64_Phdr *to, const void *bytes);
	void (*get_shdr)(Elf64_Shdr *to, const void *bytes);
	void (*get_sym)(Elf64_Sym *to, const void *bytes);
	/* r_info is the wide one's, too; that of MIPS' 64-bit files is not
	 * put right: it has another layout */
	void (*get_rel)(Elf64_Rel *to, const void *bytes);
	void (*get_rela)(Elf64_Rela *to, const void *bytes);
	void (*get_chdr)(Elf64_Chdr *to, const void *bytes);
	void (*put_ehdr)(void *bytes, const Elf64_Ehdr *from);
	void (*put_phdr)(void *bytes, const Elf64_Phdr *from);
	void (*put_shdr)(void *bytes, const Elf64_Shdr *from);
};

/* A word of such a file, as this machine has it. */
static inline uint32_t elf_class_word(const struct elf_class *class,
				      uint32_t word)
{
	return class->swapped ? __builtin_bswap32(word) : word;
}

/* By the first bytes of a file. NULL: it is no ELF file. */
const struct elf_class *elf_class_of(const unsigned char ident[EI_NIDENT]);

#endif
