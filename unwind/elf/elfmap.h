/*
 * elfmap.h: a mapped ELF image as its program headers describe it, and safe
 * reads from it. All addresses in a file are hostile: nothing is read before
 * elfmap_inside has accepted its range. Another thread may unmap the image at
 * any moment, unless the image stays mapped for ever: then it is read through
 * elfmap_copy only.
 *
 * Thread context: any thread, also signal handlers.
 */
#ifndef GNOMON_UNWIND_ELFMAP_H
#define GNOMON_UNWIND_ELFMAP_H

#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* EI_CLASS of images that can be mapped here. */
#define ELFMAP_CLASS (sizeof(uintptr_t) == 8 ? ELFCLASS64 : ELFCLASS32)

struct elfmap {
	uintptr_t link_map;	/* the loader's entry; 0: there is none */
	uintptr_t bias;		/* run-time minus link-time address */
	const char *path;	/* as in the loader's list; NULL: none */
	const ElfW(Phdr) *phdr;	/* never in memory that may be unmapped */
	unsigned phnum;
	bool stays;		/* never unmapped */
};

/* Whether all of [at, at + size) lies in one readable segment. */
static inline bool elfmap_inside(const struct elfmap *map, uintptr_t at,
				 size_t size)
{
	unsigned i;

	for (i = 0; i < map->phnum; i++) {
		const ElfW(Phdr) *p = &map->phdr[i];
		uintptr_t offset = at - (map->bias + p->p_vaddr);

		if (p->p_type == PT_LOAD && p->p_flags & PF_R &&
		    offset < p->p_memsz && size <= p->p_memsz - offset)
			return true;
	}
	return false;
}

/* Copies [at, at + size) if it lies inside the image. False: it does not, or it
 * is not mapped (any more). */
bool elfmap_copy(const struct elfmap *map, void *to, uintptr_t at,
		 size_t size);

/*
 * The description of the first note (System V gABI, "Note Section") with this
 * owner and type: stores its size, and as many of its bytes as fit. False: the
 * image has none.
 */
bool elfmap_note(const struct elfmap *map, const char *owner, uint32_t type,
		 void *to, size_t room, uint32_t *size_bytes);

#endif
