/*
 * dynsym.h: reads the dynamic section of a mapped image: symbols that it
 * exports or imports, its soname, its relocations.
 */
#ifndef GNOMON_UNWIND_DYNSYM_H
#define GNOMON_UNWIND_DYNSYM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "unwind/elf/elfmap.h"

/* Addresses from the dynamic section; 0: not present. */
struct dynsym {
	const struct elfmap *map;
	uintptr_t symbols, strings, gnu_hash, hash, versions;
	uintptr_t soname;	/* in strings */
	/* relocations, and those of the PLT; bytes in total, and of each */
	uintptr_t relocs[2];
	size_t relocs_bytes[2], reloc_bytes;
};

/* False: the image has no symbols. Like all functions here, it reads only the
 * image's own segments. Any thread. */
bool dynsym_open(struct dynsym *d, const struct elfmap *map);

/*
 * The address of the symbol's entry (ElfW(Sym)) in the image's table: defined
 * by the image, in its default version, found by the hash table that its loader
 * uses. 0: none. types: a bit for each accepted STT_*; DYNSYM_NOWHERE: find a
 * symbol whose address is 0; without it such symbols are skipped.
 */
#define DYNSYM_NOWHERE 0x10000u
uintptr_t dynsym_entry(const struct dynsym *d, const char *name,
		       uint32_t types);

/* The run-time address of a symbol of this type (STT_OBJECT, STT_FUNC). */
uintptr_t dynsym_find(const struct elfmap *map, const char *name,
		      unsigned type);

/* The same for a variable, with its size. */
uintptr_t dynsym_object(const struct elfmap *map, const char *name,
			size_t *size_bytes);

/* Whether the image imports one of these symbols. Like above, but only for an
 * image that is never unmapped: reading others means copying, which takes too
 * long. */
bool dynsym_imports(const struct elfmap *map, const char *const *names,
		    unsigned count);

/* Copies DT_SONAME. False: the image has none, or it does not fit. As above. */
bool dynsym_soname(const struct elfmap *map, char *name, size_t size);

#endif
