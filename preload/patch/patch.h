/*
 * patch.h: patches the entry points of a static allocator with jumps to our
 * hooks, by a plan that the command made.
 *
 *	caller ─▶ entry: jump ─▶ thunk ─▶ arch_patch_entry ─▶ wrapper
 *	              …  ◀──────── moved code ◀─────────────────┘
 *
 * Slots, thunks and moved code are in one mapping near the image. It is written
 * before it becomes executable, and never again.
 */
#ifndef GNOMON_PATCH_H
#define GNOMON_PATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "arch.h"
#include "patching.h"
#include "preload/base/base.h"
#include "preload/patch/patch_read.h"
#include "preload/ring/patched.h"

/* Has the arguments and the result of the patched function, which it calls with
 * the same arguments at slot->original. */
typedef uintptr_t patch_wrapper(uintptr_t a, uintptr_t b, uintptr_t c,
				uintptr_t d, uintptr_t e, uintptr_t f);

/* A patched function. Constant; kept by a forked child. */
struct patch_slot {
	patch_wrapper *original;	/* the moved code */
	patch_wrapper *wrapper;		/* ARCH_PATCH_WRAPPER */
	struct patch_shape shape;
};

/* The frame of a wrapper's call: see PATCH_FRAME. */
struct patch_frame {
	uintptr_t result;	/* the result register at the call */
	const struct patch_slot *slot;
	uintptr_t fp, ra;
};

/* For use in a wrapper itself, which arch_patch_entry has called. */
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
 * Patches every mapped image that is in the plan and equals the analysed bytes.
 * Does nothing if the process has more than one thread. Patches all functions
 * of an image or none.
 */
void patch_apply(const char *plan, patch_wrapper *wrapper);

/* patch_apply with the plan in the environment, if there is one, and a hook as
 * the wrapper (hooks_patch.c). For the constructor. */
void hooks_patch(void);

/* When a recorder starts: fills its list of patched images. */
void patch_report(struct patched_list *list);

/* Copies the code of a function to `to`, to be run at the address `at`, for an
 * image with this bias. False: a target is out of reach. */
bool patch_move(const struct patch_function *function, uintptr_t bias,
		uint8_t *to, uintptr_t at);

#endif
