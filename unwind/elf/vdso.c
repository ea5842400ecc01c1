/*
 * vdso.c: see vdso.h. The image is the kernel's own, and never unmapped; it is
 * still read like any other, inside its segments only.
 */
#include <elf.h>
#include <string.h>

#include "arch.h"
#include "unwind/elf/dynsym.h"
#include "unwind/elf/vdso.h"

#if ARCH_CLOCK
int (*arch_clock)(clockid_t clock, struct timespec *now);
#endif

#define VDSO_HEADERS_MAX 16u

uintptr_t vdso_function(uintptr_t header, const char *name)
{
	const ElfW(Ehdr) *file = (const ElfW(Ehdr) *)header;
	struct elfmap map = { .stays = true };
	unsigned i;

	if (!header || memcmp(file->e_ident, ELFMAG, SELFMAG) ||
	    file->e_ident[EI_CLASS] != ELFMAP_CLASS ||
	    file->e_phentsize != sizeof(*map.phdr) ||
	    file->e_phnum > VDSO_HEADERS_MAX)
		return 0;
	map.phdr = (const ElfW(Phdr) *)(header + file->e_phoff);
	map.phnum = file->e_phnum;
	for (i = 0; i < map.phnum && map.phdr[i].p_type != PT_LOAD; i++)
		;
	if (i == map.phnum)
		return 0;
	map.bias = header + map.phdr[i].p_offset - map.phdr[i].p_vaddr;
	return dynsym_find(&map, name, STT_FUNC);
}

void vdso_take_clock(uintptr_t header)
{
#if ARCH_CLOCK
	/* no function has the address 0 */
	arch_clock = (int (*)(clockid_t, struct timespec *))
		vdso_function(header, ARCH_CLOCK_NAME);
#else
	(void)header;
#endif
}
