/*
 * image.c: the list of mapped ELF objects.
 *
 * The loader's list is authoritative, and read without the loader's lock
 * (linkmap.h). It is read at the start, after image_generation has changed,
 * and if the list has changed since the last scan when a pc lies in no known
 * image or in one that may be unmapped.
 *
 *	read ─▶ unchanged meanwhile? ─yes──▶ retire missing images
 *	  ▲ no, some times │                          │
 *	  └────────────────┘                          ▼
 *	                                read again, add new images
 *
 * A thread that finds another one scanning does not wait: it looks the image up
 * in the loader's list itself and remembers nothing (image_borrow). Signals are
 * blocked while the list is changed, so that no handler can jump out and leave
 * it locked.
 *
 * I1  An image's public record is complete before lookups can find it
 *     (image_ranges.h).
 * I2  Only the holder of the lock scans, adds and retires. Threads only try it,
 *     and never wait.
 * I3  A node that was made with borrowed tables is not older than the image's
 *     first node: a borrower stores the node count in `borrowed` before it
 *     makes a node, and a scan reads `borrowed` after it has read the count
 *     itself.
 *
 * Thread context: any thread, also signal handlers.
 */
#include <elf.h>
#include <stdatomic.h>
#include <signal.h>
#include <asm/unistd.h>

#include "unwind/base/assertion.h"
#include "unwind/base/context.h"
#include "unwind/base/memory.h"
#include "unwind/base/signals.h"
#include "unwind/elf/linkmap.h"
#include "unwind/image/gdbjit.h"
#include "unwind/image/image.h"
#include "unwind/image/image_kind.h"
#include "unwind/image/image_ranges.h"
#include "unwind/image/image_record.h"
#include "unwind/image/jit.h"
#include "unwind/image/rule_files.h"
#include "unwind/rules/rules_exidx.h"

/* Images after the first GL_IMAGES_MAX have no record that other processes can
 * read: stacks pass through them, but their functions have no names. */
#define IMAGES_MAX 16384
#define TRIES 3			/* to read an unchanged list */
#define BORROWERS 8		/* at a time */
#define NOBODY_BORROWED UINT32_MAX

struct scan {
	bool add;
	bool first;
	bool changed;
	uint32_t unknown;
	uint32_t next;	/* where to search first: mostly the same order */
	uint32_t borrowed;
};

/* A buffer for copies of the loader's entries. */
struct borrower {
	_Atomic bool taken;
	struct linkmap_room room;
};

static struct {
	struct gl_image *public;
	_Atomic uint32_t *public_count;
	const _Atomic uint32_t *public_limit;
	void (*want_images)(void);
	void (*rules_changed)(void);
	struct image *images;
	uint32_t count;
	_Atomic uint32_t lock;
	_Atomic uint32_t borrowed;	/* I3 */
	/* version of the loader's list at the last scan; changed under the
	 * lock, with seen_seq odd meanwhile */
	_Atomic uint32_t seen_seq;
	struct linkmap_version seen;
	_Atomic uint32_t forbidden_why;	/* see image_forbidden_why */
	bool late;
	image_find_section *find_section;
	struct borrower *borrowers;
	struct linkmap_room room;	/* under the lock */
} list;

_Atomic uint32_t image_generation;

#ifdef GNOMON_DEBUG_ASSERTS
/* At the start there is no other thread. */
static bool is_held(void)
{
	return !list.late ||
	       atomic_load_explicit(&list.lock, memory_order_relaxed);
}
#endif

/* Whether the record's page is reserved: touching another one on a full disk
 * would end the process. */
static bool is_reserved(uint32_t index)
{
	unsigned tries;

	for (tries = 0; list.public_limit && tries < 2; tries++) {
		/* Pairs with the recorder's release after it reserved pages. */
		if (index < atomic_load_explicit(list.public_limit,
						 memory_order_acquire))
			return true;
		if (tries == 0)
			list.want_images();
	}
	return !list.public_limit;
}

/* The record of image number `index`; NULL: no memory, or too many images. */
static struct gl_image *new_record(uint32_t index)
{
	if (index < GL_IMAGES_MAX && is_reserved(index))
		return &list.public[index];
	return index < IMAGES_MAX ? unwind_alloc(sizeof(struct gl_image)) :
				    NULL;
}

