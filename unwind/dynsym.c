/*
 * dynsym.c: looking a name up in an image's DT_GNU_HASH (or DT_HASH), as the
 * loader does (System V gABI; "GNU hash ELF sections", binutils, 2006).
 *
 * Thread context: any thread, also signal handlers.
 *
 * I1  Everything is read by elfmap_copy: from inside a readable segment.
 */
#include <stdbool.h>
#include <stddef.h>

#include "unwind/claim.h"
#include "unwind/dynsym.h"
#include "unwind/elfmap.h"

#define ENTRIES_AT_ONCE 8u	/* of a dynamic section, which has 30 */
#define VERSION_HIDDEN 0x8000	/* of an entry of DT_VERSYM */
#define CHAIN_MAX 4096u	/* symbols in one bucket; real ones have ten */
#define NAME_MAX_BYTES 64
#define NAME_PIECE 16u
#define SYMBOLS_MAX (1u << 20)	/* looked at for imports */

struct tables {
	const struct elfmap *map;
	uintptr_t symbols, strings, gnu_hash, hash, versions;
	uintptr_t soname;	/* in strings; 0: none */
	unsigned type;		/* of the symbol wanted, STT_* */
	size_t size;		/* of the one found */
};

static bool get_u32(const struct tables *t, uintptr_t at, uint32_t *value)
{
	return !(at & 3) && elfmap_copy(t->map, value, at, sizeof(*value));
}

/* The loader may have written addresses in place of offsets. */
static uintptr_t relocated(const struct tables *t, uintptr_t value)
{
	uintptr_t bias = t->map->bias;

	return value < bias ? bias + value : value;
}

static void take_entry(struct tables *t, const ElfW(Dyn) *entry)
{
	uintptr_t at = relocated(t, entry->d_un.d_ptr);

	switch (entry->d_tag) {
	case DT_SYMTAB:
		t->symbols = at;
		break;
	case DT_STRTAB:
		t->strings = at;
		break;
	case DT_GNU_HASH:
		t->gnu_hash = at;
		break;
	case DT_HASH:
		t->hash = at;
		break;
	case DT_VERSYM:
		t->versions = at;
		break;
	case DT_SONAME:
		t->soname = entry->d_un.d_val;
		break;
	}
}

/* A table of at most so many entries is read at a time. */
static bool take_entries(struct tables *t, uintptr_t at, size_t count)
{
	ElfW(Dyn) entry[ENTRIES_AT_ONCE];
	size_t i;

	CLAIM_FULL(count > 0 && count <= ENTRIES_AT_ONCE);
	if (!elfmap_copy(t->map, entry, at, count * sizeof(entry[0])))
		return false;
	for (i = 0; i < count; i++) {
		if (entry[i].d_tag == DT_NULL)
			return false;
		take_entry(t, &entry[i]);
	}
	return true;
}

static void find_tables(struct tables *t)
{
	unsigned i;

	for (i = 0; i < t->map->phnum; i++) {
		const ElfW(Phdr) *p = &t->map->phdr[i];
		uintptr_t at = t->map->bias + p->p_vaddr;
		size_t left = p->p_memsz / sizeof(ElfW(Dyn));

		if (p->p_type != PT_DYNAMIC ||
		    !elfmap_inside(t->map, at, p->p_memsz))
			continue;
		while (left) {
			size_t n = left < ENTRIES_AT_ONCE ? left :
							    ENTRIES_AT_ONCE;

			if (!take_entries(t, at, n))
				break;
			at += n * sizeof(ElfW(Dyn));
			left -= n;
		}
	}
}

static bool same_name(const struct tables *t, uintptr_t at, const char *name)
{
	char read[NAME_MAX_BYTES];
	size_t n = 0;

	while (name[n] && n < NAME_MAX_BYTES)
		n++;
	if (n == NAME_MAX_BYTES || !elfmap_copy(t->map, read, at, n + 1))
		return false;
	for (n = 0; read[n] == name[n]; n++)
		if (!name[n])
			return true;
	return false;
}

/* Whether it is there only for programs that were linked to an older one. */
static bool is_hidden(const struct tables *t, uint32_t index)
{
	uint16_t version;

	return t->versions &&
	       elfmap_copy(t->map, &version,
			   t->versions + index * sizeof(version),
			   sizeof(version)) &&
	       version & VERSION_HIDDEN;
}

/* The address of symbol number `index`, if it is the one. */
static uintptr_t symbol_value(struct tables *t, uint32_t index,
			      const char *name)
{
	uintptr_t at = t->symbols + index * sizeof(ElfW(Sym));
	ElfW(Sym) s;

	CLAIM_FULL(t->symbols && t->strings);
	if (!elfmap_copy(t->map, &s, at, sizeof(s)) ||
	    s.st_shndx == SHN_UNDEF || !s.st_value ||
	    (s.st_info & 15) != t->type ||
	    !same_name(t, t->strings + s.st_name, name) || is_hidden(t, index))
		return 0;
	t->size = s.st_size;
	return t->map->bias + s.st_value;
}

