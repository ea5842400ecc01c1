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
#include "preload/mapped_file.h"
#include "preload/seccomp.h"
#include "preload/section.h"

#define SECTION_FILE_MIN 64
#define SECTION_NAME_MAX 32	/* longer names are not looked for */

static const Elf64_Shdr *section_header(const struct mapped_file *f,
					uint64_t i)
{
	const Elf64_Ehdr *e = (const void *)f->bytes;

	return (const void *)(f->bytes + e->e_shoff + i * sizeof(Elf64_Shdr));
}

static bool section_file_is_sane(const struct mapped_file *f)
{
	const Elf64_Ehdr *e = (const void *)f->bytes;

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

static bool section_named(const struct mapped_file *f, uint64_t at,
			  const char *name)
{
	uint64_t i;

	for (i = 0; i < SECTION_NAME_MAX && at < f->size; i++, at++) {
		if (f->bytes[at] != (uint8_t)name[i])
			return false;
		if (!name[i])
			return true;
	}
	return false;
}

static bool section_search(const struct mapped_file *f, const char *name,
			   uint64_t *address, uint64_t *size)
{
	const Elf64_Ehdr *e = (const void *)f->bytes;
	uint64_t names, i;

	if (!section_file_is_sane(f))
		return false;
	names = section_header(f, e->e_shstrndx)->sh_offset;
	if (names > f->size)
		return false;
	for (i = 0; i < e->e_shnum; i++) {
		const Elf64_Shdr *s = section_header(f, i);

		if (!(s->sh_flags & SHF_ALLOC) || s->sh_type == SHT_NOBITS ||
		    !section_named(f, names + s->sh_name, name))
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
	struct mapped_file file;
	bool found = false;

	if (!unwind_may(SECCOMP_NO_FILES) || !mapped_file_open(&file, path))
		return false;
	if (file.size >= SECTION_FILE_MIN)
		found = section_search(&file, name, address, size);
	mapped_file_close(&file);
	return found;
}
