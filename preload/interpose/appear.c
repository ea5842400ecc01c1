/*
 * appear.c: see appear.h.
 *
 * Our symbol table is read-only memory; its pages become private copies when
 * addresses are written into it. From then on everything that is looked up
 * finds our entries: what the loader binds lazily, what is loaded later,
 * dlsym. What had been bound before, in all images of the program but those
 * not yet known to the loader's list, is found by its relocations: a word that
 * holds the address of a real function, put there for its name.
 *
 *	our .dynsym            relocations of another image
 *	mallocx  0 ─▶ entry    GLOB_DAT mallocx ─▶ word: real ─▶ entry
 *
 * The constructor of this library comes before all others (DF_1_INITFIRST),
 * so nothing of the program has run. A word in memory that was made read-only
 * after relocation is so again afterwards.
 *
 * Where an allocator was preloaded before us its symbols are found before ours.
 * Then the addresses in its table are changed, too, in this process's memory.
 *
 * How an allocator's own functions call each other is none of our business: a
 * jump from one to the next would look like a call by the program. So where
 * that is wanted, the words of its own PLT are bound to its own functions, as
 * the loader would have done without us.
 *
 * I1: a word is only changed if it holds exactly the real function's address
 *     and its symbol has the entry's name: neither words that are not yet
 *     bound, nor an alias, nor another definition that the program preferred.
 * I2: an address that cannot be written leaves everything as it was.
 */
#include "preload/interpose/appear.h"

#include <elf.h>
#include <link.h>
#include <string.h>

#include "arch.h"
#include "preload/base/sys.h"
#include "preload/interpose/gnu_hash.h"
#include "preload/interpose/real.h"
#include "unwind/linkmap.h"

#define APPEAR_PAGE 4096

extern BASE_HIDDEN ElfW(Dyn) _DYNAMIC[];

struct appear_image {
	uintptr_t bias;
	ElfW(Sym) *symbols;
	const char *strings;
	const uint32_t *gnu_hash;
	/* tables of relocations, and the size of an entry of theirs */
	uintptr_t relocs[2];
	size_t relocs_size[2], relocs_entry;
	uintptr_t relro, relro_end;	/* read-only since relocation */
	const struct elfmap *map;
	bool theirs;	/* work->theirs, and it has one of the functions */
};

struct appear_work {
	const struct appear *table;
	size_t count;
	bool theirs;			/* see appear_now */
	uintptr_t least, most;		/* of the real functions */
};

static uintptr_t appear_pointer(uintptr_t bias, ElfW(Addr) value)
{
	/* glibc rewrites the table in memory to addresses, musl does not */
	return value < bias ? bias + value : value;
}

static void appear_open(struct appear_image *image, uintptr_t bias,
			const ElfW(Dyn) *dyn)
{
	memset(image, 0, sizeof(*image));
	image->bias = bias;
	for (; dyn && dyn->d_tag != DT_NULL; dyn++) {
		uintptr_t at = appear_pointer(bias, dyn->d_un.d_ptr);

		switch (dyn->d_tag) {
		case DT_SYMTAB:
			image->symbols = (ElfW(Sym) *)at;
			break;
		case DT_STRTAB:
			image->strings = (const char *)at;
			break;
		case DT_GNU_HASH:
			image->gnu_hash = (const uint32_t *)at;
			break;
		case DT_RELA:
		case DT_REL:
			image->relocs[0] = at;
			break;
		case DT_JMPREL:
			image->relocs[1] = at;
			break;
		case DT_RELASZ:
		case DT_RELSZ:
			image->relocs_size[0] = dyn->d_un.d_val;
			break;
		case DT_PLTRELSZ:
			image->relocs_size[1] = dyn->d_un.d_val;
			break;
		case DT_PLTREL:
			image->relocs_entry = dyn->d_un.d_val == DT_RELA ?
						      sizeof(ElfW(Rela)) :
						      sizeof(ElfW(Rel));
			break;
		case DT_RELAENT:
		case DT_RELENT:
			image->relocs_entry = dyn->d_un.d_val;
			break;
		}
	}
}

/* Our own symbol of this name, which has no address yet. */
static ElfW(Sym) *appear_symbol(const struct appear_image *own,
				const char *name)
{
	struct gnu_hash at;

	for (at = gnu_hash_first(own->gnu_hash, name); at.chain;
	     gnu_hash_next(&at)) {
		ElfW(Sym) *symbol = &own->symbols[at.index];

		if (gnu_hash_fits(&at) && symbol->st_value == 0 &&
		    strcmp(own->strings + symbol->st_name, name) == 0)
			return symbol;
	}
	return NULL;
}

