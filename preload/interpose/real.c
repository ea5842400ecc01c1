/*
 * real.c: finds the real functions without dlsym, which allocates and takes the
 * loader's lock.
 *
 * Reads the loader's list of images as the unwinder does (linkmap.h). Our own
 * entry is the one with our dynamic section; the entries after it are searched
 * in the loader's order, and as the loader would (dynsym.h): only the default
 * version of a symbol, calling indirect functions.
 *
 * Called by the first thread that needs it; that is before the program's first
 * own thread can exist. A second caller at that time would find and store the
 * same values.
 *
 * I1: real.malloc is stored last: once it is set, all others are. I2: before
 * relocation only data addressed relative to the pc is read.
 */
#include "preload/interpose/real.h"

#include <elf.h>
#include <link.h>
#include <stdatomic.h>
#include <string.h>

#include "arch.h"
#include "preload/base/bump.h"
#include "unwind/base/memory.h"
#include "unwind/elf/dynsym.h"
#include "unwind/elf/linkmap.h"

#define REAL_SONAME_MAX 32	/* longer names are not searched */
#define REAL_FUNCTION (1u << STT_FUNC)
#define REAL_ANY_FUNCTION \
	(REAL_FUNCTION | 1u << STT_GNU_IFUNC | 1u << STT_NOTYPE)

