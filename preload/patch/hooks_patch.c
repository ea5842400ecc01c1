/*
 * hooks_patch.c: the wrappers that patched functions (patch.h) jump to. They
 * tell what the hooks of the C library's functions tell, of the call as its
 * caller made it.
 *
 * One of these functions may be made of others, and of malloc: what runs
 * inside one of them is part of it. The thread is marked meanwhile (hooks.h), as
 * for a C library whose functions call each other: what comes from the same
 * image, or by a jump out of a function that was called from here, is not
 * recorded, unless a signal handler does it. What calls in from another image
 * at that time (the C library, on behalf of the allocator) is an event of its
 * own.
 *
 * Any thread at any time, also signal handlers; keeps errno.
 */
#include "preload/hooks/hooks.h"
#include "preload/patch/patch.h"
#include "preload/ring/initial.h"

#include <string.h>

struct patched_call {
	const struct patch_slot *slot;
	uintptr_t result;	/* patch_frame.result */
	struct hooks_caller caller;
};

/* In a wrapper itself. */
#define PATCHED_CALL(call)                                                \
	const struct patch_frame *frame = PATCH_FRAME;                    \
	const struct patched_call call = {                                \
		.slot = frame->slot,                                      \
		.result = frame->result,                                  \
		.caller = { frame->ra, patch_frame_sp(frame), frame->fp } \
	}

static inline struct hooks_mark patched_enter(const struct patched_call *call)
{
	return hooks_enter_real(call->caller.sp, call->caller.ra, 0);
}

static inline void patched_block(const struct patched_call *call,
				 unsigned kind, uintptr_t block, uint64_t size)
{
	if (likely(block))
		hooks_block_of(false, kind, (void *)block, size, call->caller);
}

static inline void patched_address(const struct patched_call *call,
				   unsigned kind, uintptr_t block)
{
	if (likely(block))
		hooks_address(kind, (void *)block, call->caller.ra,
			      call->caller.sp);
}

#define PATCHED_ARGUMENTS                                               \
	uintptr_t a, uintptr_t b, uintptr_t c, uintptr_t d, uintptr_t e, \
		uintptr_t f

/* The arguments by number; that of PATCH_NONE is 1: one element. */
#define PATCHED_NUMBERED { a, b, c, d, e, f, 1 }

static uint64_t patched_size(const struct patch_shape *shape,
			     const uintptr_t numbered[PATCH_ARGUMENTS + 1])
{
	/* a product that overflows is refused by the function itself */
	return (uint64_t)numbered[shape->size] * numbered[shape->count];
}

/* An exception that passes takes the mark back, as in hooks_wrap.c; without,
 * it would stand until it is seen to be stale, which on a fiber's stack is
 * never. */
static __attribute__((noinline)) uintptr_t
patched_marked(const struct hooks_mark *mark, patch_wrapper *original,
	       PATCHED_ARGUMENTS)
{
	uintptr_t result;

	__asm__ volatile(".cfi_personality 0x1b, wrap_passed");
	result = original(a, b, c, d, e, f);
	hooks_leave_real(mark);
	return result;
}

static uintptr_t patched_alloc(PATCHED_ARGUMENTS)
{
	const uintptr_t numbered[] = PATCHED_NUMBERED;
	patch_wrapper *original;
	struct hooks_mark mark;
	uintptr_t block;

	PATCHED_CALL(call);
	original = call.slot->original;
	mark = patched_enter(&call);
	if (likely(mark.ring)) {
		block = patched_marked(&mark, original, a, b, c, d, e, f);
	} else {
		block = original(a, b, c, d, e, f);
		hooks_leave_real(&mark);
	}
	patched_block(&call, GT_ALLOC, block,
		      patched_size(&call.slot->shape, numbered));
	return block;
}

static uintptr_t patched_string(PATCHED_ARGUMENTS)
{
	struct hooks_mark mark;
	uintptr_t block;

	PATCHED_CALL(call);
	mark = patched_enter(&call);
	block = call.slot->original(a, b, c, d, e, f);
	hooks_leave_real(&mark);
	patched_block(&call, GT_ALLOC, block,
		      block ? strlen((const char *)block) + 1 : 0);
	return block;
}

