/*
 * hooks_guard.c: allocator functions between the hooks and the allocator while
 * blocks are guarded (--guard) or zeroed (--zero-memory).
 *
 *	malloc ─ hook ─▶ real.malloc = guard_malloc ─▶ below.malloc
 *	       ◀─ block ─────── zones, header ◀── memory ──┘
 *
 * The hooks are not aware of it: they call through the table `real`, in which
 * this file replaces the functions. So without either option nothing changes.
 *
 * For guarded blocks only malloc and free of the allocator are used, whatever
 * the program calls: an allocator may implement the other functions by each
 * other. glibc does not, so its calloc is used for zeros (fresh pages stay
 * untouched), its realloc for growth in place.
 *
 * An allocator's functions may also call ours by name. A request while one of
 * them runs is for the allocator's own use, or may be: it is passed on
 * unchanged to the function that was called (guard_inner). The same holds for
 * code of the program that an allocator calls back, or that interrupts it.
 *
 * A block without our marks (made before us, or by an allocator function that
 * we do not wrap) is passed to the allocator unchanged. Of the functions that
 * the C library lacks, operator new and delete are wrapped; other functions
 * that end a block (tc_free, sdallocx, mi_realloc) recognise guarded blocks.
 *
 * Any thread at any time after the constructor, also signal handlers; errno is
 * the allocator's.
 *
 * I1: memory from below.malloc goes to below.free or, with glibc, to
 * below.realloc, and never anywhere else. I2: from the end of a block until
 * below.free it is not marked as live. I3: calls by name of below's functions
 * reach below by the same name. A live guarded block is nevertheless ended as
 * one, whoever frees it; other blocks freed then were never guarded. I4: with
 * --zero-memory alone all bytes of a block beyond its requested size are zero,
 * unless the program wrote there.
 */
#include <errno.h>
#include <stdint.h>
#include <string.h>

#include "preload/guard/guard.h"
#include "preload/hooks/hooks_wrap.h"
#include "preload/process/process_end.h"

#define GUARD_FRAME_MAX 4096u	/* bytes of a hook's frame */
#define GUARD_HOOKS_MAX 4	/* hooks of ours that call each other */

static struct real below;
static bool guard_zero;
static bool guard_glibc;	/* its functions never call ours */
static bool zero_asks;		/* the allocator has malloc_usable_size */

/* ---- damage ---- */

/* The program's call of the hook that called this file. */
static struct hooks_caller guard_caller(struct hooks_caller caller)
{
	unsigned i;

	for (i = 0; i < GUARD_HOOKS_MAX; i++) {
		uintptr_t sp = caller.fp - ARCH_HOOK_FP;

		if (caller.ra - real.own_start >= real.own_size ||
		    sp - caller.sp > GUARD_FRAME_MAX)
			break;
		caller.ra = *(const uintptr_t *)(sp + ARCH_HOOK_RA);
		caller.fp = *(const uintptr_t *)(sp + ARCH_HOOK_FP);
		caller.sp = sp;
	}
	return caller;
}

static BASE_SLOW void guard_report(uintptr_t block,
				   const struct guard_found *found,
				   struct guard_harm harm, enum gt_damage when,
				   struct hooks_caller caller)
{
	bool known = guard_forks(found->place) == guard.mark.forks;
	const uint64_t args[GT_EXTRA_ARGS] = {
		(uint64_t)harm.offset, known ? found->context : 0, harm.bytes,
		when,
	};
	struct gl_shared *shared;

	/* starts the recorder if needed */
	hooks_extra(GT_EXTRA_DAMAGE, block, found->size, args,
		    guard_caller(caller));
	shared = producer ? producer->shared : NULL;
	if (shared)
		atomic_fetch_add_explicit(&shared->guard_damages, 1,
					  memory_order_relaxed);
}

static inline void guard_check(uintptr_t block,
			       const struct guard_found *found,
			       enum gt_damage when, struct hooks_caller caller)
{
	struct guard_harm front =
		guard_check_front(&guard.shape, block, found);
	struct guard_harm rear =
		guard_check_rear(&guard.shape, block, found->size);

