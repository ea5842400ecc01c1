/*
 * foreign.c: see foreign.h.
 *
 * Of a library only functions that nobody else can reach count (local ones):
 * in front of exported ones stand ours.
 *
 * I1: nothing is read outside [bytes, bytes + size).
 */
#include "preload/foreign.h"

#include <elf.h>
#include <string.h>

#include "preload/base.h"
#include "preload/mapped_file.h"
#include "preload/patch.h"
#include "preload/proc.h"
#include "preload/sys.h"
#include "preload/text.h"

#define FOREIGN_FILES 256	/* looked at */
#define FOREIGN_SYMBOLS 4000000	/* of a file */
#define FOREIGN_NAME_MAX 64
#define FOREIGN_PATH_MAX 4096

struct foreign_file {
	const uint8_t *bytes;
	uint64_t size;
	bool program;
	/* found */
	const char *allocator;		/* with names of its own */
	const char *own;		/* with the C library's */
	bool malloc, free, exported;
};

struct foreign_search {
	struct foreign *foreign;
	const char *program;
	unsigned files;
	char last[FOREIGN_PATH_MAX];
};

static bool foreign_is(const char *name, const char *wanted)
{
	return strcmp(name, wanted) == 0;
}

static bool foreign_ends(const char *name, const char *end)
{
	size_t size = strlen(name), n = strlen(end);

	return size > n && strcmp(name + size - n, end) == 0;
}

static const char *foreign_allocator(const char *name)
{
	if (foreign_is(name, "_rjem_malloc") || foreign_is(name, "je_malloc") ||
	    foreign_ends(name, "_sdallocx"))
		return "jemalloc";
	if (foreign_is(name, "tc_malloc"))
		return "tcmalloc";
	if (foreign_is(name, "mi_malloc"))
		return "mimalloc";
	return NULL;
}

static void foreign_symbol(struct foreign_file *f, const Elf64_Sym *symbol,
			   const char *name, bool dynamic)
{
	const char *allocator;

	if (symbol->st_shndx == SHN_UNDEF ||
	    ELF64_ST_TYPE(symbol->st_info) != STT_FUNC ||
	    (!f->program && ELF64_ST_BIND(symbol->st_info) != STB_LOCAL))
		return;
	allocator = foreign_allocator(name);
	if (allocator)
		f->allocator = allocator;
	if (foreign_is(name, "mallctl"))
		f->own = "jemalloc";
	if (foreign_is(name, "malloc")) {
		f->malloc = true;
		f->exported |= dynamic;
	} else if (foreign_is(name, "free")) {
		f->free = true;
	}
}

/* The name at this place of a table of strings, if it ends there. */
static const char *foreign_string(const struct foreign_file *f,
				  const Elf64_Shdr *strings, uint64_t at)
{
	uint64_t start = strings->sh_offset + at, end, i;

	if (strings->sh_offset > f->size || at >= strings->sh_size ||
	    strings->sh_size > f->size - strings->sh_offset)
		return NULL;
	end = base_min(start + FOREIGN_NAME_MAX,
		       strings->sh_offset + strings->sh_size);
	for (i = start; i < end; i++)
		if (!f->bytes[i])
			return (const char *)f->bytes + start;
	return NULL;
}

static void foreign_table(struct foreign_file *f, const Elf64_Shdr *sections,
			  unsigned count, const Elf64_Shdr *table)
{
	uint64_t n = base_min(table->sh_size / sizeof(Elf64_Sym),
			      FOREIGN_SYMBOLS);
	uint64_t i;

	if (table->sh_link >= count || table->sh_offset % 8 ||
	    table->sh_offset > f->size ||
	    n > (f->size - table->sh_offset) / sizeof(Elf64_Sym))
		return;
	for (i = 0; i < n; i++) {
		const Elf64_Sym *symbol =
			(const Elf64_Sym *)(f->bytes + table->sh_offset) + i;
		const char *name = foreign_string(
			f, &sections[table->sh_link], symbol->st_name);

		if (name)
			foreign_symbol(f, symbol, name,
				       table->sh_type == SHT_DYNSYM);
	}
}

static void foreign_tables(struct foreign_file *f)
{
	const Elf64_Ehdr *e = (const void *)f->bytes;
	const Elf64_Shdr *sections;
	unsigned i;

	if (f->size < sizeof(*e) || memcmp(e->e_ident, ELFMAG, SELFMAG) != 0 ||
	    e->e_ident[EI_CLASS] != ELFCLASS64 ||
	    e->e_machine != ARCH_ELF_MACHINE ||
	    e->e_shentsize != sizeof(*sections) || e->e_shoff % 8 ||
	    e->e_shoff > f->size ||
	    e->e_shnum > (f->size - e->e_shoff) / sizeof(*sections))
		return;
	sections = (const void *)(f->bytes + e->e_shoff);
	for (i = 0; i < e->e_shnum; i++)
		if (sections[i].sh_type == SHT_SYMTAB ||
		    (f->program && sections[i].sh_type == SHT_DYNSYM))
			foreign_table(f, sections, e->e_shnum, &sections[i]);
}

void foreign_file(struct foreign *foreign, const uint8_t *bytes, uint64_t size,
		  const char *name, bool program)
{
	struct foreign_file f = { .bytes = bytes, .size = size,
				  .own = "malloc", .program = program };
	enum patch_known known = patch_known_as(name, program);
	enum foreign_state state = FOREIGN_SURE;
	bool own;

	if (known == PATCH_KNOWN_TOLD)
		return;
	foreign_tables(&f);
	own = program && f.malloc && f.free;
	if (!f.allocator && !own)
		return;
	if (known == PATCH_KNOWN_PATCHED)
		state = FOREIGN_PATCHED;
	else if (own && f.exported)
		state = FOREIGN_PERHAPS;
	if (state <= foreign->state)
		return;
	foreign->state = state;
	foreign->library = !program;
	foreign->allocator = f.allocator ? f.allocator : f.own;
}

static void foreign_open(struct foreign_search *search, const char *path)
{
	const char *name = path, *s;
	struct mapped_file file;

	if (!mapped_file_open(&file, path))
		return;
	for (s = path; *s; s++)
		if (*s == '/')
			name = s + 1;
	if (file.size >= sizeof(Elf64_Ehdr))
		foreign_file(search->foreign, file.bytes, file.size, name,
			     foreign_is(path, search->program));
	mapped_file_close(&file);
}

static void foreign_visit(const struct proc_map *map, void *arg)
{
	struct foreign_search *search = arg;
	size_t n = strlen(map->path);

	/* an image's mappings lie side by side */
	if (map->path[0] != '/' || n >= sizeof(search->last) ||
	    foreign_is(map->path, search->last) ||
	    search->files == FOREIGN_FILES)
		return;
	memcpy(search->last, map->path, n + 1);
	search->files++;
	foreign_open(search, map->path);
}

void foreign_look(struct foreign *foreign, const char *program)
{
	struct foreign_search search = { .foreign = foreign,
					 .program = program };

	foreign->state = FOREIGN_NONE;
	proc_maps(foreign_visit, &search);
}

void foreign_describe(const struct foreign *foreign, char *to, uint32_t size)
{
	struct text text;

	text_init(&text, to, size);
	text_put(&text, foreign->library ? "a library of this program" :
					   "this program");
	text_put(&text, " brings its own allocator ");
	text_put(&text, foreign->allocator);
	text_put(&text, "; its allocations are not recorded");
	if (foreign->state == FOREIGN_PATCHED)
		text_put(&text, ": none was seen so far");
	else
		text_put(&text, ": run it by `gnomon run` itself");
}
