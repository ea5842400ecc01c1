/*
 * patch.h: jumps in the place of the entry points of an allocator that is
 * linked into the program, after a plan that the command made.
 *
 *	caller ─▶ entry: jump ─▶ thunk ─▶ arch_patch_entry ─▶ wrapper
 *	              …  ◀──────── moved code ◀─────────────────┘
 *
 * Slots, thunks and moved code lie in one mapping near the image; it is
 * written before it may be executed, and never again.
 */
#ifndef GNOMON_PATCH_H
#define GNOMON_PATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "arch.h"
#include "patching.h"
#include "preload/base/base.h"
#include "preload/patch/patch_plan.h"
#include "preload/ring/patched.h"

/* Gets and returns what the function gets and returns, which is called with
 * the same arguments at slot->original. */
typedef uintptr_t patch_wrapper(uintptr_t a, uintptr_t b, uintptr_t c,
				uintptr_t d, uintptr_t e, uintptr_t f);

/* A patched function. Constant; kept by a forked child. */
struct patch_slot {
	patch_wrapper *original;	/* the moved code */
	patch_wrapper *wrapper;		/* ARCH_PATCH_WRAPPER */
	struct patch_shape shape;
};

/* What a wrapper knows of how it was called: see PATCH_FRAME. */
struct patch_frame {
	uintptr_t result;	/* the result register, as the caller had it */
	const struct patch_slot *slot;
	uintptr_t fp, ra;
};

/* In a wrapper itself, which arch_patch_entry has called. */
#define PATCH_FRAME                                                   \
	((const struct patch_frame                                    \
		  *)(*(const uintptr_t *)__builtin_frame_address(0) - \
		     ARCH_PATCH_FRAME))

/* The stack pointer that the function's return will leave. */
static inline uintptr_t patch_frame_sp(const struct patch_frame *frame)
{
	return (uintptr_t)(frame + 1);
}

/*
 * Patches every image that is mapped, is in the plan, and is byte for byte
 * what was analysed. Only while the process has one thread; else nothing is
 * done. Either all functions of an image are patched or none.
 */
void patch_apply(const char *plan, patch_wrapper *wrapper);

/* The same by the plan that the environment holds, if there is one, with a
 * wrapper that is a hook (hooks_patch.c). For the constructor. */
void hooks_patch(void);

/* A recorder starts: what its writer is to know of them. */
void patch_tell(struct patched_list *list);

/* Moves the code of a function to `to`, which will be at the address `at`,
 * for an image with this bias. False: something is too far. */
bool patch_move(const struct patch_function *function, uintptr_t bias,
		uint8_t *to, uintptr_t at);

#endif
