/*
 * gu_start.h: initialisation of the library, and its configuration.
 */
#ifndef GNOMON_GU_START_H
#define GNOMON_GU_START_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "library/gu_area.h"
#include "unwind/capture.h"

/* Constant from gu_init on. */
extern struct capture_config gu_config;
extern uint64_t gu_memory_bytes;	/* the budget */

/* One past the highest id in use. */
extern _Atomic uint32_t gu_node_count;

/* In a forked child: initialises the library. Returns whether it is
 * initialised. */
bool gu_start_slow(void);

/* Whether functions of unwind/ may be called. Any thread, signal handlers. */
static inline bool gu_ready(void)
{
	/* Pairs with the release in start_open. */
	struct gu_state *state = __atomic_load_n(&gu_state, __ATOMIC_ACQUIRE);

	if (!state)
		return false;
	if (__builtin_expect(atomic_load_explicit(&state->phase,
						  memory_order_acquire) ==
				     GU_PHASE_ON,
			     1))
		return true;
	return gu_start_slow();
}

#endif