	if (unlikely(front.bytes))
		guard_report(block, found, front, when, caller);
	if (unlikely(rear.bytes))
		guard_report(block, found, rear, when, caller);
}

/* ---- guarded blocks ---- */

/* Whether a function of the allocator runs, which must not be entered by
 * another name (I3). sp as in hooks_inside. */
static bool guard_inner(uintptr_t sp)
{
	return !guard_glibc && hooks_inside(sp);
}

/* For use in a function of this file that is in the table. */
#define GUARD_INNER unlikely(guard_inner((uintptr_t)__builtin_dwarf_cfa()))

/* A request that the allocator refuses, with its errno. */
static void *guard_refuse(size_t size)
{
	return below.malloc(size > PTRDIFF_MAX ? size : SIZE_MAX - REAL_PAGE);
}

/* Whether blocks of this alignment are guarded. */
static bool guard_takes(size_t alignment)
{
	return alignment && !(alignment & (alignment - 1)) &&
	       alignment <= GUARD_PLACE_MAX * GUARD_ALIGN / 2;
}

static void *guard_alloc(size_t size, size_t alignment, bool zeroed)
{
	size_t wanted = base_max(alignment, GUARD_ALIGN);
	size_t all = guard_bytes(&guard.shape, size, wanted);
	uintptr_t memory, block;

	if (unlikely(!all))
		return guard_refuse(size);
	memory = (uintptr_t)(zeroed && guard_glibc ? below.calloc(1, all) :
						     below.malloc(all));
	if (unlikely(!memory))
		return NULL;
	if (unlikely(memory % GUARD_ALIGN)) {
		/* an allocator with a smaller alignment */
		if (zeroed)
			memset((void *)memory, 0, size);
		return (void *)memory;
	}
	block = guard_place(&guard.shape, memory, wanted);
	DEBUG_ASSERT(block + size + guard.shape.zone <= memory + all);
	guard_make(&guard.shape, memory, block, size, 0,
		   (uint8_t)guard.mark.forks);
	if (zeroed && !guard_glibc)
		memset((void *)block, 0, size);
	return (void *)block;
}

static void *guard_malloc(size_t size)
{
	if (GUARD_INNER)
		return below.malloc(size);
	return guard_alloc(size, GUARD_ALIGN, guard_zero);
}

static void *guard_calloc(size_t count, size_t size)
{
	size_t all;

	if (unlikely(__builtin_mul_overflow(count, size, &all)) || GUARD_INNER)
		return below.calloc(count, size);
	return guard_alloc(all, GUARD_ALIGN, true);
}

/* Removes the block's live mark (I2). */
static void guard_end_block(uintptr_t block, const struct guard_found *found)
{
	guard_moves(block);
	guard_unmake(&guard.shape, block, found);
}

static void guard_retire(uintptr_t block, const struct guard_found *found)
{
	guard_end_block(block, found);
	below.free((void *)guard_memory(block, found));
}

/* A double free is passed to the allocator, as the program did it: its reaction
 * is kept. */
static void guard_free(void *address)
{
	const struct hooks_caller caller = HOOKS_CALLER;
	const struct guard_harm none = { 0, 0 };
	uintptr_t block = (uintptr_t)address;
	struct guard_found found;

	switch (address ? guard_find(&guard.shape, block, &found) :
			  GUARD_FOREIGN) {
	case GUARD_FOREIGN:
		below.free(address);
		return;
	case GUARD_ENDED:
		if (GUARD_INNER) {
			below.free(address);
			return;
		}
		guard_report(block, &found, none, GT_DAMAGE_FREE, caller);
		below.free((void *)guard_memory(block, &found));
		return;
	case GUARD_LIVE:
		guard_check(block, &found, GT_DAMAGE_FREE, caller);
		guard_retire(block, &found);
	}
}

