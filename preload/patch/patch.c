/*
 * patch.c: see patch.h.
 *
 *	| entries | slot … | thunk, moved code | thunk, moved code | …
 *	0         16       slots               PATCH_ROOM each
 *
 * Everything is prepared and checked before the first byte of the image
 * changes. After that no step can fail and leave an image half patched: all
 * pages are made writable (and stay executable) before one is written, and
 * removing a permission never fails.
 *
 * Called once, from the library's constructor.
 *
 * I1: an image is only changed if the code of every function has the plan's
 * checksum, inside an executable segment. I2: no page is writable and
 * executable while the program runs.
 */
#include "preload/patch/patch.h"

#include <assert.h>
#include <elf.h>
#include <errno.h>
#include <link.h>
#include <string.h>

#include "preload/base/sys.h"
#include "preload/base/text.h"
#include "preload/interpose/patched_code.h"
#include "preload/ring/producer.h"
#include "unwind/elf/linkmap.h"

#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0x100000
#endif

#define PATCH_PAGE 4096
#define PATCH_ROOM (ARCH_PATCH_THUNK + PATCH_CODE_MAX)
#define PATCH_ENTRIES 16		/* bytes */
#define PATCH_LOWEST 0x10000		/* the usual vm.mmap_min_addr */
/* Addresses tried for the mapping, at growing distances. */
#define PATCH_PLACES 256
#define PATCH_STEP (64u << 10)

static_assert(PATCHED_CODE_MAX >= PATCHED_IMAGES, "room for all of the list");

/* Images that were patched, and images for which the user was told why not: for
 * the recorder. Constant once the constructor has run. */
static struct patched_list patch_list;

/* The image being patched. */
struct patch_work {
	const struct patch_image *image;
	struct patch_read functions;	/* at the first function */
	patch_wrapper *wrapper;
	/* found in the mapped images */
	bool found;
	uintptr_t bias;
	uintptr_t low, high;		/* the whole image */
	uintptr_t code, code_end;	/* its executable segment */
	/* our mapping */
	uint8_t *area;
	size_t area_size;
};

static uintptr_t patch_page(uintptr_t address)
{
	return address & ~(uintptr_t)(PATCH_PAGE - 1);
}

/* ---- finding the image ---- */

static void patch_measure(struct patch_work *work,
			  const struct elfmap *map)
{
	unsigned codes = 0, i;

	work->bias = map->bias;
	work->low = UINTPTR_MAX;
	work->high = 0;
	for (i = 0; i < map->phnum; i++) {
		const ElfW(Phdr) *segment = &map->phdr[i];
		uintptr_t start = work->bias + segment->p_vaddr;
		uintptr_t end = start + segment->p_memsz;

		if (segment->p_type != PT_LOAD || end < start)
			continue;
		work->low = base_min(work->low, start);
		work->high = base_max(work->high, end);
		if (!(segment->p_flags & PF_X))
			continue;
		work->code = start;
		work->code_end = start + segment->p_filesz;
		codes++;
		if (segment->p_flags & PF_W)
			codes++;
	}
	/* as linkers make it: one code segment, not writable */
	work->found = codes == 1;
}

static int patch_visit(const struct elfmap *map, void *data)
{
	struct patch_work *work = data;
	const struct patch_image *image = work->image;
	bool first = !work->high;
	bool same;

	if (image->kind == PATCH_PROGRAM)
		same = first;
	else
		same = !first && map->path &&
		       strcmp(text_base_name(map->path, strlen(map->path)),
			      image->name) == 0;
	work->high = 1;		/* the program's entry has been visited */
	if (same)
		patch_measure(work, map);
	return same || image->kind == PATCH_PROGRAM;
}

/* ---- preparation ---- */

static bool patch_is_true(struct patch_work *work,
			  const struct patch_function *f, uint32_t index)
{
	uintptr_t start = work->bias + f->entry.address;

	(void)index;
	if (start < work->code || start >= work->code_end ||
	    f->entry.size > work->code_end - start ||
	    f->entry.displaced > work->code_end - start)
		return false;
	return patch_hash((const void *)start, f->entry.size) == f->entry.check;
}

/* Calls `fn` for each function; returns whether all calls returned true. */
static bool patch_each(struct patch_work *work,
		       bool (*fn)(struct patch_work *work,
				  const struct patch_function *f,
				  uint32_t index))
{
	struct patch_read plan = work->functions;
	struct patch_function f;
	uint32_t i;

	for (i = 0; i < work->image->functions; i++)
		if (!patch_read_function(&plan, &f) || !fn(work, &f, i))
			return false;
	return true;
}

