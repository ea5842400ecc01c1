/*
 * foreign.c: see foreign.h.
 *
 * Of a library only functions that nobody else can reach count (local ones):
 * in front of exported ones stand ours.
 *
 * I1: nothing is read but what was copied (copied_file.h).
 */
#include "cli/recorder/embed/foreign.h"

#include <elf.h>
#include <string.h>

#include "preload/base/base.h"
#include "cli/recorder/copied_file.h"
#include "cli/recorder/target_file.h"
#include "preload/ring/patched.h"
#include "preload/base/proc.h"
#include "preload/base/sys.h"
#include "preload/base/text.h"

#define FOREIGN_FILES 256	/* looked at */
#define FOREIGN_SYMBOLS 4000000	/* of a file */
#define FOREIGN_NAME_MAX 64
#define FOREIGN_PATH_MAX 4096

struct foreign_file {
	struct copied_file *file;
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
	if (foreign_is(name, "sn_rust_alloc") || foreign_is(name, "sn_malloc"))
		return "snmalloc";
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
static const char *foreign_string(const char *strings, uint64_t size,
				  uint64_t at)
{
	uint64_t end = base_min(at + FOREIGN_NAME_MAX, size), i;

	for (i = at; i < end; i++)
		if (!strings[i])
			return strings + at;
	return NULL;
}

static void foreign_table(struct foreign_file *f, Elf64_Shdr table,
			  Elf64_Shdr link)
{
	uint64_t n = base_min(table.sh_size / sizeof(Elf64_Sym),
			      FOREIGN_SYMBOLS);
	const Elf64_Sym *symbols = copied_file_part(f->file, table.sh_offset,
						    n * sizeof(*symbols));
	const char *strings = copied_file_part(f->file, link.sh_offset,
					       link.sh_size);
	uint64_t i;

	for (i = 0; symbols && strings && i < n; i++) {
		const char *name = foreign_string(strings, link.sh_size,
						  symbols[i].st_name);

		if (name)
			foreign_symbol(f, &symbols[i], name,
				       table.sh_type == SHT_DYNSYM);
	}
}

static bool foreign_header(const Elf64_Ehdr *e)
{
	return memcmp(e->e_ident, ELFMAG, SELFMAG) == 0 &&
	       e->e_ident[EI_CLASS] == ELFCLASS64 &&
	       e->e_machine == ARCH_ELF_MACHINE &&
	       e->e_shentsize == sizeof(Elf64_Shdr) && e->e_shoff % 8 == 0;
}

static void foreign_tables(struct foreign_file *f)
{
	const Elf64_Ehdr *e = copied_file_part(f->file, 0, sizeof(*e));
	const Elf64_Shdr *s;
	unsigned count, i;

	if (!e || !foreign_header(e))
		return;
	count = e->e_shnum;
	s = copied_file_part(f->file, e->e_shoff, count * sizeof(*s));
	for (i = 0; s && i < count; i++)
		if ((s[i].sh_type == SHT_SYMTAB ||
		     (f->program && s[i].sh_type == SHT_DYNSYM)) &&
		    s[i].sh_link < count && s[i].sh_offset % 8 == 0)
			foreign_table(f, s[i], s[s[i].sh_link]);
}

void foreign_file(struct foreign *foreign, struct copied_file *file,
		  const char *name, bool program)
{
	struct foreign_file f = { .file = file, .own = "malloc",
				  .program = program };
	enum patched_known known = PATCHED_NOT;
	enum foreign_state state = FOREIGN_SURE;
	bool own;

	if (foreign->patched)
		known = patched_find(foreign->patched, name, program);
	if (known == PATCHED_TOLD)
		return;
	foreign_tables(&f);
	own = program && f.malloc && f.free;
	if (!f.allocator && !own)
		return;
	if (known == PATCHED_DONE)
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
	struct copied_file file;

	if (!copied_file_open(&file, path))
		return;
	for (s = path; *s; s++)
		if (*s == '/')
			name = s + 1;
	foreign_file(search->foreign, &file, name,
		     foreign_is(path, search->program));
	copied_file_close(&file);
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
	target_file_maps(foreign_visit, &search);
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
