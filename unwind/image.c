/*
 * image.c: the list of mapped ELF objects.
 *
 * dl_iterate_phdr is the loader's truth. It is asked at the start, after
 * capture_generation moved, and when a pc lies in no known image while the
 * loader's count of loads and unloads differs from that of the last scan.
 *
 * I1  An image's rules and public record are complete before look-ups can
 *     find it (image_ranges.h).
 * I2  Only the holder of image_lock scans, adds and retires. The lock holds
 *     who its owner is; a handler that interrupted the owner gives up.
 *
 * Thread context: any thread, also signal handlers.
 */
#include <elf.h>
#include <link.h>
#include <linux/futex.h>
#include <stdatomic.h>
#include <time.h>
#include <asm/unistd.h>

#include "unwind/context.h"
#include "unwind/elfmap.h"
#include "unwind/gdbjit.h"
#include "unwind/image.h"
#include "unwind/image_kind.h"
#include "unwind/image_ranges.h"
#include "unwind/jit.h"
#include "unwind/memory.h"
#include "unwind/walk.h"

#define SPIN_MAX 1000
#define NAP_NS 50000		/* a scan takes about that */
#define NAP_MAX 40		/* then give up: the owner may wait for us */
#define PHDR_MAX 64
/* Those after the first GL_IMAGES_MAX have no record that others could read:
 * stacks go through them, but their functions have no names. */
#define IMAGES_MAX 16384

struct scan {
	bool first;
	bool changed;
	uint32_t next;	/* the list is in the loader's order, mostly */
	unsigned long long adds, subs;
};

extern int dl_iterate_phdr(int (*callback)(struct dl_phdr_info *info,
					   size_t size, void *data),
			   void *data) __attribute__((weak));

static struct {
	struct gl_image *public;
	_Atomic uint32_t *public_count;
	const _Atomic uint32_t *public_limit;
	void (*want_images)(void);
	struct image *images;
	uint32_t count;
	_Atomic uint32_t lock;
	_Atomic unsigned long long adds, subs;	/* of the last scan */
	_Atomic uint32_t verdict;	/* enum gt_mode_why */
	bool late;
	capture_iterate *iterate;
	bool (*find_section)(const char *path, const char *name,
			     uint64_t *address, uint64_t *size);
} list;

static void copy_bytes(void *to, const void *from, size_t n)
{
	uint8_t *t = to;
	const uint8_t *f = from;

	while (n--)
		*t++ = *f++;
}

static bool same_text(const char *a, const char *b, size_t n)
{
	for (; n && *a == *b; a++, b++, n--)
		if (!*a)
			return true;
	return n == 0;
}

/* The build id's bytes; NULL: it has none, or none of ours fits. */
static const uint8_t *build_id(const struct dl_phdr_info *info,
			       uint32_t *size)
{
	const uint8_t *id = elfmap_note(info, "GNU", NT_GNU_BUILD_ID, size);

	if (id && *size <= GL_BUILD_ID_MAX)
		return id;
	*size = 0;
	return NULL;
}

static bool in_segments(const struct gl_image *g, uintptr_t a, size_t n)
{
	uint32_t i;

	for (i = 0; i < g->segments; i++)
		if (a >= g->segment[i].start &&
		    a - g->segment[i].start <= g->segment[i].size &&
		    n <= g->segment[i].size - (a - g->segment[i].start))
			return true;
	return false;
}

/* Most have one executable segment; others are left to the array. */
static void add_code(struct image *image, uintptr_t start, uintptr_t end)
{
	bool first = image->code_end == 0;

	image->code_start = first ? start : UINTPTR_MAX;
	image->code_end = first ? end : UINTPTR_MAX;
}

static void add_segment(struct image *image, const ElfW(Phdr) *p)
{
	struct gl_image *g = image->public;
	uintptr_t start = image->bias + p->p_vaddr;
	struct gl_segment *s;

	if (image->start == 0 || start < image->start)
		image->start = start;
	if (start + p->p_memsz > image->end)
		image->end = start + p->p_memsz;
	if (p->p_flags & PF_X)
		add_code(image, start, start + p->p_memsz);
	if (g->segments == GL_SEGMENTS_MAX)
		return;
	s = &g->segment[g->segments++];
	s->start = start;
	s->size = p->p_memsz;
	s->offset = p->p_offset;
	s->flags = p->p_flags;
}

