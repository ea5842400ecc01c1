/*
 * aside.h: the first look of the hooks' slow branch: whether anything at all
 * is recorded of an event. Programs run for hours with a recorder that is
 * dormant, so this is short, and nothing is called and no state of
 * the recorder's is changed for an event that is left out.
 *
 *	hook ─ thread->ring? ─▶ recorded
 *	         │ NULL: not known, or stands aside (enum thread_aside)
 *	         ▼
 *	       aside_leaves_out_… ─ yes ─▶ back to the program
 *	         │ no
 *	         ▼
 *	       recorder_thread ─▶ thread->own ─▶ recorded after all, or not
 *
 * DORMANT. `dormant` of the recorder says that nothing is recorded at the
 * time; only the writer changes it (control.c). Threads find it here, or where
 * their ring has no room: the writer takes that away from them (I1). They come
 * back by themselves, at their first event after a start.
 *
 * I1: while the recorder is dormant, the writer keeps `limit` of all rings at
 *     0 (aside_kick). So each thread pushes few events more, which the
 *     reader knows by their stamps.
 *
 * Any thread of the target at any time, also signal handlers; errno is kept.
 */
#ifndef GNOMON_ASIDE_H
#define GNOMON_ASIDE_H

#include "preload/recorder.h"

/* A forked child's is not, until it has begun anew. */
static inline bool aside_dormant(void)
{
	const struct recorder *r = recorder;

	return likely(r) &&
	       atomic_load_explicit(&r->dormant, memory_order_relaxed);
}

/* Nothing is recorded of a new block (GT_ALLOC, GT_REALLOC_DONE). */
static inline bool aside_leaves_out_block(void)
{
	return aside_dormant();
}

/* Nor of the end of one, or of an attempt. */
static inline bool aside_leaves_out_address(void)
{
	return aside_dormant();
}

/* Has all threads find out soon that the recorder is dormant. The writer,
 * again and again. */
void aside_kick(struct recorder *r);

#endif
