/*
 * optional.c: see optional.h.
 *
 * Our symbol table is read-only memory; its pages become private copies when
 * addresses are written into it. From then on every lookup finds our entries:
 * lazy bindings, libraries loaded later, dlsym. Existing bindings are found by
 * the relocations of all images in the loader's list: a word that holds the
 * address of a real function, stored there for its name.
 *
 *	our .dynsym            relocations of another image
 *	mallocx  0 ─▶ entry    GLOB_DAT mallocx ─▶ word: real ─▶ entry
 *
 * The constructor of this library runs before all others (DF_1_INITFIRST), so
 * no code of the program has run. Memory that was made read-only after
 * relocation (RELRO) is made read-only again afterwards.
 *
 * If an allocator was preloaded before us, its symbols are found before ours.
 * Then the addresses in its table are changed, too, in this process's memory.
 *
 * Calls between an allocator's own functions must not reach us: a tail jump
 * from one to the next would look like a call by the program. So where
 * requested, the words of its own PLT are bound to its own functions, as the
 * loader would have done without us.
 *
 * I1: a word is only changed if it holds exactly the real function's address
 * and its symbol has the entry's name: not words that are unbound yet, not an
 * alias, not another definition that the program preferred. I2: if an address
 * cannot be written, nothing is changed.
 */
#include "preload/interpose/optional.h"

#include <elf.h>
#include <link.h>
#include <string.h>

#include "arch.h"
#include "preload/base/sys.h"
#include "preload/interpose/real.h"
#include "unwind/elf/dynsym.h"
#include "unwind/elf/linkmap.h"

#define OPTIONAL_PAGE 4096

struct optional_image {
	struct dynsym dynamic;
	const struct elfmap *map;
	uintptr_t relro, relro_end;	/* RELRO: read-only since relocation */
	bool theirs;	/* work->theirs, and it has one of the functions */
};

struct optional_work {
	const struct optional *table;
	size_t count;
	bool theirs;			/* see optional_now */
	uintptr_t least, most;		/* range of the real functions'
					 * addresses */
};

static bool optional_protect(uintptr_t from, uintptr_t to, int prot)
{
	from &= -(uintptr_t)OPTIONAL_PAGE;
	DEBUG_ASSERT(from < to);
	return !sys_failed(arch_syscall3(__NR_mprotect, from, to - from,
					 prot));
}

static bool optional_wanted(const struct optional *row)
{
	return row->entry && *row->real;
}

/* ---- symbol tables ---- */

/* The symbol to redirect to the row's entry: our own, which has no address yet,
 * or one that has the real function. NULL: there is none, or the row is not
 * active. */
static ElfW(Sym) *optional_symbol(const struct dynsym *image,
				  const struct optional *row)
{
	bool own = real_same(image->map, &real_own);
	ElfW(Sym) *symbol;

	if (!optional_wanted(row))
		return NULL;
	symbol = (ElfW(Sym) *)
		dynsym_entry(image, row->name,
			     1u << STT_FUNC | (own ? DYNSYM_NOWHERE : 0));
	return symbol && (own || image->map->bias + symbol->st_value ==
					 (uintptr_t)*row->real) ?
		       symbol : NULL;
}

/* The number of symbols to change, and the range of their addresses. */
static size_t optional_extent(const struct dynsym *image,
			      const struct optional *table, size_t count,
			      uintptr_t *from, uintptr_t *to)
{
	size_t i, found = 0;

	*from = UINTPTR_MAX;
	*to = 0;
	for (i = 0; i < count; i++) {
		ElfW(Sym) *symbol = optional_symbol(image, &table[i]);

		if (!symbol)
			continue;
		*from = base_min(*from, (uintptr_t)symbol);
		*to = base_max(*to, (uintptr_t)(symbol + 1));
		found++;
	}
	return found;
}

static bool optional_change(const struct elfmap *map,
			    const struct optional *table, size_t count,
			    bool all)
{
	size_t wanted = 0, found, i;
	struct dynsym image;
	uintptr_t from, to;

	if (!dynsym_open(&image, map))
		return false;
	for (i = 0; i < count; i++)
		wanted += optional_wanted(&table[i]);
	found = optional_extent(&image, table, count, &from, &to);
	if (!found || (all && found < wanted))
		return !all;
	DEBUG_ASSERT(from < to);
	if (!optional_protect(from, to, PROT_READ | PROT_WRITE))
		return false;
	for (i = 0; i < count; i++) {
		ElfW(Sym) *symbol = optional_symbol(&image, &table[i]);

		if (symbol)
			__atomic_store_n(&symbol->st_value,
					 (uintptr_t)table[i].entry - map->bias,
					 __ATOMIC_RELAXED);
	}
	/* restores the protection; a failure leaves it writable, which does no
	 * harm */
	optional_protect(from, to, PROT_READ);
	return true;
}

bool optional_in_table(const struct elfmap *map, const struct optional *table,
		       size_t count)
{
	return optional_change(map, table, count, true);
}

/* ---- existing bindings ---- */

/* Whether the address lies in a segment of the image with these flags. */
static bool optional_holds(const struct optional_image *image, uintptr_t at,
			   unsigned flags)
{
	const struct elfmap *map = image->map;
	unsigned i;

	for (i = 0; i < map->phnum; i++) {
		const ElfW(Phdr) *segment = &map->phdr[i];

		if (segment->p_type == PT_LOAD && segment->p_flags & flags &&
		    at - map->bias - segment->p_vaddr < segment->p_memsz)
			return true;
	}
	return false;
}