/* Maps the area at this address or fails. */
static bool patch_map_at(struct patch_work *work, uintptr_t at)
{
	long got = sys_mmap((void *)at, work->area_size,
			    PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE,
			    -1, 0);

	if (sys_failed(got))
		return false;
	if ((uintptr_t)got != at) {
		/* a kernel before 4.17 takes the address as a hint */
		sys_munmap((void *)got, work->area_size);
		return false;
	}
	ASSERT(!work->area);
	work->area = (uint8_t *)got;
	return true;
}

/* Maps the area below the image, where nothing grows (the heap starts above a
 * program); else above. */
static bool patch_map(struct patch_work *work)
{
	uintptr_t low = patch_page(work->low) - work->area_size;
	uintptr_t high = patch_page(work->high) + PATCH_STEP;
	uintptr_t away;
	unsigned i;

	for (i = 0; i < PATCH_PLACES; i++) {
		away = (uintptr_t)PATCH_STEP * i * (i + 1) / 2;
		if (low >= away + PATCH_LOWEST && low < work->low &&
		    patch_map_at(work, low - away))
			return true;
		if (work->image->kind != PATCH_PROGRAM &&
		    patch_map_at(work, high + away))
			return true;
	}
	return false;
}

bool patch_move(const struct patch_function *f, uintptr_t bias, uint8_t *to,
		uintptr_t at)
{
	unsigned i;

	DEBUG_ASSERT(f->entry.code_size <= PATCH_CODE_MAX &&
		     f->entry.fix_count <= PATCH_FIXES_MAX);
	memcpy(to, f->code, f->entry.code_size);
	for (i = 0; i < f->entry.fix_count; i++) {
		const struct patch_fix *fix = &f->fixes[i];
		uint64_t target = bias + fix->target;
		uint32_t half = fix->kind == PATCH_FIX_HIGH ? target >> 32 :
							      target;

		if (fix->kind != PATCH_FIX_RELATIVE)
			memcpy(to + fix->at, &half, sizeof(half));
		else if (!arch_patch_relative(to + fix->at, at + fix->at,
					      fix->tail, target))
			return false;
	}
	return true;
}

static uint8_t *patch_thunk(const struct patch_work *work, uint32_t index)
{
	return work->area + PATCH_ENTRIES +
	       work->image->functions * sizeof(struct patch_slot) +
	       (size_t)index * PATCH_ROOM;
}

static bool patch_prepare_one(struct patch_work *work,
			      const struct patch_function *f, uint32_t index)
{
	struct patch_slot *slot =
		(struct patch_slot *)(work->area + PATCH_ENTRIES) + index;
	uint8_t *thunk = patch_thunk(work, index);
	uint8_t *code = thunk + ARCH_PATCH_THUNK;
	bool keeping = f->entry.flags & PATCH_KEEPS_ALL;
	uint8_t jump[PATCH_JUMP];

	if (!ASSERT(code + f->entry.code_size <= work->area + work->area_size))
		return false;
	slot->original = (patch_wrapper *)(uintptr_t)code;
	slot->wrapper = work->wrapper;
	slot->shape = f->entry.shape;
	arch_patch_thunk(thunk, (uintptr_t)thunk, (uintptr_t)slot,
			 (uintptr_t)work->area + (keeping ? 8 : 0), keeping);
	return patch_move(f, work->bias, code, (uintptr_t)code) &&
	       arch_patch_jump(jump, work->bias + f->entry.address,
			       (uintptr_t)thunk);
}

static bool patch_prepare(struct patch_work *work)
{
	const uint8_t *entries[2] = { arch_patch_entry,
				      arch_patch_entry_keeping };

	work->area_size = base_round_up(
		PATCH_ENTRIES + work->image->functions *
			(sizeof(struct patch_slot) + PATCH_ROOM), PATCH_PAGE);
	if (!patch_map(work))
		return false;
	memcpy(work->area, entries, sizeof(entries));
	return patch_each(work, patch_prepare_one) &&
	       !sys_failed(arch_syscall3(__NR_mprotect, (long)work->area,
					 work->area_size,
					 PROT_READ | PROT_EXEC));
}

/* ---- changing the image ---- */

static long patch_protect(const struct patch_work *work,
			  const struct patch_function *f, int protection)
{
	uintptr_t start = work->bias + f->entry.address;
	uintptr_t first = patch_page(start);
	uintptr_t end = patch_page(start + f->entry.displaced - 1) + PATCH_PAGE;

	return arch_syscall3(__NR_mprotect, first, end - first, protection);
}

