/*
 * linkmap.c: follows the loader's list, see linkmap.h.
 *
 *	_r_debug.r_map ─▶ program ⇄ vdso ⇄ … ⇄ ld.so ⇄ loaded ⇄ later
 *	                  └──── there at the start ───┘ new ones at the end
 *
 * <link.h> documents the first words of an entry: bias, path, the dynamic
 * section, both neighbours. The position of the program headers is private to
 * the loader. But dl_iterate_phdr reports them for each entry, so the words
 * behind the public ones are searched for the reported values: the right offset
 * is the one at which all entries agree.
 *
 *	glibc	… | l_phdr | l_entry | l_phnum |
 *	musl	… | phdr | phnum |
 *
 * glibc's counters lie in ld.so's variable _rtld_global: its first words are
 * the list of the first namespace and its length (_ns_nloaded); another word is
 * dl_iterate_phdr's dlpi_adds (_dl_load_adds). We watch all words that had the
 * value of dlpi_adds at the call: one is the counter, and the others change
 * only in the loader. The loader first links or unlinks an entry, then counts,
 * under a lock that it holds for both.
 *
 * musl has no such variable, and unloads only images that it could not load
 * completely. There the entries behind those of the start are compared.
 *
 * I1  The list is consistent if it is as long as the loader counts and the
 *     counters are the same before and after. adds only grows, so no entry was
 *     added, and none was removed unseen; a half-done change shows in the
 *     length.
 * I2  An entry that may be unmapped is read by unwind_copy only. Those that
 *     stay mapped are first in the list.
 *
 * Thread context: linkmap_learn: one thread; other functions: any, also signal
 * handlers.
 */
#include <elf.h>
#include <stdatomic.h>

#include "unwind/base/assertion.h"
#include "unwind/base/memory.h"
#include "unwind/elf/dynsym.h"
#include "unwind/elf/linkmap.h"

#define ENTRIES_MAX 65536	/* a longer list is a loop */
#define ENTRY_WORDS 256		/* words of an entry to search; glibc's have
				 * 150 */
#define PUBLIC_WORDS (sizeof(struct link_map) / sizeof(uintptr_t))
#define KEPT_MAX 256		/* without a list */
#define ADDS_MAX (LINKMAP_WORDS - 1)

/* Weak: the C library has one of the two; a static program has none. */
extern struct r_debug _r_debug __attribute__((weak));
extern struct r_debug *_dl_debug_addr __attribute__((weak));
extern int dl_iterate_phdr(int (*callback)(struct dl_phdr_info *info,
					   size_t size, void *data),
			   void *data) __attribute__((weak));

/* Constant once learned; a forked child keeps it. */
static struct {
	bool learnt;
	uintptr_t first;	/* entry of the program; 0: no list */
	uintptr_t last;		/* last entry that stays mapped; 0: none does */
	unsigned phdr_at, phnum_at;	/* offsets in an entry, in words; 0:
					 * unknown */
	const uint32_t *count;	/* NULL: no counters */
	const uint64_t *adds[ADDS_MAX];
	unsigned adds_count;
	/* without a list: the images at the start (a static program, an unknown
	 * C library) */
	struct elfmap kept[KEPT_MAX];
	unsigned kept_count;
} linkmap;

/* The data that is read from an entry. */
struct entry {
	struct link_map public;
	uintptr_t phdr;
	unsigned phnum;
};

/* ---- learning ---- */

struct learning {
	uintptr_t at;		/* the next entry */
	uintptr_t last;
	uint32_t count;
	bool differs;		/* the list differs from dl_iterate_phdr's */
	/* for each word: whether it can be the program headers' address in all
	 * entries so far, with their number in the next word, or in the one
	 * after */
	bool next[ENTRY_WORDS], second[ENTRY_WORDS];
	uint64_t adds;
	uintptr_t global;	/* _rtld_global */
	size_t global_size;
};

const struct link_map *linkmap_first(void)
{
	const struct r_debug *debug = NULL;

	if (&_r_debug)
		debug = &_r_debug;
	else if (&_dl_debug_addr)
		debug = _dl_debug_addr;
	return debug ? debug->r_map : NULL;
}

/* The number of program headers: the first two bytes of its word, in either
 * byte order. */
static uint16_t linkmap_phnum(const uintptr_t *word)
{
	uint16_t phnum;

	__builtin_memcpy(&phnum, word, sizeof(phnum));
	return phnum;
}