static void *guard_move(uintptr_t block, const struct guard_found *found,
			size_t size, bool zeroed)
{
	void *to = guard_alloc(size, GUARD_ALIGN, false);

	if (!to)
		return NULL;
	memcpy(to, (const void *)block, base_min(size, found->size));
	if (zeroed && size > found->size)
		memset((char *)to + found->size, 0, size - found->size);
	guard_retire(block, found);
	return to;
}

/* Grows by glibc's own realloc, which may use mremap; distances within the
 * memory stay. */
static void *guard_grow(uintptr_t block, const struct guard_found *found,
			size_t size, bool zeroed)
{
	uintptr_t memory = guard_memory(block, found), to;
	size_t before = block - memory;

	if (size > PTRDIFF_MAX - before - guard.shape.zone)
		return guard_refuse(size);
	guard_end_block(block, found);
	to = (uintptr_t)below.realloc((void *)memory,
				      before + size + guard.shape.zone);
	if (!to) {
		guard_make(&guard.shape, memory, block, found->size,
			   found->context, guard_forks(found->place));
		return NULL;
	}
	if (zeroed && size > found->size)
		memset((void *)(uintptr_t)(to + before + found->size), 0,
		       size - found->size);
	guard_make(&guard.shape, to, to + before, size, 0,
		   (uint8_t)guard.mark.forks);
	return (void *)(to + before);
}

static void *guard_resize(void *address, size_t size, bool zeroed,
			  struct hooks_caller caller)
{
	uintptr_t block = (uintptr_t)address;
	const struct guard_harm none = { 0, 0 };
	struct guard_found found;

	switch (guard_find(&guard.shape, block, &found)) {
	case GUARD_FOREIGN:
		return below.realloc(address, size);
	case GUARD_ENDED:
		if (GUARD_INNER)
			return below.realloc(address, size);
		guard_report(block, &found, none, GT_DAMAGE_REALLOC, caller);
		return below.realloc((void *)guard_memory(block, &found),
				     size);
	case GUARD_LIVE:
		guard_check(block, &found, GT_DAMAGE_REALLOC, caller);
	}
	if (!size) {
		/* the allocator decides what that means */
		guard_end_block(block, &found);
		return below.realloc((void *)guard_memory(block, &found), 0);
	}
	return guard_glibc ? guard_grow(block, &found, size, zeroed) :
			     guard_move(block, &found, size, zeroed);
}

static void *guard_realloc(void *address, size_t size)
{
	if (!address)
		return GUARD_INNER ? below.realloc(NULL, size) :
				     guard_malloc(size);
	return guard_resize(address, size, guard_zero, HOOKS_CALLER);
}

static int guard_posix_memalign(void **block, size_t alignment, size_t size)
{
	void *made;

	if (!guard_takes(alignment) || alignment % sizeof(void *) ||
	    GUARD_INNER)
		return below.posix_memalign(block, alignment, size);
	made = guard_alloc(size, alignment, guard_zero);
	if (!made)
		return ENOMEM;
	*block = made;
	return 0;
}

#define ALIGNED(name, parameters, arguments, alignment, bytes)        \
	static void *guard_##name parameters                          \
	{                                                             \
		size_t all = bytes;                                   \
                                                                      \
		if (!guard_takes(alignment) || GUARD_INNER)           \
			return below.name arguments;                  \
		if (all < size)                                       \
			return guard_refuse(size);                    \
		return guard_alloc(all, alignment, guard_zero);       \
	}
#include "preload/interpose/hooked.def"

/* Whether it is a live guarded block. */
static bool guard_is_live(const void *block, struct guard_found *found)
{
	return block &&
	       guard_find(&guard.shape, (uintptr_t)block, found) == GUARD_LIVE;
}

/* The bytes that the program may write. */
static size_t guard_malloc_usable_size(void *block)
{
	struct guard_found found;

	if (guard_is_live(block, &found))
		return found.size;
	return below.malloc_usable_size(block);
}

/* ---- by other names ---- */

