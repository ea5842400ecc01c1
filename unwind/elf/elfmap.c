/*
 * elfmap.c: reads bytes and notes of a mapped image.
 *
 * I1  Every byte read lies in a readable segment, and every byte of a note in
 *     its PT_NOTE.
 */
#include <elf.h>

#include "unwind/base/assertion.h"
#include "unwind/base/memory.h"
#include "unwind/elf/elfmap.h"

#define NOTE_ALIGN 4u
#define OWNER_MAX 16u		/* bytes of an owner's name that are compared */

bool elfmap_copy(const struct elfmap *map, void *to, uintptr_t at,
		 size_t size)
{
	if (!elfmap_inside(map, at, size))
		return false;
	if (!map->stays)
		return unwind_copy(to, at, size) == size;
	__builtin_memcpy(to, (const void *)at, size);
	return true;
}

/* Compares as strings: Go's size includes a NUL of the padding. */
static bool same_owner(const char *name, uint32_t size, const char *owner)
{
	uint32_t n;

	for (n = 0; n < size; n++)
		if (name[n] != owner[n] || !owner[n])
			return name[n] == owner[n];
	return false;
}

/* 64 bits: the sum of two may exceed 32 bits. */
static uint64_t padded(uint32_t size)
{
	return ((uint64_t)size + NOTE_ALIGN - 1) & ~(uint64_t)(NOTE_ALIGN - 1);
}

/* Searches [at, at + left), which lies inside the image. */
static bool find_note(const struct elfmap *map, uintptr_t at, size_t left,
		      const char *owner, uint32_t type, void *to, size_t room,
		      uint32_t *size)
{
	char name[OWNER_MAX];
	ElfW(Nhdr) note;

	for (; left >= sizeof(note);) {
		uint32_t known;
		uint64_t whole;

		if (!elfmap_copy(map, &note, at, sizeof(note)))
			return false;
		whole = sizeof(note) + padded(note.n_namesz) +
			padded(note.n_descsz);
		if (whole > left)
			return false;
		known = note.n_namesz < OWNER_MAX ? note.n_namesz : OWNER_MAX;
		DEBUG_ASSERT(whole >= sizeof(note) && whole % NOTE_ALIGN == 0);
		if (note.n_type == type &&
		    elfmap_copy(map, name, at + sizeof(note), known) &&
		    same_owner(name, known, owner)) {
			*size = note.n_descsz;
			at += sizeof(note) + (uintptr_t)padded(note.n_namesz);
			return elfmap_copy(map, to, at,
					   *size < room ? *size : room);
		}
		at += (uintptr_t)whole;
		left -= (size_t)whole;
	}
	return false;
}

bool elfmap_note(const struct elfmap *map, const char *owner, uint32_t type,
		 void *to, size_t room, uint32_t *size)
{
	unsigned i;

	for (i = 0; i < map->phnum; i++) {
		const ElfW(Phdr) *p = &map->phdr[i];
		uintptr_t at = map->bias + p->p_vaddr;

		if (p->p_type == PT_NOTE && at % NOTE_ALIGN == 0 &&
		    elfmap_inside(map, at, p->p_memsz) &&
		    find_note(map, at, p->p_memsz, owner, type, to, room,
			      size))
			return true;
	}
	return false;
}
