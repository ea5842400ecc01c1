/*
 * loader.c: see loader.h. Threads that are inside dl_iterate_phdr are counted,
 * by the hook that the program calls (hooks_loader.c) and for our own calls.
 * A child that finds the count not 0 takes the lock for lost. One that is left
 * by a jump out of the callback counts for ever; children then list what is
 * mapped in the other way, which is as good as long as nothing is loaded.
 *
 * I1  Static and not wiped: a child has its parent's count.
 */
#include "preload/loader.h"

#include <elf.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>

#include "preload/base.h"
#include "preload/loader_count.h"
#include "preload/real.h"
#include "unwind/memory.h"

_Atomic int loader_inside;
static bool loader_lost;

/* Of the program itself, whose file header the list does not lead to. */
static const ElfW(Phdr) *loader_phdr;
static unsigned loader_phnum;

static int loader_note(struct dl_phdr_info *info, size_t size, void *data)
{
	(void)size;
	(void)data;
	loader_phdr = info->dlpi_phdr;
	loader_phnum = info->dlpi_phnum;
	return 1;
}

static bool loader_describe(const struct link_map *map, bool first,
			    struct dl_phdr_info *info)
{
	const ElfW(Ehdr) *file = (const ElfW(Ehdr) *)map->l_addr;

	memset(info, 0, sizeof(*info));
	info->dlpi_addr = map->l_addr;
	info->dlpi_name = map->l_name ? map->l_name : "";
	if (first) {
		info->dlpi_phdr = loader_phdr;
		info->dlpi_phnum = loader_phnum;
		return loader_phdr != NULL;
	}
	/* a library's first segment begins with the file, as a rule */
	if (!unwind_readable((uintptr_t)file) ||
	    memcmp(file->e_ident, ELFMAG, SELFMAG) != 0)
		return false;
	info->dlpi_phdr = (const void *)(map->l_addr + file->e_phoff);
	info->dlpi_phnum = file->e_phnum;
	return true;
}

static int loader_walk(int (*callback)(struct dl_phdr_info *info, size_t size,
				       void *data),
		       void *data)
{
	const struct link_map *map = real_own_map();
	struct dl_phdr_info info;
	int result = 0;

	while (map && map->l_prev)
		map = map->l_prev;
	for (; map && !result; map = map->l_next)
		/* the size of what every loader fills: no counts of changes */
		if (loader_describe(map, !map->l_prev, &info))
			result = callback(&info,
					  offsetof(struct dl_phdr_info,
						   dlpi_adds),
					  data);
	return result;
}

int loader_iterate(int (*callback)(struct dl_phdr_info *info, size_t size,
				   void *data),
		   void *data)
{
	int result;

	if (loader_lost)
		return loader_walk(callback, data);
	if (!real_iterate())
		return 0;
	loader_enter();
	if (!loader_phdr)
		real.iterate(loader_note, NULL);
	result = real.iterate(callback, data);
	loader_leave();
	return result;
}

void loader_forked(void)
{
	if (atomic_exchange_explicit(&loader_inside, 0,
				     memory_order_relaxed) > 0)
		loader_lost = true;
}
