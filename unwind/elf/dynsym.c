/*
 * dynsym.c: looks up a symbol in an image's DT_GNU_HASH (or DT_HASH), as the
 * loader does (System V gABI; "GNU hash ELF sections", binutils, 2006).
 *
 * Thread context: any thread, also signal handlers.
 *
 * I1  Everything is read by elfmap_copy, from a readable segment.
 */
#include <stdbool.h>
#include <stddef.h>

#include "unwind/base/assertion.h"
#include "unwind/elf/dynsym.h"
#include "unwind/elf/elfmap.h"

#define ENTRIES_AT_ONCE 8u	/* entries of a dynamic section, which has about
				 * 30 */
#define VERSION_HIDDEN 0x8000	/* of an entry of DT_VERSYM */
#define CHAIN_MAX 4096u	/* symbols in one bucket; real ones have ten */
#define NAME_MAX_BYTES 64
#define NAME_PIECE 16u
#define SYMBOLS_MAX (1u << 20)	/* symbols searched for imports */

static bool get_u32(const struct dynsym *d, uintptr_t at, uint32_t *value)
{
	return !(at & 3) && elfmap_copy(d->map, value, at, sizeof(*value));
}

/* The loader may have written addresses in place of offsets. */
static uintptr_t relocated(const struct dynsym *d, uintptr_t value)
{
	uintptr_t bias = d->map->bias;

	return value < bias ? bias + value : value;
}

static void take_entry(struct dynsym *d, const ElfW(Dyn) *entry)
{
	uintptr_t value = entry->d_un.d_val, at = relocated(d, value);

	switch (entry->d_tag) {
	case DT_SYMTAB:
		d->symbols = at;
		break;
	case DT_STRTAB:
		d->strings = at;
		break;
	case DT_GNU_HASH:
		d->gnu_hash = at;
		break;
	case DT_HASH:
		d->hash = at;
		break;
	case DT_VERSYM:
		d->versions = at;
		break;
	case DT_SONAME:
		d->soname = value;
		break;
	case DT_RELA:
	case DT_REL:
		d->relocs[0] = at;
		break;
	case DT_JMPREL:
		d->relocs[1] = at;
		break;
	case DT_RELASZ:
	case DT_RELSZ:
		d->relocs_bytes[0] = value;
		break;
	case DT_PLTRELSZ:
		d->relocs_bytes[1] = value;
		break;
	case DT_PLTREL:
		d->reloc_bytes = value == DT_RELA ? sizeof(ElfW(Rela)) :
						    sizeof(ElfW(Rel));
		break;
	case DT_RELAENT:
	case DT_RELENT:
		d->reloc_bytes = value;
		break;
	}
}

/* Reads up to ENTRIES_AT_ONCE entries. */
static bool take_entries(struct dynsym *d, uintptr_t at, size_t count)
{
	ElfW(Dyn) entry[ENTRIES_AT_ONCE];
	size_t i;

	DEBUG_ASSERT(count > 0 && count <= ENTRIES_AT_ONCE);
	if (!elfmap_copy(d->map, entry, at, count * sizeof(entry[0])))
		return false;
	for (i = 0; i < count; i++) {
		if (entry[i].d_tag == DT_NULL)
			return false;
		take_entry(d, &entry[i]);
	}
	return true;
}

bool dynsym_open(struct dynsym *d, const struct elfmap *map)
{
	unsigned i;

	*d = (struct dynsym){ .map = map };
	for (i = 0; i < map->phnum; i++) {
		const ElfW(Phdr) *p = &map->phdr[i];
		uintptr_t at = map->bias + p->p_vaddr;
		size_t left = p->p_memsz / sizeof(ElfW(Dyn));

		if (p->p_type != PT_DYNAMIC ||
		    !elfmap_inside(map, at, p->p_memsz))
			continue;
		while (left) {
			size_t n = left < ENTRIES_AT_ONCE ? left :
							    ENTRIES_AT_ONCE;

			if (!take_entries(d, at, n))
				break;
			at += n * sizeof(ElfW(Dyn));
			left -= n;
		}
	}
	return d->symbols && d->strings;
}

