/*
 * gdbjit.c: reads the object list of the GDB JIT interface.
 *
 *	descriptor: | version 1, action | relevant | first |
 *	                                              ▼
 *	entry:      | next | previous | address of the ELF object | size |
 *
 * After each change the program calls an empty function, where a debugger can
 * stop. We read the list instead, when a walk reaches code that no file and no
 * registered table covers, or code of a table shown here. A new object becomes
 * the first of the list, and each change stores its object in `relevant`: while
 * these words are unchanged, the list is not read.
 *
 * The list may change while we read it, and contain anything. Every piece is
 * checked to be readable first, the number of steps is bounded, and an object
 * with malformed headers is left out. Memory that is freed between check and
 * read can still fault; programs that use this interface change it a few times
 * a second at most.
 *
 * I1  Descriptors are added and removed under the image lock; each is one
 *     atomic word.
 * I2  One reader of the list at a time.
 */
#include <elf.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "unwind/base/assertion.h"
#include "unwind/base/memory.h"
#include "unwind/elf/dynsym.h"
#include "unwind/image/gdbjit.h"
#include "unwind/image/jit.h"

#define GDBJIT_IMAGES 8		/* images with the symbol: one for each JIT
				 * compiler */
#define GDBJIT_ENTRIES_MAX 16384
#define GDBJIT_SECTIONS_MAX 4096
#define GDBJIT_VERSION 1

struct gdbjit_entry {
	uintptr_t next, previous;
	uintptr_t object;
	uint64_t size;
};

struct gdbjit_descriptor {
	uint32_t version, action;
	uintptr_t relevant, first;
};

/* The descriptor's words when the list was last read. */
struct gdbjit_seen {
	uint32_t action;
	uintptr_t relevant, first;
};

static struct {
	_Atomic uintptr_t descriptor[GDBJIT_IMAGES];
	struct gdbjit_seen seen[GDBJIT_IMAGES];
	_Atomic uint32_t count;		/* entries ever used */
	_Atomic uint32_t gone;		/* an image with a list was unmapped */
	atomic_flag busy;		/* I2 */
} gdbjit = { .busy = ATOMIC_FLAG_INIT };

void gdbjit_init(void)
{
	unsigned i;

	for (i = 0; i < GDBJIT_IMAGES; i++) {
		atomic_store_explicit(&gdbjit.descriptor[i], 0,
				      memory_order_relaxed);
		gdbjit.seen[i] = (struct gdbjit_seen){ 0 };
	}
	atomic_store_explicit(&gdbjit.count, 0, memory_order_relaxed);
	atomic_flag_clear_explicit(&gdbjit.busy, memory_order_relaxed);
}

void gdbjit_image(const struct elfmap *map)
{
	uintptr_t at = dynsym_find(map, "__jit_debug_descriptor",
				   STT_OBJECT);
	unsigned i;

	for (i = 0; at && i < GDBJIT_IMAGES; i++) {
		if (atomic_load_explicit(&gdbjit.descriptor[i],
					 memory_order_relaxed))
			continue;
		gdbjit.seen[i] = (struct gdbjit_seen){ 0 };
		/* Pairs with the acquire in gdbjit_check. */
		atomic_store_explicit(&gdbjit.descriptor[i], at,
				      memory_order_release);
		if (i >= atomic_load_explicit(&gdbjit.count,
					      memory_order_relaxed))
			atomic_store_explicit(&gdbjit.count, i + 1,
					      memory_order_release);
		return;
	}
}

void gdbjit_image_gone(uintptr_t start, uintptr_t end)
{
	unsigned i;

	for (i = 0; i < GDBJIT_IMAGES; i++) {
		uintptr_t at = atomic_load_explicit(&gdbjit.descriptor[i],
						    memory_order_relaxed);

		if (at < start || at >= end)
			continue;
		atomic_store_explicit(&gdbjit.descriptor[i], 0,
				      memory_order_relaxed);
		atomic_store_explicit(&gdbjit.gone, 1, memory_order_relaxed);
	}
}

/* Finds bytes [offset, offset + size) of the object. */
static bool part(const struct gdbjit_entry *entry, uint64_t offset,
		 uint64_t size, uintptr_t *at)
{
	if (offset > entry->size || size > entry->size - offset)
		return false;
	*at = entry->object + offset;
	return jit_readable(*at, size);
}

static bool header_of(const struct gdbjit_entry *entry, ElfW(Ehdr) *header)
{
	uintptr_t at;

	if (!part(entry, 0, sizeof(*header), &at))
		return false;
	__builtin_memcpy(header, (const void *)at, sizeof(*header));
	return header->e_ident[EI_MAG0] == ELFMAG0 &&
	       header->e_ident[EI_MAG1] == ELFMAG1 &&
	       header->e_ident[EI_MAG2] == ELFMAG2 &&
	       header->e_ident[EI_MAG3] == ELFMAG3 &&
	       header->e_ident[EI_CLASS] == ELFMAP_CLASS &&
	       header->e_machine == ARCH_ELF_MACHINE &&
	       header->e_shentsize == sizeof(ElfW(Shdr)) &&
	       header->e_shnum <= GDBJIT_SECTIONS_MAX;
}