static void learn_words(struct learning *l, const struct dl_phdr_info *info)
{
	uintptr_t word[ENTRY_WORDS];
	size_t got = unwind_copy(word, l->at, sizeof(word)) / sizeof(word[0]);
	size_t i;

	ASSERT(got <= ENTRY_WORDS);
	for (i = 0; i < ENTRY_WORDS; i++) {
		bool same = i >= PUBLIC_WORDS && i + 2 < got &&
			    word[i] == (uintptr_t)info->dlpi_phdr;

		l->next[i] &= same &&
			      linkmap_phnum(&word[i + 1]) == info->dlpi_phnum;
		l->second[i] &= same &&
				linkmap_phnum(&word[i + 2]) == info->dlpi_phnum;
	}
}

static int learn_one(struct dl_phdr_info *info, size_t size, void *data)
{
	const struct elfmap map = {
		.bias = info->dlpi_addr,
		.path = info->dlpi_name,
		.phdr = info->dlpi_phdr,
		.phnum = info->dlpi_phnum,
		.stays = true,
	};
	const struct link_map *entry;
	struct learning *l = data;

	ASSERT(linkmap.kept_count <= KEPT_MAX);
	if (linkmap.kept_count < KEPT_MAX)
		linkmap.kept[linkmap.kept_count++] = map;
	if (size >= offsetof(struct dl_phdr_info, dlpi_tls_modid))
		l->adds = info->dlpi_adds;
	if (!l->global)
		l->global = dynsym_object(&map, "_rtld_global",
					  &l->global_size);
	/* under the loader's lock: entries do not change */
	entry = (const struct link_map *)l->at;
	if (!entry || entry->l_addr != info->dlpi_addr) {
		l->differs = true;
		return 0;
	}
	learn_words(l, info);
	l->count++;
	l->last = l->at;
	l->at = (uintptr_t)entry->l_next;
	return 0;
}

static void learn_counts(const struct learning *l)
{
	const uintptr_t *words = (const uintptr_t *)l->global;
	const uint64_t *counters = (const uint64_t *)l->global;
	const uint32_t *count = (const uint32_t *)(words + 1);
	size_t i, n = l->global_size / sizeof(*counters);
	unsigned found = 0;

	if (!l->global || n < 2 || words[0] != linkmap.first ||
	    *count != l->count)
		return;
	/* counters have 64 bits on all architectures */
	for (i = 2 * sizeof(*words) / sizeof(*counters); i < n; i++) {
		if (counters[i] != l->adds)
			continue;
		/* with more than we can watch, the right one may be missing */
		if (found == ADDS_MAX)
			return;
		linkmap.adds[found++] = &counters[i];
	}
	ASSERT(found <= ADDS_MAX);
	linkmap.adds_count = found;
	if (found)
		linkmap.count = count;
}

static void learn_places(const struct learning *l)
{
	unsigned i;

	for (i = PUBLIC_WORDS; i < ENTRY_WORDS; i++)
		if (l->next[i] || l->second[i]) {
			linkmap.phdr_at = i;
			linkmap.phnum_at = l->next[i] ? i + 1 : i + 2;
			return;
		}
}

void linkmap_learn(linkmap_iterate *iterate, bool at_start)
{
	struct learning l = { .at = (uintptr_t)linkmap_first() };
	unsigned i;

	if (!iterate)
		iterate = dl_iterate_phdr;
	if (linkmap.learnt || !iterate)
		return;
	for (i = 0; i < ENTRY_WORDS; i++)
		l.next[i] = l.second[i] = true;
	linkmap.first = l.at;
	linkmap.learnt = true;
	iterate(learn_one, &l);
	if (!l.differs && !l.at)
		learn_places(&l);
	if (!linkmap.phdr_at) {
		linkmap.first = 0;
		return;
	}
	learn_counts(&l);
	/* a loader without counters never unloads */
	if (at_start || !linkmap.count)
		linkmap.last = l.last;
	ASSERT(!linkmap.count || linkmap.adds_count);
}

/* ---- reading ---- */

static bool read_entry(uintptr_t at, bool stays, struct entry *entry)
{
	uintptr_t tail[3], words = at + linkmap.phdr_at * sizeof(tail[0]);

	DEBUG_ASSERT(linkmap.phnum_at - linkmap.phdr_at - 1 < 2);
	if (stays) {
		__builtin_memcpy(&entry->public, (const void *)at,
				 sizeof(entry->public));
		__builtin_memcpy(tail, (const void *)words, sizeof(tail));
	} else if (unwind_copy(&entry->public, at, sizeof(entry->public)) !=
			   sizeof(entry->public) ||
		   unwind_copy(tail, words, sizeof(tail)) != sizeof(tail)) {
		return false;
	}
	entry->phdr = tail[0];
	entry->phnum =
		linkmap_phnum(&tail[linkmap.phnum_at - linkmap.phdr_at]);
	return true;
}