static bool same_name(const struct dynsym *d, uintptr_t at, const char *name)
{
	char read[NAME_MAX_BYTES];
	size_t n = 0;

	while (name[n] && n < NAME_MAX_BYTES)
		n++;
	if (n == NAME_MAX_BYTES || !elfmap_copy(d->map, read, at, n + 1))
		return false;
	for (n = 0; read[n] == name[n]; n++)
		if (!name[n])
			return true;
	return false;
}

/* Whether the symbol exists only for programs linked to an older version. */
static bool is_hidden(const struct dynsym *d, uint32_t index)
{
	uint16_t version;

	return d->versions &&
	       elfmap_copy(d->map, &version,
			   d->versions + index * sizeof(version),
			   sizeof(version)) &&
	       version & VERSION_HIDDEN;
}

/* The address of symbol number `index`'s entry, if it is the requested symbol;
 * else 0. */
static uintptr_t entry_if(const struct dynsym *d, uint32_t index,
			  const char *name, uint32_t types)
{
	uintptr_t at = d->symbols + index * sizeof(ElfW(Sym));
	ElfW(Sym) s;

	DEBUG_ASSERT(d->symbols && d->strings);
	return elfmap_copy(d->map, &s, at, sizeof(s)) &&
			       s.st_shndx != SHN_UNDEF &&
			       !s.st_value == !!(types & DYNSYM_NOWHERE) &&
			       types >> (s.st_info & 15) & 1 &&
			       same_name(d, d->strings + s.st_name, name) &&
			       !is_hidden(d, index) ?
		       at : 0;
}

/* Checks the Bloom filter, which avoids most lookups. */
static bool may_be_there(const struct dynsym *d, uint32_t hash, uint32_t words,
			 uint32_t shift)
{
	const uint32_t bits = 8 * sizeof(ElfW(Addr));
	uintptr_t at = d->gnu_hash + 16;
	ElfW(Addr) word;

	DEBUG_ASSERT(words);
	at += hash / bits % words * sizeof(word);
	return elfmap_copy(d->map, &word, at, sizeof(word)) &&
	       word >> hash % bits & word >> (hash >> (shift & 31)) % bits & 1;
}

static uintptr_t find_gnu(const struct dynsym *d, const char *name,
			  uint32_t types)
{
	uint32_t head[4], first, i, value, hash = 5381, n;
	uintptr_t bucket, chain;
	const char *s;

	for (s = name; *s; s++)
		hash = hash * 33 + (unsigned char)*s;
	/* buckets, index of the first symbol, words of the filter, shift */
	if (d->gnu_hash & 3 ||
	    !elfmap_copy(d->map, head, d->gnu_hash, sizeof(head)) ||
	    !head[0] || !head[2] || !may_be_there(d, hash, head[2], head[3]))
		return 0;
	first = head[1];
	bucket = d->gnu_hash + 16 + head[2] * sizeof(ElfW(Addr));
	chain = bucket + 4 * (uintptr_t)head[0];
	if (!get_u32(d, bucket + 4 * (uintptr_t)(hash % head[0]), &i) ||
	    i < first)
		return 0;
	for (n = 0; n < CHAIN_MAX; n++, i++) {
		uintptr_t found;

		if (!get_u32(d, chain + 4 * (uintptr_t)(i - first), &value))
			return 0;
		found = (value | 1) == (hash | 1) ?
				entry_if(d, i, name, types) : 0;
		if (found || value & 1)
			return found;
	}
	return 0;
}