/* The row whose real function is bound to this name (I1). */
static const struct optional *optional_row(const struct optional_work *work,
					   uintptr_t value, const char *name)
{
	size_t i;

	if (value < work->least || value > work->most)
		return NULL;
	for (i = 0; i < work->count; i++)
		if (optional_wanted(&work->table[i]) &&
		    value == (uintptr_t)*work->table[i].real &&
		    strcmp(name, work->table[i].name) == 0)
			return &work->table[i];
	return NULL;
}

/* The row of a name whose real function is the image's own. */
static const struct optional *
optional_own_row(const struct optional_work *work,
		 const struct optional_image *image, const char *name)
{
	size_t i;

	for (i = 0; i < work->count; i++)
		if (optional_wanted(&work->table[i]) &&
		    strcmp(name, work->table[i].name) == 0)
			return optional_holds(image,
					      (uintptr_t)*work->table[i].real,
					      PF_X) ?
				       &work->table[i] :
				       NULL;
	return NULL;
}

static void optional_exchange(const struct optional_image *image,
			      uintptr_t *word, const void *to)
{
	uintptr_t at = (uintptr_t)word;
	bool closed = at >= image->relro && at < image->relro_end;

	/* excludes relocated code, for example */
	if (*word == (uintptr_t)to || !optional_holds(image, at, PF_W))
		return;
	if (closed && !optional_protect(at, at + sizeof(*word),
					PROT_READ | PROT_WRITE))
		return;
	*word = (uintptr_t)to;
	if (closed)
		optional_protect(at, at + sizeof(*word), PROT_READ);
}

static void optional_rebind(const struct optional_work *work,
			    const struct optional_image *image, unsigned which)
{
	const struct dynsym *dynamic = &image->dynamic;
	const ElfW(Sym) *symbols = (const ElfW(Sym) *)dynamic->symbols;
	uintptr_t at = dynamic->relocs[which];
	uintptr_t end = at + dynamic->relocs_bytes[which];

	for (; at && at < end; at += dynamic->reloc_bytes) {
		const ElfW(Rel) *reloc = (const ElfW(Rel) *)at;
		uint32_t type = arch_reloc_type(reloc->r_info);
		uint32_t symbol = arch_reloc_symbol(reloc->r_info);
		const struct optional *row;
		const char *name;
		uintptr_t *word;

		if (type != ARCH_RELOC_GLOB_DAT &&
		    type != ARCH_RELOC_JUMP_SLOT && type != ARCH_RELOC_WORD)
			continue;
		word = (uintptr_t *)(image->map->bias + reloc->r_offset);
		if (!symbol || (uintptr_t)word % sizeof(*word))
			continue;
		name = (const char *)dynamic->strings +
		       symbols[symbol].st_name;
		row = image->theirs ? optional_own_row(work, image, name)
				    : NULL;
		if (row) {
			if (type == ARCH_RELOC_JUMP_SLOT)
				optional_exchange(image, word, *row->real);
			continue;
		}
		row = optional_row(work, *word, name);
		if (row)
			optional_exchange(image, word, row->entry);
	}
}

static bool optional_holds_any(const struct optional_work *work,
			       const struct optional_image *image)
{
	size_t i;

	for (i = 0; i < work->count; i++)
		if (optional_wanted(&work->table[i]) &&
		    optional_holds(image, (uintptr_t)*work->table[i].real,
				   PF_X))
			return true;
	return false;
}

static int optional_visit(const struct elfmap *map, void *data)
{
	const struct optional_work *work = data;
	struct optional_image image = { .map = map };
	unsigned i;

	if (real_same(map, &real_own) || !dynsym_open(&image.dynamic, map) ||
	    !image.dynamic.reloc_bytes)
		return 0;
	for (i = 0; i < map->phnum; i++) {
		const ElfW(Phdr) *segment = &map->phdr[i];

		if (segment->p_type != PT_GNU_RELRO)
			continue;
		image.relro = map->bias + segment->p_vaddr;
		image.relro_end = (image.relro + segment->p_memsz) &
				  -(uintptr_t)OPTIONAL_PAGE;
		image.relro &= -(uintptr_t)OPTIONAL_PAGE;
	}
	image.theirs = work->theirs && optional_holds_any(work, &image);
	optional_rebind(work, &image, 0);
	optional_rebind(work, &image, 1);
	return 0;
}

static void optional_measure(struct optional_work *work)
{
	size_t i;

	work->least = UINTPTR_MAX;
	for (i = 0; i < work->count; i++) {
		uintptr_t address = (uintptr_t)*work->table[i].real;

		if (!optional_wanted(&work->table[i]))
			continue;
		work->least = base_min(work->least, address);
		work->most = base_max(work->most, address);
	}
}

/* Changes the symbol table of a library before us, if there is one, our own if
 * `own`, and existing bindings. In a constructor: no image is loaded or
 * unloaded meanwhile. */
static bool optional_everywhere(struct optional_work *work, bool own)
{
	struct linkmap_room room;

	optional_measure(work);
	if (!work->most ||
	    (real_front.phdr &&
	     !optional_change(&real_front, work->table, work->count, false)) ||
	    (own && !optional_in_table(&real_own, work->table, work->count)))
		return false;
	linkmap_each(optional_visit, work, &room, NULL);
	return true;
}

bool optional_in_front(const struct optional *table, size_t count)
{
	struct optional_work work = { .table = table, .count = count };

	return real_front.phdr && optional_everywhere(&work, false);
}

bool optional_now(const struct optional *table, size_t count, bool theirs)
{
	struct optional_work work = { .table = table, .count = count,
				    .theirs = theirs };

	return optional_everywhere(&work, true);
}
