/*
 * static_allocator.c: see static_allocator.h.
 *
 * For a library only local functions count: our preloaded library interposes
 * exported ones.
 *
 * I1: all data is read from copies (elf_tables.h): symbols piece by piece,
 *     symbol names in full.
 */
#include "cli/recorder/embed/static_allocator.h"

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

#define STATIC_ALLOCATOR_FILES 256	/* files checked at most */
#define STATIC_ALLOCATOR_NAME_MAX 64
#define STATIC_ALLOCATOR_PATH_MAX 4096

struct static_allocator_file {
	bool program;
	bool dynamic;			/* the current table is .dynsym */
	/* found */
	const char *allocator;		/* an allocator with its own names */
	const char *own;		/* an allocator with the C library's
					 * names */
	bool malloc, free, exported;
};

struct static_allocator_search {
	struct static_allocator *static_allocator;
	const char *program;
	unsigned files;
	char last[STATIC_ALLOCATOR_PATH_MAX];
};

static bool static_allocator_is(const char *name, const char *wanted)
{
	return strcmp(name, wanted) == 0;
}

static bool static_allocator_ends(const char *name, const char *end)
{
	size_t size = strlen(name), n = strlen(end);

	return size > n && strcmp(name + size - n, end) == 0;
}

static const char *static_allocator_of(const char *name)
{
	if (static_allocator_is(name, "_rjem_malloc") ||
	    static_allocator_is(name, "je_malloc") ||
	    static_allocator_ends(name, "_sdallocx"))
		return "jemalloc";
	if (static_allocator_is(name, "tc_malloc"))
		return "tcmalloc";
	if (static_allocator_is(name, "mi_malloc"))
		return "mimalloc";
	if (static_allocator_is(name, "sn_rust_alloc") ||
	    static_allocator_is(name, "sn_malloc"))
		return "snmalloc";
	return NULL;
}

static bool static_allocator_symbol(void *owner, const Elf64_Sym *symbol,
				    const char *name, uint32_t section)
{
	struct static_allocator_file *f = owner;
	const char *allocator;

	if (section == SHN_UNDEF ||
	    ELF64_ST_TYPE(symbol->st_info) != STT_FUNC ||
	    (!f->program && ELF64_ST_BIND(symbol->st_info) != STB_LOCAL) ||
	    strnlen(name, STATIC_ALLOCATOR_NAME_MAX) ==
		    STATIC_ALLOCATOR_NAME_MAX)
		return true;
	allocator = static_allocator_of(name);
	if (allocator)
		f->allocator = allocator;
	if (static_allocator_is(name, "mallctl"))
		f->own = "jemalloc";
	if (static_allocator_is(name, "malloc")) {
		f->malloc = true;
		f->exported |= f->dynamic;
	} else if (static_allocator_is(name, "free")) {
		f->free = true;
	}
	return true;
}

static void static_allocator_table(struct static_allocator_file *f,
				   const struct elf_tables *t, uint32_t type)
{
	const Elf64_Shdr *table = elf_tables_of_type(t, type);

	f->dynamic = type == SHT_DYNSYM;
	if (table)
		elf_symbols_each(t, table, static_allocator_symbol, f);
}

static void static_allocator_tables(struct static_allocator_file *f,
				    const struct elf_tables *t)
{
	if (f->program)
		static_allocator_table(f, t, SHT_DYNSYM);
	static_allocator_table(f, t, SHT_SYMTAB);
}

/* What hooks reported about patching the image. */
static enum patched_known
static_allocator_known(const struct patched_list *list, const char *name,
		       bool program)
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

void static_allocator_file(struct static_allocator *static_allocator, int fd,
			   const char *name, bool program)
{
	struct elf_tables tables;
	struct static_allocator_file f = { .own = "malloc",
					   .program = program };
	enum patched_known known = PATCHED_NOT;
	enum static_allocator_state state = STATIC_ALLOCATOR_SURE;
	bool own;

	if (static_allocator->patched)
		known = static_allocator_known(static_allocator->patched, name,
					       program);
	if (known == PATCHED_TOLD)
		return;
	if (elf_tables_load(&tables, fd))
		return;
	if (tables.header.e_machine == recording_machine)
		static_allocator_tables(&f, &tables);
	elf_tables_free(&tables);
	own = program && f.malloc && f.free;
	if (!f.allocator && !own)
		return;
	if (known == PATCHED_DONE)
		state = STATIC_ALLOCATOR_PATCHED;
	else if (own && f.exported)
		state = STATIC_ALLOCATOR_PERHAPS;
	if (state <= static_allocator->state)
		return;
	static_allocator->state = state;
	static_allocator->library = !program;
	static_allocator->allocator = f.allocator ? f.allocator : f.own;
}

static void static_allocator_open(struct static_allocator_search *search,
				  const char *path)
{
	int fd = embed_open_plain(path);

	if (fd < 0)
		return;
	static_allocator_file(search->static_allocator, fd,
			      strrchr(path, '/') + 1,
			      static_allocator_is(path, search->program));
	close(fd);
}

static void static_allocator_visit(const struct target_map *map, void *arg)
{
	struct static_allocator_search *search = arg;
	size_t n = strlen(map->path);

	/* an image's mappings are adjacent */
	if (map->path[0] != '/' || n >= sizeof(search->last) ||
	    static_allocator_is(map->path, search->last) ||
	    search->files == STATIC_ALLOCATOR_FILES)
		return;
	memcpy(search->last, map->path, n + 1);
	search->files++;
	static_allocator_open(search, map->path);
}

void static_allocator_poll(struct static_allocator *static_allocator,
			   const char *program)
{
	struct static_allocator_search search = { .static_allocator =
							  static_allocator,
						  .program = program };

	static_allocator->state = STATIC_ALLOCATOR_NONE;
	target_file_maps(static_allocator_visit, &search);
}

void static_allocator_describe(const struct static_allocator *static_allocator,
			       char *to, uint32_t size)
{
	snprintf(to, size, "%s brings its own allocator %s; its allocations "
		 "are not recorded: %s",
		 static_allocator->library ? "a library of this program" :
				    "this program",
		 static_allocator->allocator,
		 static_allocator->state == STATIC_ALLOCATOR_PATCHED ?
			 "none of its allocations was seen so far" :
			 "start it directly with `gnomon run`");
}