/* Frees the block if it is guarded; returns whether. */
static bool guard_free_mixed(void *block)
{
	struct guard_found found;

	if (!guard_is_live(block, &found))
		return false;
	guard_check((uintptr_t)block, &found, GT_DAMAGE_FREE, HOOKS_CALLER);
	guard_retire((uintptr_t)block, &found);
	return true;
}

/* Reallocates the block if it is guarded; *to: the result (NULL: refused, the
 * block lives on). */
static bool guard_realloc_mixed(void *block, size_t size, void **to)
{
	struct guard_found found;

	if (!guard_is_live(block, &found))
		return false;
	*to = guard_resize(block, size, true, HOOKS_CALLER);
	return true;
}

/* For an operator new; NULL: call the allocator's own. */
static void *guard_new(size_t size, size_t alignment)
{
	/* the calling wrapper has set a mark itself, if it is the outermost */
	if (!guard_takes(alignment) ||
	    (!(hooks_in_real & RING_IN_NEW) && GUARD_INNER))
		return NULL;
	return guard_alloc(size, alignment, guard_zero);
}

/* Wrappers of functions that may get a guarded block. */
#define FREE(name, parameters, arguments)                             \
	static void(*name##_past) parameters;                         \
	static void name##_guarded parameters                         \
	{                                                             \
		if (!guard_free_mixed(block))                         \
			name##_past arguments;                        \
	}
#define FREE_OWN FREE
#define DELETE FREE

#define REALLOC(name, parameters, arguments, bytes, failed)           \
	static void *(*name##_past) parameters;                       \
	static void *name##_guarded parameters                        \
	{                                                             \
		void *to;                                             \
                                                                      \
		if (guard_realloc_mixed(block, bytes, &to))           \
			return to;                                    \
		return name##_past arguments;                         \
	}

#define EXPAND(name, parameters, arguments, bytes, failed)            \
	static void *(*name##_past) parameters;                       \
	static void *name##_guarded parameters                        \
	{                                                             \
		struct guard_found found;                             \
                                                                      \
		if (guard_is_live(block, &found))                     \
			return bytes <= found.size ? block : NULL;    \
		return name##_past arguments;                         \
	}

#define REALLOCARR(name)                                              \
	static int (*name##_past)(void *, size_t, size_t);            \
	static int name##_guarded(void *where, size_t count, size_t size) \
	{                                                             \
		void **block = where;                                 \
		size_t all;                                           \
                                                                      \
		if (__builtin_mul_overflow(count, size, &all) ||      \
		    !guard_realloc_mixed(*block, all, &where))        \
			return name##_past(block, count, size);       \
		if (!where && all)                                    \
			return ENOMEM;                                \
		*block = where;                                       \
		return 0;                                             \
	}

/* Returns the size after the call. */
#define EXPAND_OWN(name, parameters, arguments)                       \
	static size_t(*name##_past) parameters;                       \
	static size_t name##_guarded parameters                       \
	{                                                             \
		struct guard_found found;                             \
                                                                      \
		if (guard_is_live(block, &found))                     \
			return found.size;                            \
		return name##_past arguments;                         \
	}

/* Throws if the allocator's own operator throws. */
#define NEW(name, parameters, arguments, alignment)                   \
	static void *(*name##_past) parameters;                       \
	static void *name##_guarded parameters                        \
	{                                                             \
		void *made = guard_new(size, alignment);              \
                                                                      \
		return made ? made : name##_past arguments;           \
	}
#include "preload/interpose/hooked.def"

/* ---- zeroing only ---- */

/* 0: unknown. */
static size_t zero_usable_size(void *block)
{
	return zero_asks ? below.malloc_usable_size(block) : 0;
}

/* Zeroes the usable size, or the requested size if the allocator has no
 * malloc_usable_size. */
static void *zero_all(void *block, size_t size)
{
	if (block && !GUARD_INNER)
		memset(block, 0,
		       base_max(size, zero_usable_size(block)));
	return block;
}

static void *zero_malloc(size_t size)
{
	if (guard_glibc)
		return below.calloc(1, size);
	return zero_all(below.malloc(size), size);
}

static void *zero_realloc(void *block, size_t size)
{
	size_t old, new;
	void *to;

	if (GUARD_INNER)
		return below.realloc(block, size);
	if (!block)
		return zero_malloc(size);
	old = zero_usable_size(block);
	to = below.realloc(block, size);
	if (!to || !size)
		return to;
	/* I4: bytes beyond the old requested size are zero, except those beyond
	 * the new end */
	new = zero_usable_size(to);
	old = base_min(old, size);
	if (new > old)
		memset((char *)to + old, 0, new - old);
	return to;
}

static int zero_posix_memalign(void **block, size_t alignment, size_t size)
{
	int err = below.posix_memalign(block, alignment, size);

	if (!err)
		zero_all(*block, size);
	return err;
}

#define ALIGNED(name, parameters, arguments, alignment, bytes)        \
	static void *zero_##name parameters                           \
	{                                                             \
		return zero_all(below.name arguments, bytes);         \
	}
/* Whole pages: no malloc_usable_size needed. */
#define PAGES(name, parameters, arguments, bytes)                     \
	static void *zero_##name parameters                           \
	{                                                             \
		void *block = below.name arguments;                   \
                                                                      \
		if (block && !GUARD_INNER)                            \
			memset(block, 0, bytes);                      \
		return block;                                         \
	}
#include "preload/interpose/hooked.def"

/* ---- the table ---- */

/* Replaces one pointer at a time: another thread may be in a hook, with the old
 * one. */
#define GUARD_SET(name, function) \
	__atomic_store_n(&real.name, function, __ATOMIC_RELEASE)

/* If there is such a function. */
#define GUARD_BEFORE(name)                                            \
	if (name##_real) {                                            \
		name##_past = name##_real;                            \
		name##_real = name##_guarded;                         \
	}

static void guard_install(void)
{
	/* our headers precede the blocks, not glibc's */
	__atomic_store_n(&real.headers, REAL_HEADERS_NONE, __ATOMIC_RELAXED);
#define CORE(result, name, parameters, arguments) \
	GUARD_SET(name, guard_##name);
#define OURS(result, name, parameters, arguments)
#define FREE(name, parameters, arguments) GUARD_BEFORE(name)
#define FREE_OWN FREE
#define DELETE FREE
#define REALLOC(name, parameters, arguments, bytes, failed) GUARD_BEFORE(name)
#define REALLOCARR(name) GUARD_BEFORE(name)
#define EXPAND REALLOC
#define EXPAND_OWN FREE
#define NEW(name, parameters, arguments, alignment) GUARD_BEFORE(name)
#include "preload/interpose/hooked.def"
}

/* Whether malloc_usable_size belongs to the allocator. The C library's, behind
 * an allocator that has none, would misread the bytes before a block as its own
 * header. */
static bool zero_may_check(void)
{
	struct elfmap image;

	return real_behind("malloc_usable_size", &image) &&
	       real_same(&image, &real_provider);
}

static void zero_install(void)
{
	zero_asks = zero_may_check();
	GUARD_SET(malloc, zero_malloc);
	GUARD_SET(realloc, zero_realloc);
	GUARD_SET(posix_memalign, zero_posix_memalign);
#define ALIGNED(name, parameters, arguments, alignment, bytes) \
	GUARD_SET(name, zero_##name);
#include "preload/interpose/hooked.def"
}

void hooks_guard(void)
{
	uint64_t zone = producer_options.number[OPTION_GUARD];

	guard_zero = producer_options.number[OPTION_ZERO_MEMORY];
	if (!producer || (!zone && !guard_zero))
		return;
	below = real;
	guard_glibc = !real.reenters;
	if (!real_below)
		real_below = &below;
	if (!zone) {
		zero_install();
		return;
	}
	guard_begin((uint32_t)zone);
	guard_install();
	process_end_first = guard_end;
}