static void publish_record(struct gl_image *g)
{
	/* Pairs with the recorder's acquire. */
	ASSERT(list.count <= IMAGES_MAX);
	ASSERT(atomic_load_explicit(list.public_count, memory_order_relaxed) <=
	       list.count);
	DEBUG_ASSERT(!g->state);
	atomic_store_explicit(&g->state, 1, memory_order_release);
	atomic_store_explicit(list.public_count,
			      list.count < GL_IMAGES_MAX ? list.count :
							   GL_IMAGES_MAX,
			      memory_order_release);
}

static uint32_t first_node_of(const struct scan *scan)
{
	uint32_t count = context_count();
	uint32_t borrowed = atomic_load_explicit(&list.borrowed,
						 memory_order_seq_cst);

	if (scan->borrowed < count)
		count = scan->borrowed;
	return borrowed < count ? borrowed : count;
}

/* False: no room for it. */
static bool image_add(const struct scan *scan, const struct elfmap *map,
		      struct image_kind kind)
{
	struct gl_image *g = image_record_possible(map) ?
				     new_record(list.count) : NULL;
	struct image *image = &list.images[list.count];

	if (!g)
		return false;
	DEBUG_ASSERT(is_held());	/* I2 */
	image->public = g;
	image->forbids_barriers = kind.forbids_barriers;
	image_record_fill(image, map, list.find_section);
	ASSERT(g->segments > 0 && g->segments <= GL_SEGMENTS_MAX);
	if (list.late)
		g->flags |= GT_IMAGE_LATE;
	else if (scan->first)
		g->flags |= GT_IMAGE_MAIN;
	g->first_node = first_node_of(scan);
	ASSERT(g->first_node <= context_count());
	image->listed = true;
	/* the tables of other images may be unmapped at this moment */
	if (map->stays)
		image_rules(image);
	gdbjit_image(map);
	list.count++;
	publish_record(g);
	return true;
}

/*
 * No more records: an image that was unmapped may have come back, as plug-ins
 * do that are loaded for a single call. Its record says that it ended, which
 * cannot be undone, but its tables are still valid. Its build id must be the
 * same.
 */
static bool reuse_record(const struct elfmap *map)
{
	uint32_t i;

	for (i = 0; i < list.count; i++) {
		struct image *image = &list.images[i];

		if (!image_is_gone(image) || !image->public->build_id_size)
			continue;
		/* it may have a new entry in the loader's list */
		image->link_map = map->link_map;
		if (!image_record_matches(image, map))
			continue;
		image->listed = true;
		atomic_store_explicit(&image->gone, false,
				      memory_order_relaxed);
		image_ranges_again(image, list.count);
		gdbjit_image(map);
		return true;
	}
	return false;
}

/* Adds an unknown image. */
static bool take_new(const struct scan *scan, const struct elfmap *map)
{
	struct image_kind kind = image_kind_of(map);

	if (kind.forbidden_why != GT_WHY_DEFAULT && !image_forbidden_why())
		atomic_store_explicit(&list.forbidden_why, kind.forbidden_why,
				      memory_order_relaxed);
	/* Without room its frames are treated as code without an image. */
	return (list.count >= GL_IMAGES_MAX && reuse_record(map)) ||
	       image_add(scan, map, kind);
}

static int scan_one(const struct elfmap *map, void *data)
{
	struct scan *scan = data;
	uint32_t i;

	for (i = 0; i < list.count; i++) {
		uint32_t at = (scan->next + i) % list.count;

		if (!image_is_gone(&list.images[at]) &&
		    image_record_matches(&list.images[at], map)) {
			list.images[at].listed = true;
			scan->next = at + 1;
			return 0;
		}
	}
	scan->unknown++;
	if (scan->add && take_new(scan, map))
		scan->changed = true;
	scan->first = false;
	return 0;
}

static void image_retire(struct image *image)
{
	struct gl_image *g = image->public;
	uint32_t i;

	ASSERT(!image_is_gone(image));
	DEBUG_ASSERT(is_held());	/* I2 */
	atomic_store_explicit(&image->gone, true, memory_order_relaxed);
	gdbjit_image_gone(image->start, image->end);
	for (i = 0; i < g->segments; i++)
		if (g->segment[i].flags & PF_X)
			context_forget(g->segment[i].start,
				       g->segment[i].start +
					       g->segment[i].size + 1,
				       g->first_node);
	/* Pairs with the recorder's acquire: nodes below are the image's. */
	atomic_store_explicit(&g->end_node, context_count(),
			      memory_order_release);
	ASSERT(g->first_node <= g->end_node);
}

