/*
 * elf_class.c: see elf_class.h. Records of the two classes have the same
 * fields, with different widths and order: each field is listed once here.
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

/* Symbol number and type share a word. */
#define WIDE_INFO(from) (sizeof((from)->r_info) == sizeof(Elf64_Xword) ? \
	(from)->r_info : ELF64_R_INFO((Elf64_Xword)			\
				      ELF32_R_SYM((from)->r_info),	\
				      ELF32_R_TYPE((from)->r_info)))

/* Fields have 1, 2, 4 or 8 bytes. */
#define SWAPPED(value) ((__typeof__(value))(				\
	sizeof(value) == 1 ? (uint64_t)(value) :			\
	sizeof(value) == 2 ? __builtin_bswap16((uint16_t)(value)) :	\
	sizeof(value) == 4 ? __builtin_bswap32((uint32_t)(value)) :	\
	__builtin_bswap64((uint64_t)(value))))

#define COPY(field) to->field = from->field;
#define SWAP_FROM(field) from->field = SWAPPED(from->field);
#define SWAP_TO(field) to->field = SWAPPED(to->field);

/* Relocations are read as they are in a record. */
#define PLAIN_EHDR(F) EHDR(F)
#define PLAIN_PHDR(F) PHDR(F)
#define PLAIN_SHDR(F) SHDR(F)
#define PLAIN_SYM(F) SYM(F)
#define PLAIN_REL(F) F(r_offset) F(r_info)
#define PLAIN_RELA(F) PLAIN_REL(F) F(r_addend)
#define PLAIN_CHDR(F) CHDR(F)

#define GET(bits, kind, Record, FIELDS, PLAIN)				\
static void take_##kind##bits(Elf64_##Record *to,			\
			      const Elf##bits##_##Record *from)		\
{									\
	FIELDS(COPY)							\
}									\
static void get_##kind##bits(Elf64_##Record *to, const void *bytes)	\
{									\
	Elf##bits##_##Record record;					\
									\
	memcpy(&record, bytes, sizeof(record));				\
	take_##kind##bits(to, &record);					\
}									\
static void get_swapped_##kind##bits(Elf64_##Record *to,		\
				     const void *bytes)			\
{									\
	Elf##bits##_##Record record, *from = &record;			\
									\
	memcpy(from, bytes, sizeof(*from));				\
	PLAIN(SWAP_FROM)						\
	take_##kind##bits(to, from);					\
}
#define PUT(bits, kind, Record, FIELDS, PLAIN)				\
static void put_##kind##bits(void *bytes, const Elf64_##Record *from)	\
{									\
	Elf##bits##_##Record record, *to = &record;			\
									\
	FIELDS(COPY)							\
	memcpy(bytes, to, sizeof(*to));					\
}									\
static void put_swapped_##kind##bits(void *bytes,			\
				     const Elf64_##Record *from)	\
{									\
	Elf##bits##_##Record record, *to = &record;			\
									\
	FIELDS(COPY)							\
	PLAIN(SWAP_TO)							\
	memcpy(bytes, to, sizeof(*to));					\
}
#define IDENT(F) memcpy(to->e_ident, from->e_ident, EI_NIDENT); EHDR(F)
#define OF_CLASS(bits, name, swap, how)					\
static const struct elf_class name##bits = {				\
	(BIG_HOST) != (swap), swap,					\
	sizeof(Elf##bits##_Ehdr), sizeof(Elf##bits##_Phdr),		\
	sizeof(Elf##bits##_Shdr), sizeof(Elf##bits##_Sym),		\
	sizeof(Elf##bits##_Rel), sizeof(Elf##bits##_Rela),		\
	sizeof(Elf##bits##_Chdr),					\
	get_##how##ehdr##bits, get_##how##phdr##bits,			\
	get_##how##shdr##bits, get_##how##sym##bits,			\
	get_##how##rel##bits, get_##how##rela##bits,			\
	get_##how##chdr##bits,						\
	put_##how##ehdr##bits, put_##how##phdr##bits,			\
	put_##how##shdr##bits,						\
};
#define BIG_HOST (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__)
#define BOTH(bits)							\
	GET(bits, ehdr, Ehdr, IDENT, PLAIN_EHDR)			\
	GET(bits, phdr, Phdr, PHDR, PLAIN_PHDR)				\
	GET(bits, shdr, Shdr, SHDR, PLAIN_SHDR)				\
	GET(bits, sym, Sym, SYM, PLAIN_SYM)				\
	GET(bits, rel, Rel, REL, PLAIN_REL)				\
	GET(bits, rela, Rela, RELA, PLAIN_RELA)				\
	GET(bits, chdr, Chdr, CHDR, PLAIN_CHDR)				\
	PUT(bits, ehdr, Ehdr, IDENT, PLAIN_EHDR)			\
	PUT(bits, phdr, Phdr, PHDR, PLAIN_PHDR)				\
	PUT(bits, shdr, Shdr, SHDR, PLAIN_SHDR)				\
	OF_CLASS(bits, own_, false, )					\
	OF_CLASS(bits, swapped_, true, swapped_)

BOTH(32)
BOTH(64)

const struct elf_class *elf_class_of(const unsigned char ident[EI_NIDENT])
{
	const unsigned own = BIG_HOST ? ELFDATA2MSB : ELFDATA2LSB;
	const unsigned other = BIG_HOST ? ELFDATA2LSB : ELFDATA2MSB;
	bool swap = ident[EI_DATA] == other;

	if (memcmp(ident, ELFMAG, SELFMAG) != 0 ||
	    (ident[EI_DATA] != own && !swap))
		return NULL;
	if (ident[EI_CLASS] == ELFCLASS64)
		return swap ? &swapped_64 : &own_64;
	if (ident[EI_CLASS] == ELFCLASS32)
		return swap ? &swapped_32 : &own_32;
	return NULL;
}
