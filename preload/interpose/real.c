/*
 * real.c: finding the real functions without dlsym, which allocates and takes
 * the loader's lock.
 *
 * The loader keeps a list of what it mapped for debuggers (_r_debug in glibc,
 * _dl_debug_addr in musl; System V ABI, "Dynamic Linking"). Our own entry is
 * the one whose dynamic section is ours; what lies behind it is searched by
 * its hash table, as the loader would: DT_GNU_HASH or DT_HASH, the default
 * version of a symbol only, indirect functions called.
 *
 * Called by whichever thread comes first; that is before the program's first
 * own thread can exist. A second caller at that time would find and store the
 * same values.
 *
 * I1: real.malloc is stored last: where it is set, all others are.
 * I2: before relocation only data addressed relative to the pc is read.
 */
#include "preload/interpose/real.h"

#include <elf.h>
#include <link.h>
#include <stdatomic.h>
#include <string.h>

#include "preload/base/bump.h"
#include "preload/base/sys.h"
#include "preload/interpose/gnu_hash.h"
#include "unwind/dynsym.h"
#include "unwind/linkmap.h"

#define REAL_HIDDEN_VERSION 0x8000	/* of an entry of DT_VERSYM */

struct real real;
const struct link_map *real_front;
const struct link_map *real_provider;
const struct real *real_below;
bool real_only;
void *real_slots[REAL_SLOTS];
const char *const real_names[REAL_SLOTS] = {
#define SLOTTED(name) [REAL_##name] = #name,
#define BEHIND(name) [REAL_##name] = #name,
#include "preload/interpose/hooked.def"
};

