/*
 * hooks_patch.c: the wrappers that patched functions (patch.h) jump to. They
 * tell what the hooks of the C library's functions tell, of the call as its
 * caller made it.
 *
 * One of these functions may be made of others, and of malloc: what runs
 * inside one of them is part of it. The ring's busy mark, with RING_IN_REAL,
 * says so, as for a C library whose functions call each other. What calls in
 * from another image at that time (the C library, on behalf of the
 * allocator), or in a signal handler there, is an event of its own.
 *
 *	PLAIN    nothing to record: inside, or no recorder
 *	NESTED   recorded, but the mark is another hook's
 *	OUTER    recorded, and marked
 *
 * Any thread at any time, also signal handlers; keeps errno.
 */
#include "preload/hooks.h"
#include "preload/patch.h"

#include <string.h>

enum patched_depth { PATCHED_PLAIN, PATCHED_NESTED, PATCHED_OUTER };

struct patched_call {
	const struct patch_frame *frame;
	struct hooks_caller caller;
	enum patched_depth depth;
	struct gl_ring *ring;	/* of PATCHED_OUTER */
};

/* The caller is the allocator itself, directly or by a jump out of one of its
 * functions that was called from here. */
static bool patched_is_inner(const struct patch_slot *slot, uintptr_t ra)
{
	return ra - slot->image_start < slot->image_size ||
	       ra - real.own_start < real.own_size;
}

static void patched_look(struct patched_call *call)
{
	struct thread *thread = hooks_thread(call->caller.sp);

	call->depth = PATCHED_PLAIN;
	if (!thread)
		return;
	call->ring = thread->ring;
	if (ring_idle(call->ring))
		call->depth = PATCHED_OUTER;
	else if (!(atomic_load_explicit(&call->ring->busy,
					memory_order_relaxed) &
		   RING_IN_REAL) ||
		 !patched_is_inner(call->frame->slot, call->caller.ra))
		call->depth = PATCHED_NESTED;
}

#define PATCHED_CALL(call)                                             \
	struct patched_call call = { .frame = PATCH_FRAME };           \
	call.caller = (struct hooks_caller){ call.frame->ra,           \
					     patch_frame_sp(call.frame), \
					     call.frame->fp };         \
	patched_look(&call)

static inline void patched_enter(const struct patched_call *call)
{
	if (likely(call->depth == PATCHED_OUTER))
		ring_enter(call->ring, call->caller.sp | RING_IN_REAL,
			   call->caller.ra);
}

static inline void patched_leave(const struct patched_call *call)
{
	if (likely(call->depth == PATCHED_OUTER))
		ring_leave(call->ring);
}

static void patched_block(const struct patched_call *call, unsigned kind,
			  uintptr_t block, uint64_t size)
{
	if (block && call->depth != PATCHED_PLAIN)
		hooks_block_of(false, kind, (void *)block, size, call->caller);
}

static void patched_address(const struct patched_call *call, unsigned kind,
			    uintptr_t block)
{
	if (block && call->depth != PATCHED_PLAIN)
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
patched_marked(struct gl_ring *ring, patch_wrapper *original,
	       PATCHED_ARGUMENTS)
{
	uintptr_t result;

	__asm__ volatile(".cfi_personality 0x1b, wrap_passed");
	result = original(a, b, c, d, e, f);
	ring_leave(ring);
	return result;
}

static uintptr_t patched_alloc(PATCHED_ARGUMENTS)
{
	const uintptr_t numbered[] = PATCHED_NUMBERED;
	patch_wrapper *original;
	uintptr_t block;

	PATCHED_CALL(call);
	original = call.frame->slot->original;
	patched_enter(&call);
	if (likely(call.depth == PATCHED_OUTER))
		block = patched_marked(call.ring, original, a, b, c, d, e, f);
	else
		block = original(a, b, c, d, e, f);
	patched_block(&call, GT_ALLOC, block,
		      patched_size(&call.frame->slot->shape, numbered));
	return block;
}

static uintptr_t patched_string(PATCHED_ARGUMENTS)
{
	uintptr_t block;

	PATCHED_CALL(call);
	patched_enter(&call);
	block = call.frame->slot->original(a, b, c, d, e, f);
	patched_leave(&call);
	patched_block(&call, GT_ALLOC, block,
		      block ? strlen((const char *)block) + 1 : 0);
	return block;
}

static uintptr_t patched_free(PATCHED_ARGUMENTS)
{
	const uintptr_t numbered[] = PATCHED_NUMBERED;

	PATCHED_CALL(call);
	patched_address(&call, GT_FREE,
			numbered[call.frame->slot->shape.block]);
	patched_enter(&call);
	call.frame->slot->original(a, b, c, d, e, f);
	patched_leave(&call);
	/* there is no result: what the caller had in its register */
	return call.frame->result;
}

static uintptr_t patched_realloc_as(const struct patched_call *call,
				    const uintptr_t numbered[],
				    unsigned failed)
{
	const struct patch_slot *slot = call->frame->slot;
	uintptr_t from = numbered[slot->shape.block], to;
	uint64_t size = patched_size(&slot->shape, numbered);

	patched_address(call, GT_REALLOC_BEGIN, from);
	patched_enter(call);
	to = slot->original(numbered[0], numbered[1], numbered[2],
			    numbered[3], numbered[4], numbered[5]);
	patched_leave(call);
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
	uint64_t size;

	PATCHED_CALL(call);
	block = numbered[call.frame->slot->shape.block];
	size = patched_size(&call.frame->slot->shape, numbered);
	patched_address(&call, GT_REALLOC_BEGIN, block);
	patched_enter(&call);
	result = call.frame->slot->original(a, b, c, d, e, f);
	patched_leave(&call);
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
	uintptr_t result;

	PATCHED_CALL(call);
	shape = &call.frame->slot->shape;
	patched_enter(&call);
	result = call.frame->slot->original(a, b, c, d, e, f);
	patched_leave(&call);
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
	char *const *variable = recorder_environment();
	size_t n = strlen(name);

	for (; variable && *variable; variable++)
		if (strncmp(*variable, name, n) == 0)
			patch_apply(*variable + n, patched_wrappers);
}
