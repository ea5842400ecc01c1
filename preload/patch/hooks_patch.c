/*
 * hooks_patch.c: the wrapper that patched functions (patch.h) jump to. It tells
 * what the hooks of the C library's functions tell, of the call as its caller
 * made it; which, the function's shape says.
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

/* The arguments by number; that of PATCH_NONE is 1: one element. */
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

/* A block is about to end, perhaps. */
static inline void patched_before(const struct patched_call *call)
{
	const struct patch_shape *shape = &call->slot->shape;
	uintptr_t block = call->argument[shape->block];

	CLAIM_FULL(shape->block <= PATCH_NONE);
	if (shape->op == PATCH_FREE)
		patched_address(call, GT_FREE, block);
	else if (shape->op == PATCH_REALLOC || shape->op == PATCH_RESIZE ||
		 shape->op == PATCH_REALLOC_OR_FREE)
		patched_address(call, GT_REALLOC_BEGIN, block);
}

/* There is a new one, perhaps, or what was to end did not. */
static inline void patched_after(const struct patched_call *call,
				 uintptr_t result)
{
	const struct patch_shape *shape = &call->slot->shape;
	uintptr_t block = call->argument[shape->block], made = result;
	/* a product that overflows is refused by the function itself */
	uint64_t size = (uint64_t)call->argument[shape->size] *
			call->argument[shape->count];
	unsigned kind = GT_ALLOC;

	CLAIM_FULL(shape->op < PATCH_OPS);
	switch (shape->op) {
	case PATCH_FREE:
		return;
	case PATCH_STRING:
		size = made ? strlen((const char *)made) + 1 : 0;
		break;
	case PATCH_POINTER:
		/* an int: its upper half is nobody's */
		made = (uint32_t)result ? 0 : *(const uintptr_t *)block;
		break;
	case PATCH_RESIZE:
		/* in its place: the result is what it has now */
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
	/* of a free there is no result: what the caller had in its register */
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