static bool appear_protect(uintptr_t from, uintptr_t to, int prot)
{
	from &= -(uintptr_t)APPEAR_PAGE;
	return !sys_failed(arch_syscall3(__NR_mprotect, from, to - from,
					 prot));
}

static bool appear_wanted(const struct appear *row)
{
	return row->entry && *row->real;
}

/* The addresses of our symbol table that will be written. */
static bool appear_extent(const struct appear_work *work,
			  const struct appear_image *own, uintptr_t *from,
			  uintptr_t *to)
{
	size_t i;

	*from = UINTPTR_MAX;
	*to = 0;
	for (i = 0; i < work->count; i++) {
		ElfW(Sym) *symbol;

		if (!appear_wanted(&work->table[i]))
			continue;
		symbol = appear_symbol(own, work->table[i].name);
		if (!symbol)
			return false;
		*from = base_min(*from, (uintptr_t)symbol);
		*to = base_max(*to, (uintptr_t)(symbol + 1));
	}
	return *to != 0;
}

static bool appear_publish(const struct appear_work *work,
			   const struct link_map *map)
{
	struct appear_image own;
	uintptr_t from, to;
	size_t i;

	appear_open(&own, map->l_addr, map->l_ld);
	if (!own.symbols || !own.strings || !own.gnu_hash ||
	    !appear_extent(work, &own, &from, &to) ||
	    !appear_protect(from, to, PROT_READ | PROT_WRITE))
		return false;
	for (i = 0; i < work->count; i++) {
		const struct appear *row = &work->table[i];

		if (appear_wanted(row))
			appear_symbol(&own, row->name)->st_value =
				(uintptr_t)row->entry - own.bias;
	}
	/* what it was; if that fails it is writable, and as good */
	appear_protect(from, to, PROT_READ);
	return true;
}

/* Whether the address lies in a segment of the image with these flags. */
static bool appear_holds(const struct appear_image *image, uintptr_t at,
			 unsigned flags)
{
	const struct elfmap *map = image->map;
	unsigned i;

	for (i = 0; i < map->phnum; i++) {
		const ElfW(Phdr) *segment = &map->phdr[i];

		if (segment->p_type == PT_LOAD && segment->p_flags & flags &&
		    at - image->bias - segment->p_vaddr < segment->p_memsz)
			return true;
	}
	return false;
}

/* The row of what is bound for this name to its real function (I1). */
static const struct appear *appear_row(const struct appear_work *work,
				       uintptr_t value, const char *name)
{
	size_t i;

	if (value < work->least || value > work->most)
		return NULL;
	for (i = 0; i < work->count; i++)
		if (appear_wanted(&work->table[i]) &&
		    value == (uintptr_t)*work->table[i].real &&
		    strcmp(name, work->table[i].name) == 0)
			return &work->table[i];
	return NULL;
}

/* The row of a name whose real function is the image's own. */
static const struct appear *appear_own_row(const struct appear_work *work,
					   const struct appear_image *image,
					   const char *name)
{
	size_t i;

	for (i = 0; i < work->count; i++)
		if (appear_wanted(&work->table[i]) &&
		    strcmp(name, work->table[i].name) == 0)
			return appear_holds(image,
					    (uintptr_t)*work->table[i].real,
					    PF_X) ?
				       &work->table[i] :
				       NULL;
	return NULL;
}

static void appear_exchange(const struct appear_image *image, uintptr_t *word,
			    const void *to)
{
	uintptr_t at = (uintptr_t)word;
	bool closed = at >= image->relro && at < image->relro_end;

	/* not code that was relocated, for one */
	if (*word == (uintptr_t)to || !appear_holds(image, at, PF_W))
		return;
	if (closed && !appear_protect(at, at + sizeof(*word),
				      PROT_READ | PROT_WRITE))
		return;
	*word = (uintptr_t)to;
	if (closed)
		appear_protect(at, at + sizeof(*word), PROT_READ);
}

static void appear_rebind(const struct appear_work *work,
			  const struct appear_image *image, unsigned which)
{
	uintptr_t at = image->relocs[which];
	uintptr_t end = at + image->relocs_size[which];

	for (; at && at < end; at += image->relocs_entry) {
		const ElfW(Rel) *reloc = (const ElfW(Rel) *)at;
		unsigned type = ELF64_R_TYPE(reloc->r_info);
		uint32_t symbol = ELF64_R_SYM(reloc->r_info);
		const struct appear *row;
		const char *name;
		uintptr_t *word;

		if (type != ARCH_RELOC_GLOB_DAT &&
		    type != ARCH_RELOC_JUMP_SLOT && type != ARCH_RELOC_WORD)
			continue;
		word = (uintptr_t *)(image->bias + reloc->r_offset);
		if (!symbol || (uintptr_t)word % sizeof(*word))
			continue;
		name = image->strings + image->symbols[symbol].st_name;
		row = image->theirs ? appear_own_row(work, image, name) : NULL;
		if (row) {
			if (type == ARCH_RELOC_JUMP_SLOT)
				appear_exchange(image, word, *row->real);
			continue;
		}
		row = appear_row(work, *word, name);
		if (row)
			appear_exchange(image, word, row->entry);
	}
}

