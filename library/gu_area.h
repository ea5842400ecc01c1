/*
 * gu_area.h: the library's memory: two mappings, made once.
 *
 *	area    struct gu_state, then blocks for the unwinder's tables and the
 *	        threads' states. The kernel wipes it in a forked child.
 *	nodes   the context tree; a child keeps its copy, so ids stay valid.
 */
#ifndef GNOMON_GU_AREA_H
#define GNOMON_GU_AREA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "unwind/base/layout.h"

struct gu_thread;

enum { GU_PHASE_NEW, GU_PHASE_STARTING, GU_PHASE_ON, GU_PHASE_OFF };

/* State that is zero in a forked child and starts again there. */
struct gu_state {
	_Atomic uint32_t phase;
	_Atomic uint32_t image_count;
	_Atomic uint64_t used;		/* bytes of the area */
	/* gu_threads.c */
	_Atomic uint32_t thread_count;
	_Atomic uint32_t thread_next;	/* where to search for dead threads
					 * next */
	_Atomic(struct gu_thread *) *threads;
};

/* NULL until gu_init has everything that a forked child needs. Constant from
 * then on, also in children. */
extern struct gu_state *gu_state;

/* How often this memory was initialised, in this process and in its ancestors.
 * Lies in memory that no fork wipes. */
extern _Atomic uint32_t gu_setups;
extern struct gl_node *gu_nodes;

/* Sets gu_nodes and *state, not gu_state. memory_bytes: size of both mappings;
 * node_bytes: of the nodes. 0, -ENOMEM or -ENOSYS. */
int gu_area_map(uint64_t memory_bytes, uint64_t node_bytes,
		struct gu_state **state);

/* unwind_alloc: lock-free, async-signal-safe. */
void *gu_area_alloc(size_t size_bytes);

/* Bytes used of the area; whether so little is left that it should be saved for
 * tables. */
uint64_t gu_area_used(void);
bool gu_area_scarce(void);

#endif
