/*
 * elf_names.c: see elf_names.h. One pass over the symbols; each is looked up
 * among the addresses wanted.
 *
 * Of several names for one place the one is taken that starts nearest; then
 * a global one before a weak before a local one, then that with fewer
 * underscores in front, then the shortest.
 *
 * I1  Nothing is read but what was copied (copied_file.h), which bounds every
 *     offset and count. A name without an end in its table is none.
 */
#include "cli/recorder/dump/elf_names.h"

#include <elf.h>
#include <string.h>

#include "arch.h"
#include "preload/base/base.h"
#include "cli/recorder/copied_file.h"
#include "preload/ring/dump_part.h"


struct elf_names {
	struct copied_file file;
	Elf64_Ehdr header;
	const Elf64_Sym *symbols;
	uint64_t symbol_count;
	const char *strings;
	uint64_t string_bytes;
};

static bool elf_names_header(struct elf_names *f)
{
	const Elf64_Ehdr *e = copied_file_part(&f->file, 0, sizeof(*e));

	if (!e)
		return false;
	f->header = *e;
	e = &f->header;
	return memcmp(e->e_ident, ELFMAG, SELFMAG) == 0 &&
	       e->e_ident[EI_CLASS] == ELFCLASS64 &&
	       e->e_machine == ARCH_ELF_MACHINE &&
	       e->e_shentsize == sizeof(Elf64_Shdr) && e->e_shoff % 8 == 0 &&
	       e->e_phentsize == sizeof(Elf64_Phdr) && e->e_phoff % 8 == 0;
}

/* Whether a piece of notes (System V gABI, "Note Section") has this one. */
static bool elf_names_note(const uint8_t *at, uint64_t size,
			   const uint8_t *build_id, uint32_t build_id_size)
{
	Elf64_Nhdr note;

	while (size >= sizeof(note)) {
		uint64_t name, all;

		memcpy(&note, at, sizeof(note));
		name = sizeof(note) + base_round_up(note.n_namesz, 4);
		all = name + base_round_up(note.n_descsz, 4);
		if (all > size)
			return false;
		if (note.n_type == NT_GNU_BUILD_ID &&
		    note.n_descsz == build_id_size && note.n_namesz == 4 &&
		    memcmp(at + sizeof(note), "GNU", 4) == 0)
			return memcmp(at + name, build_id,
				      build_id_size) == 0;
		at += all;
		size -= all;
	}
	return false;
}

static bool elf_names_same(struct elf_names *f, const uint8_t *build_id,
			   uint32_t build_id_size)
{
	const Elf64_Ehdr *e = &f->header;
	const Elf64_Phdr *p = copied_file_part(&f->file, e->e_phoff,
					       e->e_phnum * sizeof(*p));
	unsigned i;

	if (!build_id_size)
		return true;
	for (i = 0; p && i < e->e_phnum; i++) {
		const Elf64_Phdr piece = p[i];
		const uint8_t *notes =
			piece.p_type == PT_NOTE ?
				copied_file_part(&f->file, piece.p_offset,
						 piece.p_filesz) : NULL;

		if (notes && elf_names_note(notes, piece.p_filesz, build_id,
					    build_id_size))
			return true;
	}
	return false;
}

static bool elf_names_tables(struct elf_names *f)
{
	const Elf64_Ehdr *e = &f->header;
	const Elf64_Shdr *s = copied_file_part(&f->file, e->e_shoff,
					       e->e_shnum * sizeof(*s));
	const Elf64_Shdr *found = NULL;
	Elf64_Shdr table, strings;
	unsigned i;

	for (i = 0; s && i < e->e_shnum; i++)
		if (s[i].sh_type == SHT_SYMTAB ||
		    (s[i].sh_type == SHT_DYNSYM && !found))
			found = &s[i];
	if (!found || found->sh_link >= e->e_shnum || found->sh_offset % 8)
		return false;
	table = *found;
	strings = s[table.sh_link];
	f->symbols = copied_file_part(&f->file, table.sh_offset,
				      table.sh_size);
	f->symbol_count = table.sh_size / sizeof(*f->symbols);
	f->strings = copied_file_part(&f->file, strings.sh_offset,
				      strings.sh_size);
	f->string_bytes = strings.sh_size;
	return f->symbols && f->strings;
}