static bool patch_open_one(struct patch_work *work,
			   const struct patch_function *f, uint32_t index)
{
	(void)index;
	return !sys_failed(patch_protect(work, f, PROT_READ | PROT_WRITE |
						  PROT_EXEC));
}

static bool patch_write_one(struct patch_work *work,
			    const struct patch_function *f, uint32_t index)
{
	uintptr_t at = work->bias + f->entry.address;
	uint8_t bytes[PATCH_DISPLACED_MAX];

	DEBUG_ASSERT(patch_function_is_valid(f));
	/* patch_is_true has checked this, too */
	if (!ASSERT(f->entry.displaced <= sizeof(bytes) && at >= work->code &&
		    at + f->entry.displaced <= work->code_end))
		return false;
	/* the other displaced bytes are never reached: traps */
	memset(bytes, ARCH_PATCH_TRAP, sizeof(bytes));
	arch_patch_jump(bytes, at, (uintptr_t)patch_thunk(work, index));
	memcpy((void *)at, bytes, f->entry.displaced);
	return true;
}

static bool patch_close_one(struct patch_work *work,
			    const struct patch_function *f, uint32_t index)
{
	(void)index;
	/* removing a permission cannot fail */
	patch_protect(work, f, PROT_READ | PROT_EXEC);
	return true;
}

static bool patch_image(struct patch_work *work)
{
	struct linkmap_room room;
	bool opened;

	work->found = false;
	work->high = 0;
	linkmap_each(patch_visit, work, &room, NULL);
	if (!work->found || !patch_each(work, patch_is_true))
		return false;
	if (!patch_prepare(work)) {
		if (work->area)
			sys_munmap(work->area, work->area_size);
		return false;
	}
	opened = patch_each(work, patch_open_one);
	if (opened)
		patch_each(work, patch_write_one);
	patch_each(work, patch_close_one);
	if (!opened)
		sys_munmap(work->area, work->area_size);
	return opened;
}

/* ---- all of them ---- */

static bool patch_list_has_room(void)
{
	return atomic_load_explicit(&patch_list.count,
				    memory_order_relaxed) < PATCHED_IMAGES;
}

static void patch_remember(const struct patch_work *work, bool patched)
{
	bool program = work->image->kind == PATCH_PROGRAM;
	enum patched_known what = patched ? PATCHED_DONE : PATCHED_TOLD;

	patched_add(&patch_list, work->image->name, program, what);
	/* an early allocation may have started the recorder */
	if (producer && producer->shared)
		patched_add(&producer->shared->patched, work->image->name,
			    program, what);
	if (patched)
		patched_code_add(work->code, work->code_end - work->code);
}

/* Patches the functions of one image; the plan then is at the next image. */
static void patch_one(struct patch_read *plan, const struct patch_image *image,
		      patch_wrapper *wrapper)
{
	struct patch_work work = { .image = image, .functions = *plan,
				   .wrapper = wrapper };
	struct patch_function f;
	bool patched;
	uint32_t i;

	for (i = 0; i < image->functions; i++)
		if (!patch_read_function(plan, &f))
			return;
	patched = image->functions && patch_list_has_room() &&
		  patch_image(&work);
	if (patched || image->warned == 1)
		patch_remember(&work, patched);
}

/* Whether the process has one thread. Without /proc: the constructor runs early
 * enough. */
static bool patch_is_alone(void)
{
	ARCH_STAT tasks;

	if (sys_gettid() != sys_getpid())
		return false;
	if (arch_syscall4(ARCH_NR_FSTATAT, AT_FDCWD, (long)"/proc/self/task",
			  (long)&tasks, 0))
		return true;
	/* links of a directory: its name, its own dot, and the dot-dot of each
	 * task */
	return tasks.st_nlink == 2 + 1;
}

void patch_apply(const char *text, patch_wrapper *wrapper)
{
	struct patch_image image;
	struct patch_read plan;
	uint8_t *bytes;
	size_t size;

	/* a hardware shadow stack accepts only return addresses of calls */
	if (!patch_is_alone() || arch_shadow_stack_pointer())
		return;
	bytes = sys_map_pages(PATCH_BYTES_MAX);
	if (!bytes)
		return;
	size = patch_read_decode(text, bytes, PATCH_BYTES_MAX);
	if (patch_read_is_whole(bytes, size) &&
	    patch_read_open(&plan, bytes, size - PATCH_CHECK))
		while (patch_read_image(&plan, &image))
			patch_one(&plan, &image, wrapper);
	sys_munmap(bytes, PATCH_BYTES_MAX);
}

void patch_report(struct patched_list *list)
{
	*list = patch_list;
}
