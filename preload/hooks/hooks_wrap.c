/*
 * hooks_wrap.c: see hooks_wrap.h.
 *
 * EXCEPTIONS. operator new may throw std::bad_alloc, and the ring's mark would
 * stay until a later hook finds it stale. So the frame that calls the real
 * function has our own personality routine. Unwinders call it in the cleanup
 * phase, when it is certain that the frame is left. It has no landing pad; it
 * removes the mark and lets the unwinder continue. Only a frame that has set
 * the outermost mark has one, so a new-handler that throws out of an inner
 * operator new leaves the outer mark alone.
 */
#include "preload/hooks/hooks_wrap.h"

#include <errno.h>
#include <string.h>

/* Itanium C++ ABI, 1.6.2. */
#define WRAP_CLEANUP_PHASE 2
#define WRAP_CONTINUE_UNWIND 8

/* The replacement of a function is the entry before its wrapper, where an
 * architecture has one (entry.h). */
#define LOOKED_UP(result, name, parameters) result(*name##_real) parameters;
#define WRAPPED(result, name, parameters)                              \
	OPTIONAL(name);                                                  \
	BASE_HIDDEN result name##_entry parameters __asm__(#name "_wrap"); \
	LOOKED_UP(result, name, parameters)
#include "preload/interpose/hooked.def"

static const struct optional wrap_rows[] = {
#define LOOKED_UP(result, name, parameters) \
	{ #name, NULL, (void **)&name##_real },
#define WRAPPED(result, name, parameters) \
	{ #name, (void *)name##_entry, (void **)&name##_real },
#include "preload/interpose/hooked.def"
};

/* Row numbers; the rows of a group follow its WRAP_FIRST. */
enum wrap_number {
#define GROUP(name, where, key) \
	WRAP_FIRST_##name, WRAP_BEFORE_##name = WRAP_FIRST_##name - 1,
#define LOOKED_UP(result, name, parameters) WRAP_##name,
#define WRAPPED(result, name, parameters) WRAP_##name,
#include "preload/interpose/hooked.def"
	WRAP_ROWS
};

static const struct wrap_group wrap_groups[] = {
#define GROUP(name, where, key) { WRAP_FIRST_##name, where, key },
#include "preload/interpose/hooked.def"
	{ .first = WRAP_ROWS }
};
#define WRAP_GROUPS (sizeof(wrap_groups) / sizeof(*wrap_groups) - 1)

struct wrap_range wrap_ranges[WRAP_RANGES_MAX];
unsigned wrap_range_count;

BASE_HIDDEN int wrap_passed(int version, int actions, uint64_t class,
			    void *exception, void *context);

void wrap_block(unsigned kind, void *block, uint64_t size,
		struct hooks_caller caller)
{
	hooks_block_of(false, kind, block, size, caller);
}

void *wrap_adopt(void *block, uint64_t size, struct hooks_caller caller)
{
	void *to = real.malloc(size);

	if (!to)
		return NULL;
	hooks_block_of(true, GT_ALLOC, to, size, caller);
	memcpy(to, block, base_min(size, bump_size(block)));
	return to;
}

int wrap_reallocarr(int (*function)(void *, size_t, size_t), void *where,
		    size_t count, size_t size, struct hooks_caller caller)
{
	void *old = *(void **)where, *block;
	struct hooks_mark mark;
	size_t all;
	int err;

	if (wrap_inner(caller))
		return function(where, count, size);
	if (__builtin_mul_overflow(count, size, &all))
		all = 0;	/* the real one fails in its own way */
	else if (unlikely(bump_owns(old))) {
		block = wrap_adopt(old, all, caller);
		if (block)
			*(void **)where = block;
		return block ? 0 : ENOMEM;
	}
	if (old)
		hooks_end(GT_REALLOC_BEGIN, old, caller);
	mark = wrap_enter(caller);
	err = function(where, count, size);
	hooks_leave_real(&mark);
	block = *(void **)where;
	if (!err && block)
		wrap_block(old ? GT_REALLOC_DONE : GT_ALLOC, block, all,
			   caller);
	else if (old)
		hooks_address(err ? GT_REALLOC_FAILED : GT_REALLOC_FREED, old,
			      caller.ra, caller.sp);
	return err;
}

int wrap_passed(int version, int actions, uint64_t class, void *exception,
		void *context)
{
	struct thread *thread = producer_tls;

	(void)version;
	(void)class;
	(void)exception;
	(void)context;
	if (actions & WRAP_CLEANUP_PHASE && thread && thread->own) {
		hooks_in_real = 0;
		ring_leave(thread->own);
	}
	return WRAP_CONTINUE_UNWIND;
}

/* 0x1b: DW_EH_PE_pcrel | DW_EH_PE_sdata4. */
static __attribute__((noinline)) void *
wrap_marked(const struct hooks_mark *mark, wrap_throwing function, uintptr_t a,
	    uintptr_t b, uintptr_t c)
{
	void *block;

	__asm__ volatile(".cfi_personality 0x1b, wrap_passed");
	block = function(a, b, c);
	hooks_leave_real(mark);
	return block;
}

void *wrap_throw(const struct hooks_mark *mark, wrap_throwing function,
		 uintptr_t a, uintptr_t b, uintptr_t c)
{
	if (mark->ring)
		return wrap_marked(mark, function, a, b, c);
	return function(a, b, c);
}

static void wrap_allocator(const struct elfmap *image)
{
	struct wrap_range range = { 0, 0 };
	unsigned i;

	real_code(image, &range.start, &range.size);
	for (i = 0; i < wrap_range_count; i++)
		if (wrap_ranges[i].start == range.start)
			return;
	if (wrap_range_count < WRAP_RANGES_MAX)
		wrap_ranges[wrap_range_count++] = range;
}

/* Whether the group has any function. */
static bool wrap_find(const struct wrap_group *group)
{
	struct elfmap image;
	bool found = false;
	unsigned i;

	if (group->key && !real_behind(group->key, NULL))
		return false;
	for (i = group->first; i < group[1].first; i++) {
		void *function = real_behind(wrap_rows[i].name, &image);

		if (!function || real_preceded(wrap_rows[i].name) ||
		    (group->where == WRAP_WITH_MALLOC &&
		     !real_same(&image, &real_provider)))
			continue;
		if (group->where == WRAP_ALLOCATORS)
			wrap_allocator(&image);
		*wrap_rows[i].real = function;
		found = true;
	}
	return found;
}

/* Finds all functions before it makes a name visible, so that wrap_ranges is
 * complete. */
void wrap_start(void)
{
	bool found[WRAP_GROUPS];
	const struct wrap_group *group;
	size_t i;

	real_allocators(wrap_allocator);
	for (i = 0; i < WRAP_GROUPS; i++)
		found[i] = wrap_find(&wrap_groups[i]);
	for (i = 0; i < WRAP_GROUPS; i++) {
		group = &wrap_groups[i];
		if (found[i])
			optional_now(&wrap_rows[group->first],
				     group[1].first - group->first,
				     group->where == WRAP_ALLOCATORS);
	}
}
