/*
 * dynsym.c: looking a name up in an image's DT_GNU_HASH (or DT_HASH), as the
 * loader does (System V gABI; "GNU hash ELF sections", binutils, 2006).
 *
 * Thread context: any thread, in a callback of the loader's list.
 *
 * I1  Every address is inside a readable segment of the image before it is
 *     read.
 */
#include <stdbool.h>
#include <stddef.h>

#include "unwind/dynsym.h"
#include "unwind/elfmap.h"

#define CHAIN_MAX (1u << 20)	/* symbols in one bucket */
#define NAME_MAX_BYTES 64
#define SYMBOLS_MAX (1u << 20)	/* looked at for imports */

struct tables {
	const struct dl_phdr_info *info;
	uintptr_t symbols, strings, gnu_hash, hash;
	uintptr_t soname;	/* in strings; 0: none */
	unsigned type;		/* of the symbol wanted, STT_* */
};

/* I1 */
static bool inside(const struct tables *t, uintptr_t at, size_t size)
{
	return elfmap_inside(t->info, at, size);
}

static bool get_u32(const struct tables *t, uintptr_t at, uint32_t *value)
{
	if (!inside(t, at, sizeof(*value)) || at & 3)
		return false;
	*value = *(const uint32_t *)at;
	return true;
}

/* The loader may have written addresses in place of offsets. */
static uintptr_t relocated(const struct tables *t, uintptr_t value)
{
	uintptr_t bias = t->info->dlpi_addr;

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
	case DT_SONAME:
		t->soname = entry->d_un.d_val;
		break;
	}
}

static void find_tables(struct tables *t)
{
	unsigned i;

	for (i = 0; i < t->info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &t->info->dlpi_phdr[i];
		uintptr_t at = t->info->dlpi_addr + p->p_vaddr;
		size_t left = p->p_memsz / sizeof(ElfW(Dyn));

		if (p->p_type != PT_DYNAMIC || !inside(t, at, p->p_memsz))
			continue;
		for (; left; left--, at += sizeof(ElfW(Dyn))) {
			if (((const ElfW(Dyn) *)at)->d_tag == DT_NULL)
				break;
			take_entry(t, (const ElfW(Dyn) *)at);
		}
	}
}

static bool same_name(const struct tables *t, uintptr_t at, const char *name)
{
	size_t n;

	for (n = 0; n < NAME_MAX_BYTES; n++) {
		if (!inside(t, at + n, 1) || *(const char *)(at + n) != name[n])
			return false;
		if (!name[n])
			return true;
	}
	return false;
}

/* The address of symbol number `index`, if it is the one. */
static uintptr_t symbol_value(const struct tables *t, uint32_t index,
			      const char *name)
{
	uintptr_t at = t->symbols + index * sizeof(ElfW(Sym));
	const ElfW(Sym) *s = (const ElfW(Sym) *)at;

	if (!inside(t, at, sizeof(*s)) || s->st_shndx == SHN_UNDEF ||
	    !s->st_value || (s->st_info & 15) != t->type ||
	    !same_name(t, t->strings + s->st_name, name))
		return 0;
	return t->info->dlpi_addr + s->st_value;
}

static uintptr_t find_gnu(const struct tables *t, const char *name)
{
	uint32_t buckets, first, words, i, value, hash = 5381, n;
	uintptr_t table = t->gnu_hash, bucket, found;
	const char *s;

	for (s = name; *s; s++)
		hash = hash * 33 + (unsigned char)*s;
	if (!get_u32(t, table, &buckets) || !buckets ||
	    !get_u32(t, table + 4, &first) || !get_u32(t, table + 8, &words))
		return 0;
	bucket = table + 16 + words * sizeof(ElfW(Addr));
	if (!get_u32(t, bucket + 4 * (uintptr_t)(hash % buckets), &i) ||
	    i < first)
		return 0;
	for (n = 0; n < CHAIN_MAX; n++, i++) {
		uintptr_t chain = bucket + 4 * (uintptr_t)buckets;

		if (!get_u32(t, chain + 4 * (uintptr_t)(i - first), &value))
			return 0;
		found = (value | 1) == (hash | 1) ? symbol_value(t, i, name) :
						    0;
		if (found || value & 1)
			return found;
	}
	return 0;
}

static uintptr_t find_sysv(const struct tables *t, const char *name)
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

uintptr_t dynsym_find(const struct dl_phdr_info *info, const char *name,
		      unsigned type)
{
	struct tables t = { .info = info, .type = type };

	find_tables(&t);
	if (!t.symbols || !t.strings || !(t.gnu_hash || t.hash))
		return 0;
	return t.gnu_hash ? find_gnu(&t, name) : find_sysv(&t, name);
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
	const ElfW(Sym) *s = (const ElfW(Sym) *)at;
	unsigned i;

	if (!inside(t, at, sizeof(*s)) || s->st_shndx != SHN_UNDEF)
		return false;
	for (i = 0; i < count; i++)
		if (same_name(t, t->strings + s->st_name, names[i]))
			return true;
	return false;
}

bool dynsym_imports(const struct dl_phdr_info *info, const char *const *names,
		    unsigned count)
{
	struct tables t = { .info = info };
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

bool dynsym_soname(const struct dl_phdr_info *info, char *name, size_t size)
{
	struct tables t = { .info = info };
	size_t n;

	find_tables(&t);
	if (!t.strings || !t.soname)
		return false;
	for (n = 0; n < size && inside(&t, t.strings + t.soname + n, 1); n++) {
		name[n] = *(const char *)(t.strings + t.soname + n);
		if (!name[n])
			return true;
	}
	return false;
}