/* Describes an entry's image. False: the image is not mapped any more. */
static bool describe(const struct entry *entry, uintptr_t at, bool stays,
		     struct linkmap_room *room, struct elfmap *map)
{
	size_t size, got, i;

	*map = (struct elfmap){ .link_map = at,
				.bias = entry->public.l_addr,
				.stays = stays };
	if (stays) {
		map->path = entry->public.l_name;
		map->phdr = (const ElfW(Phdr) *)entry->phdr;
		map->phnum = entry->phnum;
		return true;
	}
	map->phnum = entry->phnum < LINKMAP_PHDRS ? entry->phnum :
						    LINKMAP_PHDRS;
	size = map->phnum * sizeof(ElfW(Phdr));
	ASSERT(size <= sizeof(room->phdr));
	if (unwind_copy(room->phdr, entry->phdr, size) != size)
		return false;
	map->phdr = room->phdr;
	got = unwind_copy(room->path, (uintptr_t)entry->public.l_name,
			  sizeof(room->path) - 1);
	ASSERT(got < sizeof(room->path));
	for (i = 0; i < got && room->path[i]; i++)
		;
	room->path[i] = '\0';
	map->path = room->path;
	return true;
}

static uint64_t mix(uint64_t hash, uint64_t word)
{
	hash = (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
	return hash ^ hash >> 29;
}

/* Without counters: hashes the entries behind those of the start. */
static void hash_late(struct linkmap_version *version)
{
	uintptr_t at = linkmap.last;
	struct entry entry;
	unsigned n;

	if (!at)
		return;
	at = __atomic_load_n(&((uintptr_t *)at)[offsetof(struct link_map,
							 l_next) /
						sizeof(uintptr_t)],
			     __ATOMIC_ACQUIRE);
	for (n = 0; at && n < ENTRIES_MAX && read_entry(at, false, &entry);
	     n++) {
		version->word[0]++;
		version->word[1] = mix(version->word[1], at);
		version->word[1] = mix(version->word[1], entry.public.l_addr);
		version->word[1] = mix(version->word[1], entry.phdr);
		at = (uintptr_t)entry.public.l_next;
	}
}

void linkmap_version(struct linkmap_version *version)
{
	unsigned i;

	*version = (struct linkmap_version){ { 0 } };
	if (!linkmap.count) {
		hash_late(version);
		return;
	}
	/* The loader stores entries before it stores counters. */
	DEBUG_ASSERT(linkmap.adds_count <= ADDS_MAX);
	for (i = 0; i < linkmap.adds_count; i++)
		version->word[i] = __atomic_load_n(linkmap.adds[i],
						   __ATOMIC_ACQUIRE);
	version->word[ADDS_MAX] = __atomic_load_n(linkmap.count,
						  __ATOMIC_ACQUIRE);
}

bool linkmap_changed(const struct linkmap_version *since)
{
	struct linkmap_version now;
	unsigned i;

	/* orders earlier reads of the list before this */
	atomic_thread_fence(memory_order_acquire);
	linkmap_version(&now);
	for (i = 0; i < LINKMAP_WORDS; i++)
		if (now.word[i] !=
		    __atomic_load_n(&since->word[i], __ATOMIC_RELAXED))
			return true;
	return false;
}

static bool visit_kept(linkmap_visitor *visit, void *data, int *result)
{
	unsigned i;

	DEBUG_ASSERT(linkmap.kept_count <= KEPT_MAX);
	for (i = 0; i < linkmap.kept_count && !*result; i++)
		*result = visit(&linkmap.kept[i], data);
	return linkmap.learnt;
}

bool linkmap_each(linkmap_visitor *visit, void *data,
		  struct linkmap_room *room, int *result)
{
	uintptr_t at = linkmap.first, before = 0;
	bool stays = linkmap.last != 0;
	struct elfmap map;
	int ignored, *end = result ? result : &ignored;
	uint32_t n;

	*end = 0;
	if (!at)
		return visit_kept(visit, data, end);
	for (n = 0; at; n++) {
		struct entry entry;

		if (n == ENTRIES_MAX || !read_entry(at, stays, &entry) ||
		    (uintptr_t)entry.public.l_prev != before)
			return false;
		/* an entry that cannot be read is being unmapped */
		if (describe(&entry, at, stays, room, &map))
			*end = visit(&map, data);
		if (*end)
			return true;
		stays &= at != linkmap.last;
		before = at;
		at = (uintptr_t)entry.public.l_next;
	}
	DEBUG_ASSERT(n <= ENTRIES_MAX);
	return !linkmap.count ||
	       n == __atomic_load_n(linkmap.count, __ATOMIC_ACQUIRE);
}