/* What its Bloom filter says spares most of the rest. */
static bool may_be_there(const struct tables *t, uint32_t hash, uint32_t words,
			 uint32_t shift)
{
	const uint32_t bits = 8 * sizeof(ElfW(Addr));
	uintptr_t at = t->gnu_hash + 16;
	ElfW(Addr) word;

	CLAIM_FULL(words);
	at += hash / bits % words * sizeof(word);
	return elfmap_copy(t->map, &word, at, sizeof(word)) &&
	       word >> hash % bits & word >> (hash >> (shift & 31)) % bits & 1;
}

static uintptr_t find_gnu(struct tables *t, const char *name)
{
	uint32_t head[4], first, i, value, hash = 5381, n;
	uintptr_t bucket, chain;
	const char *s;

	for (s = name; *s; s++)
		hash = hash * 33 + (unsigned char)*s;
	/* buckets, index of the first symbol, words of the filter, shift */
	if (t->gnu_hash & 3 ||
	    !elfmap_copy(t->map, head, t->gnu_hash, sizeof(head)) ||
	    !head[0] || !head[2] || !may_be_there(t, hash, head[2], head[3]))
		return 0;
	first = head[1];
	bucket = t->gnu_hash + 16 + head[2] * sizeof(ElfW(Addr));
	chain = bucket + 4 * (uintptr_t)head[0];
	if (!get_u32(t, bucket + 4 * (uintptr_t)(hash % head[0]), &i) ||
	    i < first)
		return 0;
	for (n = 0; n < CHAIN_MAX; n++, i++) {
		uintptr_t found;

		if (!get_u32(t, chain + 4 * (uintptr_t)(i - first), &value))
			return 0;
		found = (value | 1) == (hash | 1) ? symbol_value(t, i, name) :
						    0;
		if (found || value & 1)
			return found;
	}
	return 0;
}

static uintptr_t find_sysv(struct tables *t, const char *name)
{
	uint32_t buckets, chains, i, hash = 0, n;
	uintptr_t bucket = t->hash + 8, found;
	const char *s;

	for (s = name; *s; s++) {
		hash = (hash << 4) + (unsigned char)*s;
		hash = (hash ^ (hash >> 24 & 0xf0)) & 0x0fffffff;
	}
	if (!get_u32(t, t->hash, &buckets) || !buckets ||
	    !get_u32(t, t->hash + 4, &chains) ||
	    !get_u32(t, bucket + 4 * (uintptr_t)(hash % buckets), &i))
		return 0;
	for (n = 0; i && i < chains && n < CHAIN_MAX; n++) {
		found = symbol_value(t, i, name);
		if (found)
			return found;
		if (!get_u32(t, bucket + 4 * ((uintptr_t)buckets + i), &i))
			return 0;
	}
	return 0;
}

static uintptr_t find(struct tables *t, const char *name)
{
	find_tables(t);
	if (!t->symbols || !t->strings || !(t->gnu_hash || t->hash))
		return 0;
	return t->gnu_hash ? find_gnu(t, name) : find_sysv(t, name);
}

uintptr_t dynsym_find(const struct elfmap *map, const char *name,
		      unsigned type)
{
	struct tables t = { .map = map, .type = type };

	return find(&t, name);
}

uintptr_t dynsym_object(const struct elfmap *map, const char *name,
			size_t *size)
{
	struct tables t = { .map = map, .type = STT_OBJECT };
	uintptr_t at = find(&t, name);

	*size = t.size;
	return at;
}

/* How many symbols there may be that are not the image's own: a DT_GNU_HASH
 * has none of them, so they stand before those it has. */
static uint32_t undefined_end(const struct tables *t)
{
	uint32_t end = 0;

	if (t->gnu_hash ? get_u32(t, t->gnu_hash + 4, &end) :
			  t->hash && get_u32(t, t->hash + 4, &end))
		return end < SYMBOLS_MAX ? end : SYMBOLS_MAX;
	return 0;
}

static bool is_import(const struct tables *t, uint32_t index,
		      const char *const *names, unsigned count)
{
	uintptr_t at = t->symbols + index * sizeof(ElfW(Sym));
	ElfW(Sym) s;
	unsigned i;

	if (!elfmap_copy(t->map, &s, at, sizeof(s)) ||
	    s.st_shndx != SHN_UNDEF)
		return false;
	for (i = 0; i < count; i++)
		if (same_name(t, t->strings + s.st_name, names[i]))
			return true;
	return false;
}

bool dynsym_imports(const struct elfmap *map, const char *const *names,
		    unsigned count)
{
	struct tables t = { .map = map };
	uint32_t end, i;

	find_tables(&t);
	if (!t.symbols || !t.strings)
		return false;
	end = undefined_end(&t);
	for (i = 1; i < end; i++)
		if (is_import(&t, i, names, count))
			return true;
	return false;
}

bool dynsym_soname(const struct elfmap *map, char *name, size_t size)
{
	struct tables t = { .map = map };
	size_t n, end;

	find_tables(&t);
	for (n = 0; t.strings && t.soname && n < size;) {
		uintptr_t at = t.strings + t.soname + n;

		end = n + NAME_PIECE < size ? n + NAME_PIECE : size;
		CLAIM_FULL(n < end && end <= size);
		/* the table of strings may end behind a shorter one */
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