/* No program header announces the tables: the file may know where they are. */
static void ask_file(const struct image *image, struct rules_sections *s)
{
	const struct gl_image *g = image->public;
	uint64_t address, size;

	if (s->eh_frame_hdr || g->flags & GT_IMAGE_VDSO || !list.find_section ||
	    !list.find_section(g->path, ".eh_frame", &address, &size) ||
	    !in_segments(g, image->bias + address, size))
		return;
	s->eh_frame = image->bias + address;
	s->eh_frame_size = size;
	s->hearsay = true;
}

_Static_assert(GL_SEGMENTS_MAX <= RULES_SEGMENTS_MAX, "room for all");

static void find_tables(const struct image *image,
			const struct dl_phdr_info *info,
			struct rules_sections *s)
{
	const struct gl_image *g = image->public;
	uintptr_t tables;
	uint32_t i;

	s->bias = image->bias;
	for (i = 0; i < info->dlpi_phnum && i < PHDR_MAX; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];

		if (p->p_type != PT_GNU_EH_FRAME)
			continue;
		s->eh_frame_hdr = image->bias + p->p_vaddr;
		s->eh_frame_hdr_size = p->p_memsz;
	}
	ask_file(image, s);
	tables = s->eh_frame_hdr ? s->eh_frame_hdr : s->eh_frame;
	for (i = 0; i < g->segments; i++) {
		const struct gl_segment *seg = &g->segment[i];

		if (seg->flags & PF_X) {
			if (!s->text_start || seg->start < s->text_start)
				s->text_start = seg->start;
			if (seg->start + seg->size > s->text_end)
				s->text_end = seg->start + seg->size;
		}
		if (!(seg->flags & PF_R))
			continue;
		if (tables && tables >= seg->start &&
		    tables - seg->start < seg->size) {
			s->readable_start = seg->start;
			s->readable_end = seg->start + seg->size;
		}
		s->segment[s->segments++] = (struct rules_range){
			seg->start, seg->start + seg->size };
	}
}

static bool is_vdso(const char *name)
{
	return same_text(name, "linux-vdso", 10) ||
	       same_text(name, "linux-gate", 10);
}

static bool has_segments(const struct dl_phdr_info *info)
{
	uint32_t i;

	for (i = 0; i < info->dlpi_phnum && i < PHDR_MAX; i++)
		if (info->dlpi_phdr[i].p_type == PT_LOAD)
			return true;
	return false;
}

/* Whether its page may be touched: on a full disk that would be the end. */
static bool is_reserved(uint32_t index)
{
	unsigned tries;

	for (tries = 0; list.public_limit && tries < 2; tries++) {
		/* Pairs with the writer's release after it reserved pages. */
		if (index < atomic_load_explicit(list.public_limit,
						 memory_order_acquire))
			return true;
		if (tries == 0)
			list.want_images();
	}
	return !list.public_limit;
}

/* Where image number `index` is described; NULL: no memory, or too many. */
static struct gl_image *new_record(uint32_t index)
{
	if (index < GL_IMAGES_MAX && is_reserved(index))
		return &list.public[index];
	return index < IMAGES_MAX ? unwind_alloc(sizeof(struct gl_image)) :
				    NULL;
}

static void publish_record(struct gl_image *g)
{
	/* Pairs with the writer's acquire. */
	atomic_store_explicit(&g->state, 1, memory_order_release);
	atomic_store_explicit(list.public_count,
			      list.count < GL_IMAGES_MAX ? list.count :
							   GL_IMAGES_MAX,
			      memory_order_release);
}

/* False: no room for it. */
static bool image_add(const struct dl_phdr_info *info, struct image_kind kind,
		      bool main_program)
{
	const char *name = info->dlpi_name ? info->dlpi_name : "";
	uint32_t index = list.count, i;
	struct rules_sections sections = { 0 };
	struct gl_image *g = has_segments(info) ? new_record(index) : NULL;
	struct image *image = &list.images[index];
	const uint8_t *id;

	if (!g)
		return false;
	image->public = g;
	image->no_barrier = kind.no_barrier;
	image->bias = info->dlpi_addr;
	g->bias = info->dlpi_addr;
	for (i = 0; i < info->dlpi_phnum && i < PHDR_MAX; i++)
		if (info->dlpi_phdr[i].p_type == PT_LOAD)
			add_segment(image, &info->dlpi_phdr[i]);
	id = build_id(info, &g->build_id_size);
	copy_bytes(g->build_id, id, g->build_id_size);
	for (i = 0; name[i] && i < GL_IMAGE_PATH - 1; i++)
		g->path[i] = name[i];
	g->path[i] = 0;
	g->flags = (main_program ? GT_IMAGE_MAIN : 0) |
		   (is_vdso(name) ? GT_IMAGE_VDSO : 0) |
		   (list.late ? GT_IMAGE_LATE : 0);
	g->first_node = context_count();
	find_tables(image, info, &sections);
	image->rules = rules_image_new(&sections);
	image->listed = true;
	gdbjit_image(info);
	list.count++;
	publish_record(g);
	return true;
}