static uintptr_t find_sysv(const struct dynsym *d, const char *name,
			   uint32_t types)
{
	uint32_t buckets, chains, i, hash = 0, n;
	uintptr_t bucket = d->hash + 8, found;
	const char *s;

	for (s = name; *s; s++) {
		hash = (hash << 4) + (unsigned char)*s;
		hash = (hash ^ (hash >> 24 & 0xf0)) & 0x0fffffff;
	}
	if (!get_u32(d, d->hash, &buckets) || !buckets ||
	    !get_u32(d, d->hash + 4, &chains) ||
	    !get_u32(d, bucket + 4 * (uintptr_t)(hash % buckets), &i))
		return 0;
	for (n = 0; i && i < chains && n < CHAIN_MAX; n++) {
		found = entry_if(d, i, name, types);
		if (found)
			return found;
		if (!get_u32(d, bucket + 4 * ((uintptr_t)buckets + i), &i))
			return 0;
	}
	return 0;
}

uintptr_t dynsym_entry(const struct dynsym *d, const char *name,
		       uint32_t types)
{
	if (d->gnu_hash)
		return find_gnu(d, name, types);
	return d->hash ? find_sysv(d, name, types) : 0;
}

/* 0: not found, or the image was unmapped meanwhile. */
static uintptr_t find(const struct elfmap *map, const char *name,
		      unsigned type, size_t *size)
{
	struct dynsym d;
	uintptr_t at;
	ElfW(Sym) s;

	at = dynsym_open(&d, map) ? dynsym_entry(&d, name, 1u << type) : 0;
	if (!at || !elfmap_copy(map, &s, at, sizeof(s)))
		return 0;
	*size = s.st_size;
	return map->bias + s.st_value;
}

uintptr_t dynsym_find(const struct elfmap *map, const char *name,
		      unsigned type)
{
	size_t size;

	return find(map, name, type, &size);
}

uintptr_t dynsym_object(const struct elfmap *map, const char *name,
			size_t *size)
{
	*size = 0;
	return find(map, name, STT_OBJECT, size);
}

/* An upper bound of the undefined symbols. DT_GNU_HASH contains only defined
 * ones, and undefined symbols precede them. An image without defined symbols
 * does not give their number, but linkers place the string table behind the
 * symbols. */
static uint32_t undefined_end(const struct dynsym *d)
{
	uintptr_t most = (d->strings - d->symbols) / sizeof(ElfW(Sym));
	uint32_t end = 0;

	if (d->gnu_hash)
		get_u32(d, d->gnu_hash + 4, &end);
	else if (d->hash)
		get_u32(d, d->hash + 4, &end);
	if (d->gnu_hash && end <= 1 && d->strings > d->symbols)
		end = most < SYMBOLS_MAX ? (uint32_t)most : SYMBOLS_MAX;
	return end < SYMBOLS_MAX ? end : SYMBOLS_MAX;
}

static bool is_import(const struct dynsym *d, uint32_t index,
		      const char *const *names, unsigned count)
{
	uintptr_t at = d->symbols + index * sizeof(ElfW(Sym));
	ElfW(Sym) s;
	unsigned i;

	if (!elfmap_copy(d->map, &s, at, sizeof(s)) ||
	    s.st_shndx != SHN_UNDEF)
		return false;
	for (i = 0; i < count; i++)
		if (same_name(d, d->strings + s.st_name, names[i]))
			return true;
	return false;
}

bool dynsym_imports(const struct elfmap *map, const char *const *names,
		    unsigned count)
{
	struct dynsym d;
	uint32_t end, i;

	if (!dynsym_open(&d, map))
		return false;
	end = undefined_end(&d);
	for (i = 1; i < end; i++)
		if (is_import(&d, i, names, count))
			return true;
	return false;
}

bool dynsym_soname(const struct elfmap *map, char *name, size_t size)
{
	struct dynsym d;
	size_t n, end;

	dynsym_open(&d, map);
	for (n = 0; d.strings && d.soname && n < size;) {
		uintptr_t at = d.strings + d.soname + n;

		end = n + NAME_PIECE < size ? n + NAME_PIECE : size;
		DEBUG_ASSERT(n < end && end <= size);
		/* the string table may end within this piece */
		if (!elfmap_copy(map, name + n, at, end - n)) {
			end = n + 1;
			if (!elfmap_copy(map, name + n, at, 1))
				return false;
		}
		for (; n < end; n++)
			if (!name[n])
				return true;
	}
	return false;
}
