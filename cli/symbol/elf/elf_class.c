/*
 * elf_class.c: see elf_class.h. Records of the two classes have the same
 * fields, of other widths and in another order: a field is named once here.
 */
#include "cli/symbol/elf/elf_class.h"

#include <stdint.h>
#include <string.h>

#define EHDR(F) F(e_type) F(e_machine) F(e_version) F(e_entry) F(e_phoff) \
	F(e_shoff) F(e_flags) F(e_ehsize) F(e_phentsize) F(e_phnum) \
	F(e_shentsize) F(e_shnum) F(e_shstrndx)
#define PHDR(F) F(p_type) F(p_flags) F(p_offset) F(p_vaddr) F(p_paddr) \
	F(p_filesz) F(p_memsz) F(p_align)
#define SHDR(F) F(sh_name) F(sh_type) F(sh_flags) F(sh_addr) F(sh_offset) \
	F(sh_size) F(sh_link) F(sh_info) F(sh_addralign) F(sh_entsize)
#define SYM(F) F(st_name) F(st_info) F(st_other) F(st_shndx) F(st_value) \
	F(st_size)
#define REL(F) F(r_offset) to->r_info = WIDE_INFO(from);
#define RELA(F) REL(F) F(r_addend)
#define CHDR(F) F(ch_type) F(ch_size) F(ch_addralign)

/* The number of a symbol and a type share a word. */
#define WIDE_INFO(from) (sizeof((from)->r_info) == sizeof(Elf64_Xword) ? \
	(from)->r_info : ELF64_R_INFO((Elf64_Xword)			\
				      ELF32_R_SYM((from)->r_info),	\
				      ELF32_R_TYPE((from)->r_info)))

#define COPY(field) to->field = from->field;

#define GET(bits, kind, Record, FIELDS)					\
static void get_##kind##bits(Elf64_##Record *to, const void *bytes)	\
{									\
	Elf##bits##_##Record record, *from = &record;			\
									\
	memcpy(from, bytes, sizeof(*from));				\
	FIELDS(COPY)							\
}
#define PUT(bits, kind, Record, FIELDS)					\
static void put_##kind##bits(void *bytes, const Elf64_##Record *from)	\
{									\
	Elf##bits##_##Record record, *to = &record;			\
									\
	FIELDS(COPY)							\
	memcpy(bytes, to, sizeof(*to));					\
}
#define IDENT(F) memcpy(to->e_ident, from->e_ident, EI_NIDENT); EHDR(F)
#define BOTH(bits)							\
	GET(bits, ehdr, Ehdr, IDENT)					\
	GET(bits, phdr, Phdr, PHDR)					\
	GET(bits, shdr, Shdr, SHDR)					\
	GET(bits, sym, Sym, SYM)					\
	GET(bits, rel, Rel, REL)					\
	GET(bits, rela, Rela, RELA)					\
	GET(bits, chdr, Chdr, CHDR)					\
	PUT(bits, ehdr, Ehdr, IDENT)					\
	PUT(bits, phdr, Phdr, PHDR)					\
	PUT(bits, shdr, Shdr, SHDR)					\
									\
static const struct elf_class class##bits = {				\
	sizeof(Elf##bits##_Ehdr), sizeof(Elf##bits##_Phdr),		\
	sizeof(Elf##bits##_Shdr), sizeof(Elf##bits##_Sym),		\
	sizeof(Elf##bits##_Rel), sizeof(Elf##bits##_Rela),		\
	sizeof(Elf##bits##_Chdr),					\
	get_ehdr##bits, get_phdr##bits, get_shdr##bits, get_sym##bits,	\
	get_rel##bits, get_rela##bits, get_chdr##bits,			\
	put_ehdr##bits, put_phdr##bits, put_shdr##bits,			\
};

BOTH(32)
BOTH(64)

const struct elf_class *elf_class_of(const unsigned char ident[EI_NIDENT])
{
	static const uint16_t order = 1;
	unsigned data = *(const char *)&order ? ELFDATA2LSB : ELFDATA2MSB;

	if (memcmp(ident, ELFMAG, SELFMAG) != 0 || ident[EI_DATA] != data)
		return NULL;
	return ident[EI_CLASS] == ELFCLASS64 ? &class64 :
	       ident[EI_CLASS] == ELFCLASS32 ? &class32 : NULL;
}