static bool section(const struct gdbjit_entry *entry,
		    const ElfW(Ehdr) *header, unsigned index,
		    ElfW(Shdr) *to)
{
	uintptr_t at;

	if (index >= header->e_shnum ||
	    !part(entry, header->e_shoff + index * sizeof(*to), sizeof(*to),
		  &at))
		return false;
	__builtin_memcpy(to, (const void *)at, sizeof(*to));
	return true;
}

static bool is_eh_frame(const struct gdbjit_entry *entry,
			const ElfW(Shdr) *names, const ElfW(Shdr) *s)
{
	static const char wanted[] = ".eh_frame";
	const char *name;
	uintptr_t at;
	unsigned i;

	if (s->sh_name > names->sh_size ||
	    names->sh_size - s->sh_name < sizeof(wanted) ||
	    !part(entry, names->sh_offset + s->sh_name, sizeof(wanted), &at))
		return false;
	name = (const char *)at;
	for (i = 0; i < sizeof(wanted) && name[i] == wanted[i]; i++)
		;
	return i == sizeof(wanted);
}

/* The section lies at its address, or in the object itself. */
static void take_section(const struct gdbjit_entry *entry, uintptr_t key,
			 const ElfW(Shdr) *s)
{
	struct jit_tables tables = {
		.key = key, .size = s->sh_size, .shown = true
	};

	tables.frames = s->sh_addr;
	if (s->sh_addr && jit_register(&tables))
		return;
	if (s->sh_type != SHT_NOBITS &&
	    part(entry, s->sh_offset, s->sh_size, &tables.frames))
		jit_register(&tables);
}

static void take_object(const struct gdbjit_entry *entry, uintptr_t key)
{
	ElfW(Shdr) names, s;
	ElfW(Ehdr) header;
	unsigned i;

	if (!header_of(entry, &header) ||
	    !section(entry, &header, header.e_shstrndx, &names))
		return;
	for (i = 1; section(entry, &header, i, &s); i++)
		if (is_eh_frame(entry, &names, &s)) {
			take_section(entry, key, &s);
			return;
		}
}

static void take_list(uintptr_t at)
{
	struct gdbjit_entry entry;
	unsigned n;

	for (n = 0; at && n < GDBJIT_ENTRIES_MAX; n++) {
		if (at & 7 || !jit_readable(at, sizeof(entry)))
			return;
		entry = *(const struct gdbjit_entry *)at;
		if (!jit_round_keep(at))
			take_object(&entry, at);
		at = entry.next;
	}
}

/* False: not a descriptor that we understand. */
static bool read_descriptor(unsigned i, struct gdbjit_seen *now)
{
	/* Pairs with the release in gdbjit_image. */
	uintptr_t at = atomic_load_explicit(&gdbjit.descriptor[i],
					    memory_order_acquire);
	const struct gdbjit_descriptor *d = (const void *)at;

	DEBUG_ASSERT(i < GDBJIT_IMAGES);
	if (!at || d->version != GDBJIT_VERSION)
		return false;
	now->action = __atomic_load_n(&d->action, __ATOMIC_RELAXED);
	now->relevant = __atomic_load_n(&d->relevant, __ATOMIC_RELAXED);
	now->first = __atomic_load_n(&d->first, __ATOMIC_ACQUIRE);
	return true;
}

static bool changed(unsigned i, const struct gdbjit_seen *now)
{
	const struct gdbjit_seen *seen = &gdbjit.seen[i];

	return now->action != seen->action ||
	       now->relevant != seen->relevant || now->first != seen->first;
}

void gdbjit_check(void)
{
	uint32_t i, count = atomic_load_explicit(&gdbjit.count,
						 memory_order_acquire);
	struct gdbjit_seen now = { 0 };
	bool any = atomic_load_explicit(&gdbjit.gone, memory_order_relaxed);

	DEBUG_ASSERT(count <= GDBJIT_IMAGES);
	for (i = 0; i < count; i++)
		any |= read_descriptor(i, &now) && changed(i, &now);
	/* Acquire pairs with the release below. */
	if (!any || atomic_flag_test_and_set_explicit(&gdbjit.busy,
						      memory_order_acquire))
		return;
	atomic_store_explicit(&gdbjit.gone, 0, memory_order_relaxed);
	jit_round_begin();
	for (i = 0; i < count; i++)
		if (read_descriptor(i, &now)) {
			gdbjit.seen[i] = now;
			take_list(now.first);
		}
	jit_round_end();
	atomic_flag_clear_explicit(&gdbjit.busy, memory_order_release);
}
