/*
 * foreign.c: see foreign.h.
 *
 * For a library only local functions count: our preloaded library interposes
 * exported ones.
 *
 * I1: all data is read from copies (elf_tables.h): symbols piece by piece,
 *     symbol names in full.
 */
#include "cli/recorder/embed/foreign.h"

#include <elf.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/recorder/base/recording.h"
#include "preload/base/base.h"
#include "cli/recorder/embed/embed_open.h"
#include "cli/recorder/process/target_file.h"
#include "cli/symbol/elf/elf_symbols.h"
#include "preload/base/patch_format.h"
#include "preload/ring/patched.h"

#define FOREIGN_FILES 256	/* files checked at most */
#define FOREIGN_NAME_MAX 64
#define FOREIGN_PATH_MAX 4096

struct foreign_file {
	bool program;
	bool dynamic;			/* the current table is .dynsym */
	/* found */
	const char *allocator;		/* an allocator with its own names */
	const char *own;		/* an allocator with the C library's
					 * names */
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

static bool foreign_symbol(void *owner, const Elf64_Sym *symbol,
			   const char *name, uint32_t section)
{
	struct foreign_file *f = owner;
	const char *allocator;

	if (section == SHN_UNDEF ||
	    ELF64_ST_TYPE(symbol->st_info) != STT_FUNC ||
	    (!f->program && ELF64_ST_BIND(symbol->st_info) != STB_LOCAL) ||
	    strnlen(name, FOREIGN_NAME_MAX) == FOREIGN_NAME_MAX)
		return true;
	allocator = foreign_allocator(name);
	if (allocator)
		f->allocator = allocator;
	if (foreign_is(name, "mallctl"))
		f->own = "jemalloc";
	if (foreign_is(name, "malloc")) {
		f->malloc = true;
		f->exported |= f->dynamic;
	} else if (foreign_is(name, "free")) {
		f->free = true;
	}
	return true;
}

static void foreign_table(struct foreign_file *f, const struct elf_tables *t,
			  uint32_t type)
{
	const Elf64_Shdr *table = elf_tables_of_type(t, type);

	f->dynamic = type == SHT_DYNSYM;
	if (table)
		elf_symbols_each(t, table, foreign_symbol, f);
}

static void foreign_tables(struct foreign_file *f, const struct elf_tables *t)
{
	if (f->program)
		foreign_table(f, t, SHT_DYNSYM);
	foreign_table(f, t, SHT_SYMTAB);
}

/* What hooks reported about patching the image. */
static enum patched_known foreign_known(const struct patched_list *list,
					const char *name, bool program)
{
	uint32_t count = base_min(atomic_load_explicit(&list->count,
						       memory_order_acquire),
				  PATCHED_IMAGES), i;
	uint64_t hash = patch_hash(name, strlen(name));

	for (i = 0; i < count; i++) {
		const struct patched *image = &list->image[i];

		if (image->program != program)
			continue;
		/* there is only one program, and its name may be that of a
		 * link */
		if (image->name == hash ||
		    (program && image->known == PATCHED_DONE))
			return image->known;
	}
	return PATCHED_NOT;
}

void foreign_file(struct foreign *foreign, int fd, const char *name,
		  bool program)
{
	struct elf_tables tables;
	struct foreign_file f = { .own = "malloc", .program = program };
	enum patched_known known = PATCHED_NOT;
	enum foreign_state state = FOREIGN_SURE;
	bool own;

	if (foreign->patched)
		known = foreign_known(foreign->patched, name, program);
	if (known == PATCHED_TOLD)
		return;
	if (elf_tables_load(&tables, fd))
		return;
	if (tables.header.e_machine == recording_machine)
		foreign_tables(&f, &tables);
	elf_tables_free(&tables);
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
	int fd = embed_open_plain(path);

	if (fd < 0)
		return;
	foreign_file(search->foreign, fd, strrchr(path, '/') + 1,
		     foreign_is(path, search->program));
	close(fd);
}

static void foreign_visit(const struct target_map *map, void *arg)
{
	struct foreign_search *search = arg;
	size_t n = strlen(map->path);

	/* an image's mappings are adjacent */
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
	snprintf(to, size, "%s brings its own allocator %s; its allocations "
		 "are not recorded: %s",
		 foreign->library ? "a library of this program" :
				    "this program",
		 foreign->allocator,
		 foreign->state == FOREIGN_PATCHED ?
			 "none of its allocations was seen so far" :
			 "start it directly with `gnomon run`");
}