static const struct real_core {
	const char *name;
	size_t at;	/* where struct real keeps it */
} real_core[] = {
#define CORE(result, name, parameters, arguments) \
	{ #name, offsetof(struct real, name) },
#include "preload/interpose/hooked.def"
};
#define REAL_CORE (sizeof(real_core) / sizeof(*real_core))

/* Weak: one of the two exists, by the C library. */
extern struct r_debug _r_debug __attribute__((weak));
extern struct r_debug *_dl_debug_addr __attribute__((weak));
/* Wherever it lies: a program may have a copy, which is the one that counts. */
extern const volatile char __libc_single_threaded __attribute__((weak));
extern BASE_HIDDEN ElfW(Dyn) _DYNAMIC[];

/* Not NULL once our relative relocations have been applied. Nothing of ours
 * can run between those and the others: they involve no foreign code. */
static void *const volatile real_relocated = (void *)&real_relocated;

struct real_image {
	uintptr_t bias;
	const ElfW(Sym) *symbols;
	const char *strings;
	const uint32_t *gnu_hash;
	const uint32_t *hash;
	const uint16_t *versions;
	const char *soname;
};

static uintptr_t real_pointer(const struct link_map *map, ElfW(Addr) value)
{
	/* glibc rewrites the table in memory to addresses, musl does not */
	return value < map->l_addr ? map->l_addr + value : value;
}

static void real_open(struct real_image *image, const struct link_map *map)
{
	const ElfW(Dyn) *dyn;
	ElfW(Addr) soname = 0;

	memset(image, 0, sizeof(*image));
	image->bias = map->l_addr;
	for (dyn = map->l_ld; dyn && dyn->d_tag != DT_NULL; dyn++) {
		uintptr_t at = real_pointer(map, dyn->d_un.d_ptr);

		switch (dyn->d_tag) {
		case DT_SYMTAB:
			image->symbols = (const ElfW(Sym) *)at;
			break;
		case DT_STRTAB:
			image->strings = (const char *)at;
			break;
		case DT_GNU_HASH:
			image->gnu_hash = (const uint32_t *)at;
			break;
		case DT_HASH:
			image->hash = (const uint32_t *)at;
			break;
		case DT_VERSYM:
			image->versions = (const uint16_t *)at;
			break;
		case DT_SONAME:
			soname = dyn->d_un.d_val;
			break;
		}
	}
	if (soname && image->strings)
		image->soname = image->strings + soname;
}

static bool real_matches(const struct real_image *image, uint32_t index,
			 const char *name)
{
	const ElfW(Sym) *symbol = &image->symbols[index];
	unsigned type = ELF64_ST_TYPE(symbol->st_info);

	if (symbol->st_shndx == SHN_UNDEF || symbol->st_value == 0)
		return false;
	if (type != STT_FUNC && type != STT_GNU_IFUNC && type != STT_NOTYPE)
		return false;
	if (image->versions && image->versions[index] & REAL_HIDDEN_VERSION)
		return false;
	return strcmp(image->strings + symbol->st_name, name) == 0;
}

static uint32_t real_find_gnu(const struct real_image *image,
			      const char *name)
{
	struct gnu_hash at;

	for (at = gnu_hash_first(image->gnu_hash, name); at.chain;
	     gnu_hash_next(&at))
		if (gnu_hash_fits(&at) && real_matches(image, at.index, name))
			return at.index;
	return 0;
}

static uint32_t real_find_sysv(const struct real_image *image,
			       const char *name)
{
	uint32_t buckets = image->hash[0], hash = 0, i;
	const uint32_t *bucket = image->hash + 2;
	const uint32_t *chain = bucket + buckets;
	const char *s;

	for (s = name; *s; s++) {
		uint32_t high;

		hash = (hash << 4) + (unsigned char)*s;
		high = hash & 0xf0000000;
		hash ^= high >> 24;
		hash &= ~high;
	}
	if (!buckets)
		return 0;
	for (i = bucket[hash % buckets]; i; i = chain[i])
		if (real_matches(image, i, name))
			return i;
	return 0;
}

ElfW(Sym) *real_entry(const struct link_map *map, const char *name)
{
	struct real_image image;
	uint32_t index = 0;

	real_open(&image, map);
	if (!image.symbols || !image.strings)
		return NULL;
	if (image.gnu_hash)
		index = real_find_gnu(&image, name);
	else if (image.hash)
		index = real_find_sysv(&image, name);
	return index ? (ElfW(Sym) *)&image.symbols[index] : NULL;
}

static void *real_in_image(const struct link_map *map, const char *name)
{
	const ElfW(Sym) *entry = real_entry(map, name);
	uintptr_t address;

	if (!entry)
		return NULL;
	address = map->l_addr + entry->st_value;
	if (ELF64_ST_TYPE(entry->st_info) == STT_GNU_IFUNC)
		address = ((uintptr_t(*)(void))address)();
	return (void *)address;
}

const struct link_map *real_own_map(void)
{
	const struct r_debug *debug = NULL;
	const struct link_map *map;

	if (&_r_debug)
		debug = &_r_debug;
	else if (&_dl_debug_addr)
		debug = _dl_debug_addr;
	for (map = debug ? debug->r_map : NULL; map; map = map->l_next)
		if (map->l_ld == _DYNAMIC)
			return map;
	return NULL;
}

void *real_behind(const struct link_map *own, const char *name,
		  const struct link_map **image)
{
	const struct link_map *map;

	for (map = real_front ? real_front : own->l_next; map;
	     map = map->l_next) {
		void *found = map == own ? NULL : real_in_image(map, name);

		if (found) {
			*image = map;
			return found;
		}
	}
	return NULL;
}

static void *real_next(const struct link_map *own, const char *name)
{
	const struct link_map *map;

	return real_behind(own, name, &map);
}

bool real_preceded(const struct link_map *own, const char *name)
{
	const struct link_map *map = real_front ? real_front : own;

	while ((map = map->l_prev))
		if (real_in_image(map, name))
			return true;
	return false;
}

/*
 * Whoever stands before us and provides malloc, if it is one that is known to
 * be an allocator: nobody knows what else such a library may be up to.
 */
static const struct link_map *real_find_front(const struct link_map *own)
{
	const struct link_map *map = own, *front = NULL;

	while ((map = map->l_prev))
		if (real_in_image(map, "malloc"))
			front = map;
	/* the first of all is the program */
	if (!front || !front->l_prev)
		return NULL;
	if (real_in_image(front, "mallocx") ||
	    real_in_image(front, "tc_malloc") ||
	    /* heaptrack has its own mi_malloc, which calls the next one */
	    real_in_image(front, "mi_version"))
		return front;
	return NULL;
}

bool real_is_libc(const struct link_map *map)
{
	struct real_image image;

	real_open(&image, map);
	return image.soname && strcmp(image.soname, "libc.so.6") == 0;
}

void real_allocators(const struct link_map *own,
		     void (*visit)(const struct link_map *image))
{
	const struct link_map *map = real_front ? real_front : own->l_next;
	unsigned i;

	for (; map && !real_is_libc(map); map = map->l_next) {
		for (i = 0; i < REAL_CORE; i++)
			if (map != own && real_entry(map, real_core[i].name))
				break;
		if (i < REAL_CORE)
			visit(map);
	}
}

/*
 * What no image provides is made of what there is. These run only where a
 * program calls a function that its own C library does not have.
 */
static void *real_memalign(size_t alignment, size_t size)
{
	return real.aligned_alloc(alignment, size);
}

static void *real_valloc(size_t size)
{
	return real.memalign(REAL_PAGE, size);
}

static void *real_pvalloc(size_t size)
{
	size_t rounded = base_round_up(size, REAL_PAGE);

	return real.memalign(REAL_PAGE, rounded < size ? size : rounded);
}

static size_t real_usable_size(void *block)
{
	(void)block;
	return 0;
}

static void real_fill(const struct link_map *own)
{
	unsigned i;

	for (i = 0; i < REAL_CORE; i++)
		if (real_core[i].at != offsetof(struct real, malloc))	/* I1 */
			*(void **)((char *)&real + real_core[i].at) =
				real_next(own, real_core[i].name);
	if (!real.aligned_alloc)
		real.aligned_alloc = real.memalign;
	if (!real.memalign)
		real.memalign = real_memalign;
	if (!real.valloc)
		real.valloc = real_valloc;
	if (!real.pvalloc)
		real.pvalloc = real_pvalloc;
	if (!real.malloc_usable_size)
		real.malloc_usable_size = real_usable_size;
	for (i = 0; i < REAL_SLOTS; i++)
		real_slots[i] = real_next(own, real_names[i]);
	/* the same but for a check */
	if (!real_slots[REAL___longjmp_chk])
		real_slots[REAL___longjmp_chk] = real_slots[REAL_longjmp];
}

void real_code(const struct link_map *map, uintptr_t *start, uintptr_t *size)
{
	/* a shared object's bias is where its file header lies */
	const ElfW(Ehdr) *file = (const ElfW(Ehdr) *)map->l_addr;
	const ElfW(Phdr) *segment = (const void *)(map->l_addr +
						   file->e_phoff);
	unsigned i;

	for (i = 0; i < file->e_phnum; i++, segment++) {
		if (segment->p_type != PT_LOAD || !(segment->p_flags & PF_X))
			continue;
		*start = map->l_addr + segment->p_vaddr;
		*size = segment->p_memsz;
	}
}

static void real_may_reenter(const struct link_map *image)
{
	(void)image;
	real.reenters = true;
}

/* What is known of the images that provide them. */
static void real_look(const struct link_map *own)
{
	const struct link_map *map;

	real_allocators(own, real_may_reenter);
	if (!real_behind(own, "malloc", &map))
		return;
	real_provider = map;
	if (!real_is_libc(map))
		return;
	if (&__libc_single_threaded) {
		real.mallinfo = real_in_image(map, "mallinfo2");
		real.single_threaded = &__libc_single_threaded;
	}
	if (sizeof(void *) == sizeof(uint64_t) && !real.reenters &&
	    real_in_image(map, "gnu_get_libc_version"))
		real.headers = REAL_HEADERS_TRIAL;
}

/*
 * Before the program has a thread that could hold the loader's lock. The C
 * library's own dl_iterate_phdr: sanitizers have one in its place, which makes
 * them ready first, and is not to be entered while it does.
 */
static void real_learn_list(const struct link_map *own)
{
	linkmap_iterate *iterate = NULL;
	const struct link_map *map;

	for (map = own; map && !iterate; map = map->l_next)
		if (real_is_libc(map))
			iterate = (linkmap_iterate *)
				real_in_image(map, "dl_iterate_phdr");
	linkmap_learn(iterate, true);
}

bool real_resolve(void)
{
	const struct link_map *own;
	void *found;

	/* pairs with the release below (I1) */
	if (__atomic_load_n(&real.malloc, __ATOMIC_ACQUIRE))
		return true;
	if (!real_relocated)
		return false;
	own = real_own_map();
	if (!own)
		return false;
	real_front = real_find_front(own);
	found = real_next(own, "malloc");
	if (!found)
		return false;
	real_fill(own);
	real_learn_list(own);
	if (!real.calloc || !real.realloc || !real.free ||
	    !real.posix_memalign || !real.aligned_alloc)
		return false;
	real_look(own);
	real_code(own, &real.own_start, &real.own_size);
	real_only = bump_count() == 0;
	__atomic_store_n(&real.malloc, found, __ATOMIC_RELEASE);
	return true;
}

struct real_search {
	const char *name;
	bool behind;		/* our own image was passed */
	uintptr_t found;
};

static bool real_is_own(const struct elfmap *map)
{
	unsigned i;

	for (i = 0; i < map->phnum; i++)
		if (map->phdr[i].p_type == PT_DYNAMIC &&
		    map->bias + map->phdr[i].p_vaddr == (uintptr_t)_DYNAMIC)
			return true;
	return false;
}

static int real_visit(const struct elfmap *map, void *data)
{
	struct real_search *search = data;

	if (search->behind)
		search->found = dynsym_find(map, search->name, STT_FUNC);
	else
		search->behind = real_is_own(map);
	return search->found != 0;
}

void *real_function(const char *name)
{
	struct real_search search = { .name = name };
	struct linkmap_room room;

	if (real_resolve())
		linkmap_each(real_visit, &search, &room, NULL);
	return (void *)search.found;
}

void *real_late(enum real_slot which)
{
	void *function = real_of(which);

	return likely(function) ? function : real_function(real_names[which]);
}
