/*
 * elf_builder.h: ELF files of any number of sections, made in memory. More
 * than the header can count are counted by the first section (System V gABI,
 * "ELF Header").
 */
#ifndef GNOMON_ELF_BUILDER_H
#define GNOMON_ELF_BUILDER_H

#include <elf.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct elf_builder {
	uint8_t *bytes;
	size_t size, capacity;
	Elf64_Shdr *sections;	/* the first is all zeroes */
	uint32_t count, names;	/* the latter: of sections, its number */
	char *text;
	size_t text_size, text_capacity;
};

static inline void elf_builder_room(void **list, size_t *capacity, size_t size)
{
	if (size <= *capacity)
		return;
	*capacity = size * 2 + 4096;
	*list = realloc(*list, *capacity);
	if (*list == NULL)
		abort();
}

static inline size_t elf_builder_put(struct elf_builder *b, const void *data,
				     size_t size)
{
	size_t at = (b->size + 7) & ~(size_t)7;

	elf_builder_room((void **)&b->bytes, &b->capacity, at + size + 1);
	memset(b->bytes + b->size, 0, at - b->size);
	if (size > 0)
		memcpy(b->bytes + at, data, size);
	b->size = at + size;
	return at;
}

static inline uint32_t elf_builder_name(struct elf_builder *b,
					const char *name)
{
	size_t at = b->text_size;

	elf_builder_room((void **)&b->text, &b->text_capacity,
			 at + strlen(name) + 1);
	strcpy(b->text + at, name);
	b->text_size += strlen(name) + 1;
	return (uint32_t)at;
}

/* Its number. */
static inline uint32_t elf_builder_section(struct elf_builder *b,
					   const Elf64_Shdr *like,
					   const char *name, const void *data,
					   size_t size)
{
	Elf64_Shdr *section;

	if (b->count % 1024 == 0)
		b->sections = realloc(b->sections, (b->count + 1024) *
				      sizeof(*b->sections));
	if (b->sections == NULL)
		abort();
	section = &b->sections[b->count];
	*section = *like;
	section->sh_name = elf_builder_name(b, name);
	section->sh_size = size;
	section->sh_offset = like->sh_type == SHT_NOBITS ? 0 :
		elf_builder_put(b, data, size);
	return b->count++;
}

static inline void elf_builder_begin(struct elf_builder *b)
{
	static const Elf64_Ehdr none;
	static const Elf64_Shdr first;

	memset(b, 0, sizeof(*b));
	elf_builder_put(b, &none, sizeof(none));
	elf_builder_section(b, &first, "", NULL, 0);
}

/* Names and headers come last. */
static inline void elf_builder_end(struct elf_builder *b)
{
	Elf64_Ehdr header = {
		.e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64,
			     ELFDATA2LSB, EV_CURRENT },
		.e_type = ET_DYN, .e_machine = EM_X86_64,
		.e_version = EV_CURRENT, .e_ehsize = sizeof(Elf64_Ehdr),
		.e_phentsize = sizeof(Elf64_Phdr),
		.e_shentsize = sizeof(Elf64_Shdr),
	};
	const Elf64_Shdr strings = { .sh_type = SHT_STRTAB };

	b->names = elf_builder_section(b, &strings, ".shstrtab", "", 0);
	b->sections[b->names].sh_size = b->text_size;
	b->sections[b->names].sh_offset =
		elf_builder_put(b, b->text, b->text_size);
	header.e_shnum = b->count < SHN_LORESERVE ? (uint16_t)b->count : 0;
	header.e_shstrndx = b->names < SHN_LORESERVE ? (uint16_t)b->names :
		SHN_XINDEX;
	if (header.e_shnum == 0)
		b->sections[0].sh_size = b->count;
	if (header.e_shstrndx == SHN_XINDEX)
		b->sections[0].sh_link = b->names;
	header.e_shoff = elf_builder_put(b, b->sections,
					 b->count * sizeof(*b->sections));
	memcpy(b->bytes, &header, sizeof(header));
}

/* The bytes, too. */
static inline void elf_builder_free(struct elf_builder *b)
{
	free(b->bytes);
	free(b->sections);
	free(b->text);
}

#endif
