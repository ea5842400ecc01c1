/*
 * dynsym.h: the dynamic section of a mapped image: symbols that it exports or
 * wants, its own name, its relocations.
 */
#ifndef GNOMON_UNWIND_DYNSYM_H
#define GNOMON_UNWIND_DYNSYM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "unwind/elfmap.h"

/* What it names. An address is 0 where there is none. */
struct dynsym {
	const struct elfmap *map;
	uintptr_t symbols, strings, gnu_hash, hash, versions;
	uintptr_t soname;	/* in strings */
	/* relocations, and those of the PLT; bytes of all, and of one */
	uintptr_t relocs[2];
	size_t relocs_bytes[2], reloc_bytes;
};

/* False: it has no symbols. Reads nothing but the image's own segments, as all
 * of the rest. Any thread. */
bool dynsym_open(struct dynsym *d, const struct elfmap *map);

/*
 * The entry (ElfW(Sym)) in the image's table of a symbol that the image
 * defines, of its default version, by the hash table that its loader uses; 0:
 * it has none. types: bits by STT_*; DYNSYM_NOWHERE: one whose address is 0,
 * which else is none.
 */
#define DYNSYM_NOWHERE 0x10000u
uintptr_t dynsym_entry(const struct dynsym *d, const char *name,
		       uint32_t types);

/* The run-time address of one of this type (STT_OBJECT, STT_FUNC). */
uintptr_t dynsym_find(const struct elfmap *map, const char *name,
		      unsigned type);

/* The same for a variable, with its size. */
uintptr_t dynsym_object(const struct elfmap *map, const char *name,
			size_t *size_bytes);

/* Whether the image wants one of these symbols from others. As above, for an
 * image that stays: it takes too long for others, whose bytes are copied. */
bool dynsym_imports(const struct elfmap *map, const char *const *names,
		    unsigned count);

/* DT_SONAME. False: it has none, or none that fits. As above. */
bool dynsym_soname(const struct elfmap *map, char *name, size_t size);

#endif