struct real real;
struct elfmap real_own, real_front, real_provider;
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
	size_t at;	/* offset in struct real */
} real_core[] = {
#define CORE(result, name, parameters, arguments) \
	{ #name, offsetof(struct real, name) },
#include "preload/interpose/hooked.def"
};
#define REAL_CORE (sizeof(real_core) / sizeof(*real_core))

/* In any image: a program may have a copy (by a copy relocation), which is the
 * valid one. */
extern const volatile char __libc_single_threaded __attribute__((weak));
extern BASE_HIDDEN ElfW(Dyn) _DYNAMIC[];

/* Not NULL once our relative relocations have been applied. None of our code
 * can run between those and the other relocations, since they call no code
 * outside the loader. */
static void *const volatile real_relocated = (void *)&real_relocated;

static void *real_in_image(const struct dynsym *image, const char *name)
{
	const struct elfmap *map = image->map;
	uintptr_t at = dynsym_entry(image, name, map->stays ?
							 REAL_ANY_FUNCTION :
							 REAL_FUNCTION);
	uintptr_t address;
	ElfW(Sym) symbol;

	if (!at || !elfmap_copy(map, &symbol, at, sizeof(symbol)))
		return NULL;
	address = map->bias + symbol.st_value;
	if (ELF64_ST_TYPE(symbol.st_info) == STT_GNU_IFUNC)
		address = ((uintptr_t(*)(void))address)();
	return (void *)address;
}

bool real_is_libc(const struct elfmap *map)
{
	char soname[REAL_SONAME_MAX];

	return dynsym_soname(map, soname, sizeof(soname)) &&
	       strcmp(soname, "libc.so.6") == 0;
}

/* ---- iterating over images ---- */

/* Visits the images behind ours, or those before it, until `visit` returns
 * true. */
struct real_round {
	bool (*visit)(const struct dynsym *image, void *data);
	void *data;
	bool before, begun;
};

static int real_visit(const struct elfmap *map, void *data)
{
	struct real_round *round = data;
	struct dynsym image;
	bool front = real_same(map, &real_front);
	bool own = real_same(map, &real_own);

	if (round->before)
		return front || own || (dynsym_open(&image, map) &&
					round->visit(&image, round->data));
	round->begun |= front || own;
	return round->begun && !own && dynsym_open(&image, map) &&
	       round->visit(&image, round->data);
}

static void real_each(bool before,
		      bool (*visit)(const struct dynsym *image, void *data),
		      void *data)
{
	struct real_round round = { visit, data, before, false };
	struct linkmap_room room;

	linkmap_each(real_visit, &round, &room, NULL);
}

struct real_search {
	const char *name;
	void *found;
	struct elfmap *image;
};

static bool real_search(const struct dynsym *image, void *data)
{
	struct real_search *search = data;

	search->found = real_in_image(image, search->name);
	if (search->found && search->image)
		*search->image = *image->map;
	return search->found;
}

void *real_behind(const char *name, struct elfmap *image)
{
	struct real_search search = { .name = name, .image = image };

	real_each(false, real_search, &search);
	return search.found;
}

bool real_preceded(const char *name)
{
	struct real_search search = { .name = name };

	real_each(true, real_search, &search);
	return search.found;
}

/*
 * Finds an image before us that provides malloc, if it is a known allocator: an
 * unknown library may do anything else in its malloc.
 */
static bool real_find_front(const struct dynsym *image, void *data)
{
	bool *program = data;

	if (real_in_image(image, "malloc")) {
		if (!*program &&
		    (real_in_image(image, "mallocx") ||
		     real_in_image(image, "tc_malloc") ||
		     /* heaptrack has an mi_malloc that calls the next one */
		     real_in_image(image, "mi_version")))
			real_front = *image->map;
		return true;
	}
	*program = false;
	return false;
}

static bool real_visit_allocator(const struct dynsym *image, void *data)
{
	void (*visit)(const struct elfmap *) =
		*(void (**)(const struct elfmap *))data;
	unsigned i;

	if (real_is_libc(image->map))
		return true;
	for (i = 0; i < REAL_CORE; i++)
		if (dynsym_entry(image, real_core[i].name, REAL_ANY_FUNCTION))
			break;
	if (i < REAL_CORE)
		visit(image->map);
	return false;
}

void real_allocators(void (*visit)(const struct elfmap *image))
{
	real_each(false, real_visit_allocator, &visit);
}

/* ---- lookup ---- */

/*
 * Replacements of functions that no image provides, made of existing ones. They
 * run only if a program calls a function that its own C library lacks.
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

/* Takes an image's functions that no image before it had; malloc separately
 * (I1). */
static bool real_take(const struct dynsym *image, void *malloc)
{
	unsigned i;

	for (i = 0; i < REAL_CORE; i++) {
		void **at = (void **)((char *)&real + real_core[i].at);

		if (real_core[i].at == offsetof(struct real, malloc))
			at = malloc;
		if (!*at)
			*at = real_in_image(image, real_core[i].name);
	}
	for (i = 0; i < REAL_SLOTS; i++)
		if (!real_slots[i])
			real_slots[i] = real_in_image(image, real_names[i]);
	return false;
}

static void real_complete(void)
{
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
	/* the same without a check */
	if (!real_slots[REAL___longjmp_chk])
		real_slots[REAL___longjmp_chk] = real_slots[REAL_longjmp];
}

void real_code(const struct elfmap *map, uintptr_t *start, uintptr_t *size)
{
	unsigned i;

	for (i = 0; i < map->phnum; i++) {
		const ElfW(Phdr) *segment = &map->phdr[i];

		if (segment->p_type != PT_LOAD || !(segment->p_flags & PF_X))
			continue;
		*start = map->bias + segment->p_vaddr;
		*size = segment->p_memsz;
	}
}

static void real_may_reenter(const struct elfmap *image)
{
	(void)image;
	real.reenters = true;
}

/* Sets what follows from the images that provide them. */
static void real_find_in(void)
{
	struct dynsym provider;

	real_allocators(real_may_reenter);
	real_code(&real_own, &real.own_start, &real.own_size);
	if (!real_is_libc(&real_provider) ||
	    !dynsym_open(&provider, &real_provider))
		return;
	if (&__libc_single_threaded) {
		real.mallinfo = real_in_image(&provider, "mallinfo2");
		real.single_threaded = &__libc_single_threaded;
	}
	if (sizeof(void *) == sizeof(uint64_t) && !real.reenters &&
	    real_in_image(&provider, "gnu_get_libc_version"))
		real.headers = REAL_HEADERS_TRIAL;
}

/* Describes a shared object, whose file header is at its start. */
static bool real_describe(const struct link_map *entry, struct elfmap *map)
{
	ElfW(Ehdr) file;

	if (unwind_copy(&file, entry->l_addr, sizeof(file)) != sizeof(file) ||
	    memcmp(file.e_ident, ELFMAG, SELFMAG) != 0)
		return false;
	*map = (struct elfmap){
		.bias = entry->l_addr,
		.phdr = (const ElfW(Phdr) *)(entry->l_addr + file.e_phoff),
		.phnum = file.e_phnum,
		.stays = true,
	};
	return true;
}

/*
 * Called before the program has a thread that could hold the loader's lock.
 * Uses the C library's own dl_iterate_phdr: sanitizers replace it with one that
 * initialises them first, and must not be re-entered meanwhile. False: we are
 * not in the list (yet).
 */
static bool real_learn_list(void)
{
	const struct link_map *entry = linkmap_first();
	void *iterate = NULL;
	struct dynsym libc;
	struct elfmap map;

	while (entry && entry->l_ld != _DYNAMIC)
		entry = entry->l_next;
	if (!entry)
		return false;
	for (; entry && !iterate; entry = entry->l_next)
		if (real_describe(entry, &map) && real_is_libc(&map) &&
		    dynsym_open(&libc, &map))
			iterate = real_in_image(&libc, "dl_iterate_phdr");
	linkmap_learn((linkmap_iterate *)iterate, true);
	return true;
}

static int real_find_own(const struct elfmap *map, void *unused)
{
	unsigned i;

	(void)unused;
	for (i = 0; i < map->phnum && !real_own.phdr; i++)
		if (map->phdr[i].p_type == PT_DYNAMIC &&
		    map->bias + map->phdr[i].p_vaddr == (uintptr_t)_DYNAMIC)
			real_own = *map;
	return real_own.phdr != NULL;
}

/* Finds our own image and the provider of malloc in the list. */
static bool real_find_images(void)
{
	struct linkmap_room room;
	bool program = true;

	if (!real_learn_list())
		return false;
	linkmap_each(real_find_own, NULL, &room, NULL);
	if (!real_own.phdr)
		return false;
	real_each(true, real_find_front, &program);
	return real_behind("malloc", &real_provider);
}

bool real_resolve(void)
{
	void *found = NULL;

	/* pairs with the release below (I1) */
	if (__atomic_load_n(&real.malloc, __ATOMIC_ACQUIRE))
		return true;
	if (!real_relocated || !real_find_images())
		return false;
	real_each(false, real_take, &found);
	real_complete();
	if (!real.calloc || !real.realloc || !real.free ||
	    !real.posix_memalign || !real.aligned_alloc)
		return false;
	real_find_in();
	real_only = bump_count() == 0;
	ASSERT(found);
	__atomic_store_n(&real.malloc, found, __ATOMIC_RELEASE);
	return true;
}

void *real_function(const char *name)
{
	return real_resolve() ? real_behind(name, NULL) : NULL;
}

void *real_late(enum real_slot which)
{
	void *function = real_of(which);

	return likely(function) ? function : real_function(real_names[which]);
}

/* pthread_self only computes it in every C library. */
uintptr_t real_thread(void)
{
	uintptr_t (*self)(void) = real_of(REAL_pthread_self);

	return likely(self) ? self() : arch_thread_pointer();
}