static void retire_others(struct scan *scan)
{
	uint32_t i;

	for (i = 0; i < list.count; i++)
		if (!list.images[i].listed && !image_is_gone(&list.images[i])) {
			image_retire(&list.images[i]);
			scan->changed = true;
		}
}

/* Reads the loader's list once; whether *version was its version during all of
 * it. */
static bool read_list(struct scan *scan, struct linkmap_version *version)
{
	uint32_t i;

	for (i = 0; i < list.count; i++)
		list.images[i].listed = false;
	scan->unknown = scan->next = 0;
	scan->first = true;
	linkmap_version(version);
	return linkmap_each(scan_one, scan, &list.room, NULL) &&
	       !linkmap_changed(version);
}

static void set_seen(const struct linkmap_version *version)
{
	unsigned i;

	DEBUG_ASSERT(!(atomic_load_explicit(&list.seen_seq,
					    memory_order_relaxed) & 1));
	/* Pairs with the reads in image_list_is_stale. */
	atomic_fetch_add_explicit(&list.seen_seq, 1, memory_order_acq_rel);
	for (i = 0; i < LINKMAP_WORDS; i++)
		__atomic_store_n(&list.seen.word[i], version->word[i],
				 __ATOMIC_RELAXED);
	atomic_fetch_add_explicit(&list.seen_seq, 1, memory_order_release);
}

#ifdef GNOMON_DEBUG_ASSERTS
bool image_list_is_valid(void)
{
	uint32_t i, shown = list.count < GL_IMAGES_MAX ? list.count :
							 GL_IMAGES_MAX;

	if (list.count > IMAGES_MAX ||
	    atomic_load_explicit(list.public_count, memory_order_relaxed) !=
		    shown)
		return false;
	for (i = 0; i < list.count; i++) {
		const struct image *image = &list.images[i];
		const struct gl_image *g = image->public;
		uint32_t end = atomic_load_explicit(&g->end_node,
						    memory_order_relaxed);

		if (image->start > image->end || g->segments > GL_SEGMENTS_MAX ||
		    (end && end < g->first_node) ||
		    (image_is_gone(image) && !end))
			return false;
	}
	return true;
}
#endif

/* Scans under the lock. An image that is loaded while new ones are added makes
 * the list stale again at once. False: the list kept changing. */
static bool scan_all(bool *changed)
{
	struct linkmap_version version;
	struct scan scan = { .add = false };
	unsigned tries = 0;

	DEBUG_ASSERT(is_held());	/* I2 */
	*changed = false;
	if (list.late && !image_list_is_stale())
		return true;
	scan.borrowed = atomic_exchange_explicit(&list.borrowed,
						 NOBODY_BORROWED,
						 memory_order_seq_cst);
	while (!read_list(&scan, &version))
		if (++tries == TRIES && list.late) {
			if (scan.borrowed != NOBODY_BORROWED)
				atomic_store_explicit(&list.borrowed,
						      scan.borrowed,
						      memory_order_seq_cst);
			return false;
		} else if (tries == TRIES) {
			break;	/* at the start: take the list as it is */
		}
	retire_others(&scan);
	scan.add = true;
	if (scan.unknown) {
		struct linkmap_version later;

		read_list(&scan, &later);
	}
	set_seen(&version);
	DEBUG_ASSERT(image_list_is_valid());
	*changed = scan.changed;
	if (!scan.changed)
		return true;
	image_ranges_publish(list.count);
	/* Remembered rules and stacks may refer to images that were there
	 * before: all threads drop them. */
	if (list.late) {
		list.rules_changed();
		atomic_fetch_add_explicit(&image_generation, 1,
					  memory_order_release);
	}
	return true;
}

static bool try_lock(struct signals_held *held)
{
	uint32_t free = 0;

	if (atomic_load_explicit(&list.lock, memory_order_relaxed))
		return false;
	signals_hold(held);
	if (atomic_compare_exchange_strong_explicit(&list.lock, &free, 1,
						    memory_order_acquire,
						    memory_order_relaxed))
		return true;
	signals_release(held);
	return false;
}

static void unlock(const struct signals_held *held)
{
	ASSERT(atomic_load_explicit(&list.lock, memory_order_relaxed) == 1);
	atomic_store_explicit(&list.lock, 0, memory_order_release);
	signals_release(held);
}