/* Whether a known image is what the loader lists at its place. */
static bool image_matches(const struct image *image,
			  const struct dl_phdr_info *info)
{
	const char *name = info->dlpi_name ? info->dlpi_name : "";
	const struct gl_image *g = image->public;
	const uint8_t *id;
	uint32_t i, size;

	if (image->bias != info->dlpi_addr ||
	    !same_text(g->path, name, GL_IMAGE_PATH - 1))
		return false;
	for (i = 0; i < info->dlpi_phnum && i < PHDR_MAX; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];
		uintptr_t a = image->bias + p->p_vaddr;

		if (p->p_type == PT_LOAD &&
		    !in_segments(g, a, p->p_memsz) &&
		    g->segments < GL_SEGMENTS_MAX)
			return false;
	}
	id = build_id(info, &size);
	if (size != g->build_id_size)
		return false;
	for (i = 0; i < size; i++)
		if (id[i] != g->build_id[i])
			return false;
	return true;
}

/*
 * No more records: an image that was gone may have come back, as plug-ins do
 * that are loaded for one call. Its record says that it ended, which cannot be
 * taken back, but its tables still hold. Its bytes must be known to be the
 * same.
 */
static bool revive(const struct dl_phdr_info *info)
{
	uint32_t i;

	for (i = 0; i < list.count; i++) {
		struct image *image = &list.images[i];

		if (!image_is_gone(image) || !image_matches(image, info) ||
		    !image->public->build_id_size)
			continue;
		image->listed = true;
		atomic_store_explicit(&image->gone, false,
				      memory_order_relaxed);
		image_ranges_again(image, list.count);
		gdbjit_image(info);
		return true;
	}
	return false;
}

static int scan_one(struct dl_phdr_info *info, size_t size, void *data)
{
	struct scan *scan = data;
	bool main_program = scan->first && !list.late;
	struct image_kind kind;
	uint32_t i;

	if (size >= offsetof(struct dl_phdr_info, dlpi_tls_modid)) {
		scan->adds = info->dlpi_adds;
		scan->subs = info->dlpi_subs;
	}
	scan->first = false;
	for (i = 0; i < list.count; i++) {
		uint32_t at = (scan->next + i) % list.count;

		if (!image_is_gone(&list.images[at]) &&
		    image_matches(&list.images[at], info)) {
			list.images[at].listed = true;
			scan->next = at + 1;
			return 0;
		}
	}
	kind = image_kind_of(info);
	if (kind.verdict != GT_WHY_DEFAULT && !image_barriers_verdict())
		atomic_store_explicit(&list.verdict, kind.verdict,
				      memory_order_relaxed);
	/* Without room its frames are as those of code without an image. */
	if ((list.count >= GL_IMAGES_MAX && revive(info)) ||
	    image_add(info, kind, main_program))
		scan->changed = true;
	return 0;
}

static void image_retire(struct image *image)
{
	struct gl_image *g = image->public;
	uint32_t i;

	atomic_store_explicit(&image->gone, true, memory_order_relaxed);
	gdbjit_image_gone(image->start, image->end);
	for (i = 0; i < g->segments; i++)
		if (g->segment[i].flags & PF_X)
			context_forget(g->segment[i].start,
				       g->segment[i].start +
					       g->segment[i].size + 1,
				       g->first_node);
	/* Pairs with the writer's acquire: nodes below are the image's. */
	atomic_store_explicit(&g->end_node, context_count(),
			      memory_order_release);
}

/* It takes the loader's lock: who must not sleep must not wait for that
 * either. Such a process cannot load anything, as a rule. */
static bool may_ask_loader(void)
{
	return list.iterate && unwind_may(UNWIND_NO_WAIT);
}