static bool appear_holds_any(const struct appear_work *work,
			     const struct appear_image *image)
{
	size_t i;

	for (i = 0; i < work->count; i++)
		if (appear_wanted(&work->table[i]) &&
		    appear_holds(image, (uintptr_t)*work->table[i].real, PF_X))
			return true;
	return false;
}

static int appear_visit(const struct elfmap *map, void *data)
{
	const ElfW(Dyn) *dynamic = NULL;
	const ElfW(Phdr) *relro = NULL;
	const struct appear_work *work = data;
	struct appear_image image;
	unsigned i;

	for (i = 0; i < map->phnum; i++) {
		const ElfW(Phdr) *segment = &map->phdr[i];

		if (segment->p_type == PT_DYNAMIC)
			dynamic = (const void *)(map->bias + segment->p_vaddr);
		else if (segment->p_type == PT_GNU_RELRO)
			relro = segment;
	}
	if (!dynamic || dynamic == _DYNAMIC)
		return 0;
	appear_open(&image, map->bias, dynamic);
	image.map = map;
	if (!image.symbols || !image.strings || !image.relocs_entry)
		return 0;
	if (relro) {
		image.relro = image.bias + relro->p_vaddr;
		image.relro_end = (image.relro + relro->p_memsz) &
				  -(uintptr_t)APPEAR_PAGE;
		image.relro &= -(uintptr_t)APPEAR_PAGE;
	}
	image.theirs = work->theirs && appear_holds_any(work, &image);
	appear_rebind(data, &image, 0);
	appear_rebind(data, &image, 1);
	return 0;
}

/* The symbol of a library before us that has the real function. */
static ElfW(Sym) *appear_in_its_way(const struct appear *row)
{
	ElfW(Sym) *symbol;

	if (!appear_wanted(row))
		return NULL;
	symbol = real_entry(real_front, row->name);
	if (!symbol || real_front->l_addr + symbol->st_value !=
			       (uintptr_t)*row->real)
		return NULL;
	return symbol;
}

/* Makes it lead to the entry. */
static bool appear_take(const struct appear_work *work)
{
	uintptr_t from = UINTPTR_MAX, to = 0;
	size_t i;

	for (i = 0; real_front && i < work->count; i++) {
		ElfW(Sym) *symbol = appear_in_its_way(&work->table[i]);

		if (!symbol)
			continue;
		from = base_min(from, (uintptr_t)symbol);
		to = base_max(to, (uintptr_t)(symbol + 1));
	}
	if (!to)
		return true;
	if (!appear_protect(from, to, PROT_READ | PROT_WRITE))
		return false;
	for (i = 0; i < work->count; i++) {
		ElfW(Sym) *symbol = appear_in_its_way(&work->table[i]);

		if (symbol)
			symbol->st_value = (uintptr_t)work->table[i].entry -
					   real_front->l_addr;
	}
	appear_protect(from, to, PROT_READ);
	return true;
}

static void appear_measure(struct appear_work *work)
{
	size_t i;

	work->least = UINTPTR_MAX;
	for (i = 0; i < work->count; i++) {
		uintptr_t address = (uintptr_t)*work->table[i].real;

		if (!appear_wanted(&work->table[i]))
			continue;
		work->least = base_min(work->least, address);
		work->most = base_max(work->most, address);
	}
}

/* In a constructor: nothing comes or goes meanwhile. */
static void appear_everywhere(struct appear_work *work)
{
	struct linkmap_room room;

	linkmap_each(appear_visit, work, &room, NULL);
}

bool appear_in_front(const struct appear *table, size_t count)
{
	struct appear_work work = { .table = table, .count = count };

	appear_measure(&work);
	if (!work.most || !real_front || !appear_take(&work))
		return false;
	appear_everywhere(&work);
	return true;
}

bool appear_now(const struct appear *table, size_t count, bool theirs)
{
	struct appear_work work = { .table = table, .count = count,
				    .theirs = theirs };
	const struct link_map *own = real_own_map();

	appear_measure(&work);
	if (!work.most || !own || !appear_take(&work) ||
	    !appear_publish(&work, own))
		return false;
	appear_everywhere(&work);
	return true;
}
