/*
 * elfmap.c: the notes of a mapped image.
 *
 * I1  Every byte read lies in a readable segment and in its PT_NOTE.
 */
#include <elf.h>

#include "unwind/elfmap.h"

#define NOTE_ALIGN 4u

/* As strings: Go counts a NUL of the padding in. */
static bool same_owner(const ElfW(Nhdr) *note, const char *owner)
{
	const char *name = (const char *)(note + 1);
	uint32_t n;

	for (n = 0; n < note->n_namesz; n++)
		if (name[n] != owner[n] || !owner[n])
			return name[n] == owner[n];
	return false;
}

static size_t padded(uint32_t size)
{
	return ((size_t)size + NOTE_ALIGN - 1) & ~(size_t)(NOTE_ALIGN - 1);
}

static const uint8_t *find_note(const uint8_t *at, size_t left,
				const char *owner, uint32_t type,
				uint32_t *size)
{
	const ElfW(Nhdr) *note;

	for (; left >= sizeof(*note);) {
		size_t name, whole;

		note = (const void *)at;
		name = padded(note->n_namesz);
		whole = sizeof(*note) + name + padded(note->n_descsz);
		if (whole > left)
			return NULL;
		if (note->n_type == type && same_owner(note, owner)) {
			*size = note->n_descsz;
			return at + sizeof(*note) + name;
		}
		at += whole;
		left -= whole;
	}
	return NULL;
}

const uint8_t *elfmap_note(const struct dl_phdr_info *info, const char *owner,
			   uint32_t type, uint32_t *size)
{
	const uint8_t *found = NULL;
	unsigned i;

	for (i = 0; i < info->dlpi_phnum && !found; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];
		uintptr_t at = info->dlpi_addr + p->p_vaddr;

		if (p->p_type == PT_NOTE && at % NOTE_ALIGN == 0 &&
		    elfmap_inside(info, at, p->p_memsz))
			found = find_note((const uint8_t *)at, p->p_memsz,
					  owner, type, size);
	}
	return found;
}