static uintptr_t patched_free(PATCHED_ARGUMENTS)
{
	const uintptr_t numbered[] = PATCHED_NUMBERED;
	struct hooks_mark mark;

	PATCHED_CALL(call);
	patched_address(&call, GT_FREE,
			numbered[call.slot->shape.block]);
	mark = patched_enter(&call);
	call.slot->original(a, b, c, d, e, f);
	hooks_leave_real(&mark);
	/* there is no result: what the caller had in its register */
	return call.result;
}

static uintptr_t patched_realloc_as(const struct patched_call *call,
				    const uintptr_t numbered[],
				    unsigned failed)
{
	const struct patch_slot *slot = call->slot;
	uintptr_t from = numbered[slot->shape.block], to;
	uint64_t size = patched_size(&slot->shape, numbered);
	struct hooks_mark mark;

	patched_address(call, GT_REALLOC_BEGIN, from);
	mark = patched_enter(call);
	to = slot->original(numbered[0], numbered[1], numbered[2],
			    numbered[3], numbered[4], numbered[5]);
	hooks_leave_real(&mark);
	if (to)
		patched_block(call, from ? GT_REALLOC_DONE : GT_ALLOC, to,
			      size);
	else
		patched_address(call, size ? failed : GT_REALLOC_FREED, from);
	return to;
}

static uintptr_t patched_realloc(PATCHED_ARGUMENTS)
{
	const uintptr_t numbered[] = PATCHED_NUMBERED;

	PATCHED_CALL(call);
	return patched_realloc_as(&call, numbered, GT_REALLOC_FAILED);
}

static uintptr_t patched_realloc_or_free(PATCHED_ARGUMENTS)
{
	const uintptr_t numbered[] = PATCHED_NUMBERED;

	PATCHED_CALL(call);
	return patched_realloc_as(&call, numbered, GT_REALLOC_FREED);
}

/* In its place: the result is what it has now. */
static uintptr_t patched_resize(PATCHED_ARGUMENTS)
{
	const uintptr_t numbered[] = PATCHED_NUMBERED;
	uintptr_t block, result;
	struct hooks_mark mark;
	uint64_t size;

	PATCHED_CALL(call);
	block = numbered[call.slot->shape.block];
	size = patched_size(&call.slot->shape, numbered);
	patched_address(&call, GT_REALLOC_BEGIN, block);
	mark = patched_enter(&call);
	result = call.slot->original(a, b, c, d, e, f);
	hooks_leave_real(&mark);
	if (result && result >= size)
		patched_block(&call, GT_REALLOC_DONE, block, size);
	else
		patched_address(&call, GT_REALLOC_FAILED, block);
	return result;
}

static uintptr_t patched_pointer(PATCHED_ARGUMENTS)
{
	const uintptr_t numbered[] = PATCHED_NUMBERED;
	const struct patch_shape *shape;
	struct hooks_mark mark;
	uintptr_t result;

	PATCHED_CALL(call);
	shape = &call.slot->shape;
	mark = patched_enter(&call);
	result = call.slot->original(a, b, c, d, e, f);
	hooks_leave_real(&mark);
	/* an int: its upper half is nobody's */
	if (!(uint32_t)result)
		patched_block(&call, GT_ALLOC,
			      *(const uintptr_t *)numbered[shape->block],
			      patched_size(shape, numbered));
	return result;
}

static patch_wrapper *const patched_wrappers[PATCH_OPS] = {
	[PATCH_ALLOC] = patched_alloc,
	[PATCH_FREE] = patched_free,
	[PATCH_REALLOC] = patched_realloc,
	[PATCH_REALLOC_OR_FREE] = patched_realloc_or_free,
	[PATCH_RESIZE] = patched_resize,
	[PATCH_POINTER] = patched_pointer,
	[PATCH_STRING] = patched_string,
};

void hooks_patch(void)
{
	const char *name = PATCH_VARIABLE "=";
	char *const *variable = initial_environment();
	size_t n = strlen(name);

	for (; variable && *variable; variable++)
		if (strncmp(*variable, name, n) == 0)
			patch_apply(*variable + n, patched_wrappers);
}