int image_init(const struct capture_config *config,
	       void (*rules_changed)(void))
{
	bool changed;

	list.public = config->images;
	list.public_count = config->image_count;
	list.public_limit = config->image_limit;
	list.want_images = config->want_images;
	list.rules_changed = rules_changed;
	list.count = 0;
	list.late = false;
	list.find_section = config->find_section;
	rule_files_init(config->rule_files, config->rule_file_refused);
	linkmap_learn(NULL, false);
	jit_init(config->tables);
	gdbjit_init();
	atomic_store_explicit(&list.lock, 0, memory_order_relaxed);
	atomic_store_explicit(&list.borrowed, NOBODY_BORROWED,
			      memory_order_relaxed);
	atomic_store_explicit(&list.seen_seq, 0, memory_order_relaxed);
	atomic_store_explicit(&list.forbidden_why, GT_WHY_DEFAULT,
			      memory_order_relaxed);
	list.images = unwind_alloc(IMAGES_MAX * sizeof(struct image));
	list.borrowers = unwind_alloc(BORROWERS * sizeof(struct borrower));
	if (!list.images || !list.borrowers)
		return -12;	/* ENOMEM */
	image_ranges_init(list.images);
	scan_all(&changed);
	list.late = true;
	return 0;
}

bool image_list_is_stale(void)
{
	uint32_t seq = atomic_load_explicit(&list.seen_seq,
					    memory_order_acquire);
	bool stale = linkmap_changed(&list.seen);

	/* A scan that ended meanwhile may have been half read: report stale
	 * this once. Pairs with set_seen. */
	atomic_thread_fence(memory_order_acquire);
	return stale || seq & 1 ||
	       seq != atomic_load_explicit(&list.seen_seq,
					   memory_order_relaxed);
}

const struct image *image_find(uintptr_t pc)
{
	const struct image *image = image_ranges_find(pc);
	struct signals_held held;
	bool changed;

	if (image || !image_list_is_stale() || !try_lock(&held))
		return image;
	scan_all(&changed);
	unlock(&held);
	return image_ranges_find(pc);
}

/* ---- borrowing ---- */

struct borrowing {
	uintptr_t pc;
	struct rules_image *rules;
};

static int borrow_one(const struct elfmap *map, void *data)
{
	const struct borrowing *b = data;
	struct rules_sections sections;
	unsigned i;

	for (i = 0; i < map->phnum; i++) {
		const ElfW(Phdr) *p = &map->phdr[i];

		if (p->p_type == PT_LOAD && p->p_flags & PF_X &&
		    b->pc - (map->bias + p->p_vaddr) < p->p_memsz)
			break;
	}
	if (i == map->phnum)
		return 0;
	image_record_sections(map, list.find_section, &sections);
	*b->rules = (struct rules_image){
		.text_start = sections.text_start,
		.text_end = sections.text_end,
		.code = sections.code,
	};
	cfi_tables_init(&b->rules->tables, &sections);
	if (ARCH_ELF_EXIDX)
		rules_exidx_init(b->rules, &sections);
	return 1;
}

static struct borrower *borrower_take(void)
{
	unsigned i;

	for (i = 0; i < BORROWERS; i++)
		if (!atomic_exchange_explicit(&list.borrowers[i].taken, true,
					      memory_order_acquire))
			return &list.borrowers[i];
	return NULL;
}

/* I3 */
static void publish_borrowed(void)
{
	uint32_t count = context_count(), nobody = NOBODY_BORROWED;

	DEBUG_ASSERT(count != NOBODY_BORROWED);
	atomic_compare_exchange_strong_explicit(&list.borrowed, &nobody, count,
						memory_order_seq_cst,
						memory_order_seq_cst);
}

bool image_borrow(uintptr_t pc, struct rules_image *rules)
{
	struct borrowing borrowing = { pc, rules };
	struct borrower *borrower;
	struct signals_held held;
	int found = 0;

	if (!image_list_is_stale())
		return false;
	signals_hold(&held);
	borrower = borrower_take();
	if (borrower) {
		publish_borrowed();
		linkmap_each(borrow_one, &borrowing, &borrower->room, &found);
		DEBUG_ASSERT(atomic_load_explicit(&borrower->taken,
						  memory_order_relaxed));
		atomic_store_explicit(&borrower->taken, false,
				      memory_order_release);
	}
	signals_release(&held);
	return found;
}

enum gt_mode_why image_forbidden_why(void)
{
	return atomic_load_explicit(&list.forbidden_why, memory_order_relaxed);
}

bool image_refresh(bool *changed)
{
	struct signals_held held;
	bool done;

	*changed = false;
	if (!try_lock(&held))
		return false;
	done = scan_all(changed);
	if (jit_sweep()) {
		list.rules_changed();
		*changed = true;
	}
	unlock(&held);
	return done;
}
