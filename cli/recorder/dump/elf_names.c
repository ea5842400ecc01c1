/*
 * elf_names.c: see elf_names.h. It makes one pass over the symbols, and looks
 * up each one among the requested addresses.
 *
 * Of several symbols that cover an address, the nearest start wins; then global
 * before weak before local, then fewer leading underscores, then the shortest
 * name.
 *
 * I1 The file is untrusted: only elf_symbols.h reads it.
 */
#include "cli/recorder/dump/elf_names.h"

#include <elf.h>
#include <string.h>
#include <unistd.h>

#include "cli/recorder/base/recording.h"
#include "cli/recorder/embed/embed_open.h"
#include "cli/symbol/elf/elf_symbols.h"
#include "preload/ring/dump_request.h"
#include "unwind/base/assertion.h"

/* Limit for a file whose symbols all cover the same addresses: some tenths of a
 * second. */
#define ELF_NAMES_PAIRS (UINT64_C(1) << 28)

/* The addresses to name, and memory for names. */
struct elf_names {
	struct elf_wanted *wanted;
	size_t count;
	struct scratch *memory;
	uint64_t left;		/* pairs of a symbol and an address still to
				 * check */
};

static bool elf_names_same(const struct elf_tables *t, const uint8_t *build_id,
			   uint32_t build_id_size)
{
	uint8_t id[ELF_TABLES_ID_MAX];

	return !build_id_size || (elf_tables_id(t, id) == build_id_size &&
				  memcmp(id, build_id, build_id_size) == 0);
}

/* .symtab, or else .dynsym. */
static const Elf64_Shdr *elf_names_table(const struct elf_tables *t)
{
	const Elf64_Shdr *table = elf_tables_of_type(t, SHT_SYMTAB);

	return table ? table : elf_tables_of_type(t, SHT_DYNSYM);
}

static uint32_t elf_names_rank(const Elf64_Sym *symbol, const char *name,
			       size_t length)
{
	static const uint8_t rank_of[] = { [STB_LOCAL] = 1, [STB_WEAK] = 2,
					   [STB_GLOBAL] = 3 };
	unsigned bind = ELF64_ST_BIND(symbol->st_info), underscores = 0;

	while (underscores < 15 && name[underscores] == '_')
		underscores++;
	return (uint32_t)(bind < sizeof(rank_of) ? rank_of[bind] : 3) << 24 |
	       (15 - underscores) << 16 |
	       (uint32_t)(DUMP_NAME_MAX - length);
}

/* Index of the first address not below this one. */
static size_t elf_names_from(const struct elf_names *f, uint64_t address)
{
	size_t low = 0, high = f->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (f->wanted[middle].address < address)
			low = middle + 1;
		else
			high = middle;
	}
	DEBUG_ASSERT(low == f->count || f->wanted[low].address >= address);
	return low;
}

/* Offers a symbol to all the addresses that it covers. False: no memory, or it
 * takes too long. */
static bool elf_names_offer(struct elf_names *f,
			    const Elf64_Sym *symbol, const char *name)
{
	uint64_t start = symbol->st_value, end = start + symbol->st_size;
	size_t length = strnlen(name, DUMP_NAME_MAX), i;
	char *copy = NULL;
	uint32_t rank;

	if (!length || length == DUMP_NAME_MAX)
		return true;
	rank = elf_names_rank(symbol, name, length);
	for (i = elf_names_from(f, start);
	     i < f->count && f->wanted[i].address < end; i++) {
		struct elf_wanted *w = &f->wanted[i];

		if (!f->left--)
			return false;
		if (w->name && (start < w->start ||
				(start == w->start && rank <= w->rank)))
			continue;
		if (!copy) {
			copy = scratch_alloc(f->memory, length + 1);
			if (!copy)
				return false;
			memcpy(copy, name, length);
		}
		w->name = copy;
		w->start = start;
		w->rank = rank;
	}
	return true;
}

static bool elf_names_symbol(void *owner, const Elf64_Sym *symbol,
			     const char *name, uint32_t section)
{
	struct elf_names *f = owner;
	unsigned type = ELF64_ST_TYPE(symbol->st_info);

	return (type != STT_FUNC && type != STT_GNU_IFUNC) ||
	       section == SHN_UNDEF ||
	       symbol->st_value + symbol->st_size <= symbol->st_value ||
	       elf_names_offer(f, symbol, name);
}

static bool elf_names_read(struct elf_names *f, const struct elf_tables *t,
			   const uint8_t *build_id, uint32_t build_id_size)
{
	const Elf64_Shdr *table = elf_names_table(t);

	return t->header.e_machine == recording_machine && table &&
	       elf_names_same(t, build_id, build_id_size) &&
	       elf_symbols_each(t, table, elf_names_symbol, f);
}

bool elf_names_find(const char *path, const uint8_t *build_id,
		    uint32_t build_id_size, struct elf_wanted *wanted,
		    size_t count, struct scratch *memory)
{
	struct elf_names names = { wanted, count, memory, ELF_NAMES_PAIRS };
	int fd = embed_open_plain(path);
	struct elf_tables tables;
	bool found;

	if (fd < 0)
		return false;
	found = elf_tables_load(&tables, fd) == 0;
	if (found) {
		found = elf_names_read(&names, &tables, build_id,
				       build_id_size);
		elf_tables_free(&tables);
	}
	close(fd);
	return found;
}