/* The length of a name; 0: it is none. */
static uint64_t elf_names_length(const struct elf_names *f, uint32_t name)
{
	uint64_t length = 0, room;

	if (name >= f->string_bytes)
		return 0;
	room = base_min(f->string_bytes - name, DUMP_NAME_MAX);
	while (length < room && f->strings[name + length])
		length++;
	return length < room ? length : 0;
}

static uint32_t elf_names_rank(const struct elf_names *f,
			       const Elf64_Sym *symbol, uint64_t length)
{
	static const uint8_t rank_of[] = { [STB_LOCAL] = 1, [STB_WEAK] = 2,
					   [STB_GLOBAL] = 3 };
	unsigned bind = ELF64_ST_BIND(symbol->st_info), underscores = 0;
	const char *name = f->strings + symbol->st_name;

	while (underscores < 15 && name[underscores] == '_')
		underscores++;
	return (uint32_t)(bind < sizeof(rank_of) ? rank_of[bind] : 3) << 24 |
	       (15 - underscores) << 16 |
	       (uint32_t)(DUMP_NAME_MAX - length);
}

/* Offers a symbol to all the addresses that it covers. */
static bool elf_names_offer(const struct elf_names *f,
			    const Elf64_Sym *symbol,
			    struct elf_wanted *wanted, size_t count,
			    struct scratch *memory)
{
	uint64_t start = symbol->st_value, end = start + symbol->st_size;
	uint64_t length = 0;
	uint32_t rank = 0;
	char *copy = NULL;
	size_t low = 0, high = count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (wanted[middle].address < start)
			low = middle + 1;
		else
			high = middle;
	}
	for (; low < count && wanted[low].address < end; low++) {
		struct elf_wanted *w = &wanted[low];

		if (!rank) {
			length = elf_names_length(f, symbol->st_name);
			if (!length)
				return true;
			rank = elf_names_rank(f, symbol, length);
		}
		if (w->name && (start < w->start ||
				(start == w->start && rank <= w->rank)))
			continue;
		if (!copy) {
			copy = scratch_alloc(memory, length + 1);
			if (!copy)
				return false;
			memcpy(copy, f->strings + symbol->st_name, length);
		}
		w->name = copy;
		w->start = start;
		w->rank = rank;
	}
	return true;
}

static bool elf_names_read(struct elf_names *f, const uint8_t *build_id,
			   uint32_t build_id_size, struct elf_wanted *wanted,
			   size_t count, struct scratch *memory)
{
	uint64_t i;

	if (!elf_names_header(f) ||
	    !elf_names_same(f, build_id, build_id_size) ||
	    !elf_names_tables(f))
		return false;
	for (i = 0; i < f->symbol_count; i++) {
		const Elf64_Sym *s = &f->symbols[i];
		unsigned type = ELF64_ST_TYPE(s->st_info);

		if ((type == STT_FUNC || type == STT_GNU_IFUNC) &&
		    s->st_shndx != SHN_UNDEF && s->st_size &&
		    s->st_value + s->st_size > s->st_value &&
		    !elf_names_offer(f, s, wanted, count, memory))
			return false;
	}
	return true;
}

bool elf_names_find(const char *path, const uint8_t *build_id,
		    uint32_t build_id_size, struct elf_wanted *wanted,
		    size_t count, struct scratch *memory)
{
	struct elf_names names = { 0 };
	bool found;

	if (!copied_file_open(&names.file, path))
		return false;
	found = elf_names_read(&names, build_id, build_id_size, wanted, count,
			       memory);
	copied_file_close(&names.file);
	return found;
}