/* Under the lock. */
static bool scan_all(void)
{
	struct scan scan = { .first = true };
	uint32_t i;

	if (!may_ask_loader())
		return false;
	for (i = 0; i < list.count; i++)
		list.images[i].listed = false;
	list.iterate(scan_one, &scan);
	for (i = 0; i < list.count; i++)
		if (!list.images[i].listed && !image_is_gone(&list.images[i])) {
			image_retire(&list.images[i]);
			scan.changed = true;
		}
	atomic_store_explicit(&list.adds, scan.adds, memory_order_relaxed);
	atomic_store_explicit(&list.subs, scan.subs, memory_order_relaxed);
	if (!scan.changed)
		return false;
	image_ranges_publish(list.count);
	/* Whoever looked, rules and stacks remembered until now may mean what
	 * lay there before: all threads drop them. */
	if (list.late) {
		walk_flush();
		atomic_fetch_add_explicit(&capture_generation, 1,
					  memory_order_release);
	}
	return true;
}

/* A number of the calling thread's own, never 0; no system call. */
static uint32_t own_number(void)
{
	return (uint32_t)(arch_thread_pointer() >> 6) | 1u << 31;
}

/* Waits a moment for the lock; futex is the one call that filters which allow
 * threads at all let pass. */
static void nap(uint32_t owner)
{
	struct timespec time = { 0, NAP_NS };

	if (!unwind_may(UNWIND_NO_WAIT)) {
		arch_pause();
		return;
	}
	arch_syscall4(__NR_futex, (long)&list.lock, FUTEX_WAIT, owner,
		      (long)&time);
}

static bool lock_images(void)
{
	uint32_t self = own_number();
	unsigned spin;

	for (spin = 0; spin < SPIN_MAX + NAP_MAX; spin++) {
		uint32_t owner = 0;

		if (atomic_compare_exchange_strong_explicit(
			    &list.lock, &owner, self, memory_order_acquire,
			    memory_order_relaxed))
			return true;
		if (owner == self)
			return false;
		if (spin < SPIN_MAX)
			arch_pause();
		else
			nap(owner);
	}
	return false;
}

static void unlock_images(void)
{
	atomic_store_explicit(&list.lock, 0, memory_order_release);
}

int image_init(const struct capture_config *config)
{
	list.public = config->images;
	list.public_count = config->image_count;
	list.public_limit = config->image_limit;
	list.want_images = config->want_images;
	list.count = 0;
	list.late = false;
	list.find_section = config->find_section;
	list.iterate = config->iterate ? config->iterate : dl_iterate_phdr;
	jit_init();
	gdbjit_init();
	atomic_store_explicit(&list.lock, 0, memory_order_relaxed);
	atomic_store_explicit(&list.verdict, GT_WHY_DEFAULT,
			      memory_order_relaxed);
	list.images = unwind_alloc(IMAGES_MAX * sizeof(struct image));
	if (!list.images)
		return -12;	/* ENOMEM */
	image_ranges_init(list.images);
	scan_all();
	list.late = true;
	return 0;
}

static int read_counts(struct dl_phdr_info *info, size_t size, void *data)
{
	struct scan *scan = data;

	if (size >= offsetof(struct dl_phdr_info, dlpi_tls_modid)) {
		scan->adds = info->dlpi_adds;
		scan->subs = info->dlpi_subs;
	}
	return 1;
}

bool image_list_is_stale(void)
{
	struct scan now = { 0 };

	if (!may_ask_loader())
		return false;
	list.iterate(read_counts, &now);
	return now.adds != atomic_load_explicit(&list.adds,
						memory_order_relaxed) ||
	       now.subs != atomic_load_explicit(&list.subs,
						memory_order_relaxed);
}

const struct image *image_find(uintptr_t pc)
{
	const struct image *image = image_ranges_find(pc);

	if (image || !image_list_is_stale() || !lock_images())
		return image;
	scan_all();
	unlock_images();
	return image_ranges_find(pc);
}

enum gt_mode_why image_barriers_verdict(void)
{
	return atomic_load_explicit(&list.verdict, memory_order_relaxed);
}

bool image_refresh(bool *changed)
{
	*changed = false;
	if (!lock_images())
		return false;
	*changed = scan_all();
	if (jit_sweep()) {
		walk_flush();
		*changed = true;
	}
	unlock_images();
	return true;
}
