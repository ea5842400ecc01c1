/*
 * section.c: reading an ELF file's section headers.
 *
 * The file may have been replaced since it was mapped; whoever uses the
 * answer must bound it by what is mapped (the unwinder reads tables only
 * inside the image's segments, and hostile ones at that).
 *
 * I1  Nothing is read outside [file, file + size): every offset and count is
 *     compared with the size first.
 *
 * Thread context: any, at the first use of an image.
 */
#include <elf.h>

#include "arch.h"
#include "preload/base/ban.h"
#include "preload/base/copied_file.h"
#include "preload/base/section.h"

#define SECTION_NAME_MAX 32	/* longer names are not looked for */

static bool section_file_is_sane(const struct copied_file *f,
				 const Elf64_Ehdr *e)
{
	return e->e_ident[EI_MAG0] == ELFMAG0 &&
	       e->e_ident[EI_MAG1] == ELFMAG1 &&
	       e->e_ident[EI_MAG2] == ELFMAG2 &&
	       e->e_ident[EI_MAG3] == ELFMAG3 &&
	       e->e_ident[EI_CLASS] == ELFCLASS64 &&
	       e->e_machine == ARCH_ELF_MACHINE &&
	       e->e_shentsize == sizeof(Elf64_Shdr) && e->e_shoff % 8 == 0 &&
	       e->e_shoff <= f->size &&
	       e->e_shnum <= (f->size - e->e_shoff) / sizeof(Elf64_Shdr) &&
	       e->e_shstrndx < e->e_shnum;
}

/* In a table of `size` bytes, at `at`. */
static bool section_named(const char *names, uint64_t size, uint64_t at,
			  const char *name)
{
	uint64_t i;

	for (i = 0; i < SECTION_NAME_MAX && at < size; i++, at++) {
		if (names[at] != name[i])
			return false;
		if (!name[i])
			return true;
	}
	return false;
}

static bool section_search(struct copied_file *f, const char *name,
			   uint64_t *address, uint64_t *size)
{
	const Elf64_Ehdr *at = copied_file_part(f, 0, sizeof(*at));
	const Elf64_Shdr *sections;
	const char *names;
	uint64_t start, length, i;
	Elf64_Ehdr e;

	if (!at)
		return false;
	e = *at;
	if (!section_file_is_sane(f, &e))
		return false;
	sections = copied_file_part(f, e.e_shoff,
				    e.e_shnum * sizeof(*sections));
	start = sections ? sections[e.e_shstrndx].sh_offset : UINT64_MAX;
	if (start > f->size)
		return false;
	/* its header may say more than there is */
	length = base_min(sections[e.e_shstrndx].sh_size, f->size - start);
	names = copied_file_part(f, start, length);
	for (i = 0; names && i < e.e_shnum; i++) {
		const Elf64_Shdr *s = &sections[i];

		if (!(s->sh_flags & SHF_ALLOC) || s->sh_type == SHT_NOBITS ||
		    !section_named(names, length, s->sh_name, name))
			continue;
		*address = s->sh_addr;
		*size = s->sh_size;
		return true;
	}
	return false;
}

bool section_find(const char *path, const char *name, uint64_t *address,
		  uint64_t *size)
{
	struct copied_file file;
	bool found;

	if (!unwind_may(SECCOMP_NO_FILES) || !copied_file_open(&file, path))
		return false;
	found = section_search(&file, name, address, size);
	copied_file_close(&file);
	return found;
}
