/*
 * hooks_patch.c: the wrapper that patched functions (patch.h) jump to. It
 * records the same events as the hooks of the C library's functions, from the
 * view of the original caller; the function's shape says which.
 *
 * One of these functions may call others, and malloc: all of these calls are
 * part of it. So the thread is marked meanwhile (hooks.h), as for a C library
 * whose functions call each other. Calls from the same image, or by a tail jump
 * of a function that was called from here, are not recorded, unless a signal
 * handler makes them. Calls from another image at that time (the C library, on
 * behalf of the allocator) are events of their own.
 *
 * Any thread at any time, also signal handlers; keeps errno.
 */
#include "preload/hooks/hooks.h"
#include "preload/patch/patch.h"
#include "preload/ring/initial_stack.h"

#include <string.h>

/* The arguments by index; argument PATCH_NONE is 1: one element. */
struct patched_call {
	const struct patch_slot *slot;
	struct hooks_caller caller;
	uintptr_t argument[PATCH_ARGUMENTS + 1];
};

static inline struct hooks_mark patched_enter(const struct patched_call *call)
{
	return hooks_enter_real(call->caller.sp, call->caller.ra, 0);
}

static void patched_address(const struct patched_call *call, unsigned kind,
			    uintptr_t block)
{
	if (likely(block))
		hooks_address(kind, (void *)block, call->caller.ra,
			      call->caller.sp);
}

#define PATCHED_ARGUMENTS                                               \
	uintptr_t a, uintptr_t b, uintptr_t c, uintptr_t d, uintptr_t e, \
		uintptr_t f

/* Records the end of a block, if the function has one. */
static inline void patched_before(const struct patched_call *call)
{
	const struct patch_shape *shape = &call->slot->shape;
	uintptr_t block = call->argument[shape->block];

	DEBUG_ASSERT(shape->block <= PATCH_NONE);
	if (shape->op == PATCH_FREE)
		patched_address(call, GT_FREE, block);
	else if (shape->op == PATCH_REALLOC || shape->op == PATCH_RESIZE ||
		 shape->op == PATCH_REALLOC_OR_FREE)
		patched_address(call, GT_REALLOC_BEGIN, block);
}

/* Records a new block, or that the old one was not freed. */
static inline void patched_after(const struct patched_call *call,
				 uintptr_t result)
{
	const struct patch_shape *shape = &call->slot->shape;
	uintptr_t block = call->argument[shape->block], made = result;
	/* if the product overflows, the function itself fails */
	uint64_t size = (uint64_t)call->argument[shape->size] *
			call->argument[shape->count];
	unsigned kind = GT_ALLOC;

	DEBUG_ASSERT(shape->op < PATCH_OPS);
	switch (shape->op) {
	case PATCH_FREE:
		return;
	case PATCH_STRING:
		size = made ? strlen((const char *)made) + 1 : 0;
		break;
	case PATCH_POINTER:
		/* an int: the upper half is undefined */
		made = (uint32_t)result ? 0 : *(const uintptr_t *)block;
		break;
	case PATCH_RESIZE:
		/* resized in place: the result is the new size */
		made = result && result >= size ? block : 0;
		/* fall through */
	case PATCH_REALLOC:
	case PATCH_REALLOC_OR_FREE:
		kind = block ? GT_REALLOC_DONE : GT_ALLOC;
		if (!made)
			patched_address(call, shape->op == PATCH_RESIZE ||
					(shape->op == PATCH_REALLOC && size) ?
						GT_REALLOC_FAILED :
						GT_REALLOC_FREED, block);
	}
	if (likely(made))
		hooks_block_of(false, kind, (void *)made, size, call->caller);
}

/* An exception that passes removes the mark, as in hooks_wrap.c. Otherwise the
 * mark would stay until it is recognised as stale, which never happens on a
 * fiber's stack. */
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

static uintptr_t patched(PATCHED_ARGUMENTS)
{
	const struct patch_frame *frame = PATCH_FRAME;
	const struct patched_call call = {
		.slot = frame->slot,
		.caller = { frame->ra, patch_frame_sp(frame), frame->fp },
		.argument = { a, b, c, d, e, f, 1 },
	};
	patch_wrapper *original = call.slot->original;
	struct hooks_mark mark;
	uintptr_t result;

	patched_before(&call);
	mark = patched_enter(&call);
	if (likely(mark.ring)) {
		result = patched_marked(&mark, original, a, b, c, d, e, f);
	} else {
		result = original(a, b, c, d, e, f);
		hooks_leave_real(&mark);
	}
	patched_after(&call, result);
	/* a free has no result: restores the caller's register */
	return call.slot->shape.op == PATCH_FREE ? frame->result : result;
}

void hooks_patch(void)
{
	const char *name = PATCH_VARIABLE "=";
	char *const *variable = initial_environment();
	size_t n = strlen(name);

	for (; variable && *variable; variable++)
		if (strncmp(*variable, name, n) == 0)
			patch_apply(*variable + n, patched);
}
