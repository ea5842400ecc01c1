/*
 * elf_class.h: reads and writes records of ELF files of both classes and byte
 * orders (System V gABI), as the 64-bit structs of <elf.h> in the host's byte
 * order.
 */
#ifndef GNOMON_ELF_CLASS_H
#define GNOMON_ELF_CLASS_H

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* `bytes` points to a record of a file, at any alignment. */
struct elf_class {
	bool big;	/* most significant byte first */
	bool swapped;	/* byte order differs from the host's */
	size_t ehdr_size, phdr_size, shdr_size, sym_size;
	size_t rel_size, rela_size, chdr_size;
	void (*get_ehdr)(Elf64_Ehdr *to, const void *bytes);
	void (*get_phdr)(Elf64_Phdr *to, const void *bytes);
	void (*get_shdr)(Elf64_Shdr *to, const void *bytes);
	void (*get_sym)(Elf64_Sym *to, const void *bytes);
	/* r_info becomes the 64-bit form. MIPS' 64-bit r_info has another
	 * layout, and is not converted. */
	void (*get_rel)(Elf64_Rel *to, const void *bytes);
	void (*get_rela)(Elf64_Rela *to, const void *bytes);
	void (*get_chdr)(Elf64_Chdr *to, const void *bytes);
	void (*put_ehdr)(void *bytes, const Elf64_Ehdr *from);
	void (*put_phdr)(void *bytes, const Elf64_Phdr *from);
	void (*put_shdr)(void *bytes, const Elf64_Shdr *from);
};

/* A word of such a file in the host's byte order. */
static inline uint32_t elf_class_word(const struct elf_class *class,
				      uint32_t word)
{
	return class->swapped ? __builtin_bswap32(word) : word;
}

/* From the first bytes of a file. NULL: not an ELF file. */
const struct elf_class *elf_class_of(const unsigned char ident[EI_NIDENT]);

#endif
