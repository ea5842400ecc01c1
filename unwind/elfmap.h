/*
 * elfmap.h: what an image's program headers say about its memory, for whoever
 * reads the image where it is mapped. All addresses in a file are hostile:
 * nothing is read before elfmap_inside said so.
 *
 * Thread context: any thread, while the image is mapped (in a callback of the
 * loader's list).
 */
#ifndef GNOMON_UNWIND_ELFMAP_H
#define GNOMON_UNWIND_ELFMAP_H

#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Whether all of [at, at + size) lies in one readable segment. */
static inline bool elfmap_inside(const struct dl_phdr_info *info, uintptr_t at,
				 size_t size)
{
	unsigned i;

	for (i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];
		uintptr_t offset = at - (info->dlpi_addr + p->p_vaddr);

		if (p->p_type == PT_LOAD && p->p_flags & PF_R &&
		    offset < p->p_memsz && size <= p->p_memsz - offset)
			return true;
	}
	return false;
}

/*
 * The description of the first note (System V gABI, "Note Section") with this
 * owner and type, and its size; NULL: the image has none.
 */
const uint8_t *elfmap_note(const struct dl_phdr_info *info, const char *owner,
			   uint32_t type, uint32_t *size_bytes);

#endif
