/*
 * timeout.h: timeouts of threads that wait for the recorder, which may be
 * stopped, or blocked in a call. After a timeout no thread waits until the
 * recorder makes progress: a program that waited at each event would stand
 * still.
 *
 * Any thread, also signal handlers. Uses no clock call, since the program may
 * have forbidden itself that.
 */
#ifndef GNOMON_TIMEOUT_H
#define GNOMON_TIMEOUT_H

#include <stdbool.h>
#include <stdint.h>

#include "arch.h"
#include "preload/ring/producer.h"

#define TIMEOUT_NS (5 * UINT64_C(1000000000))

struct timeout {
	uint64_t limit, since;	/* arch_cycles */
	uint64_t beats;
};

/* Counter of the recorder's progress. */
static inline uint64_t timeout_beats(const struct producer *p)
{
	const struct gl_shared *shared = p->shared;

	/* NULL in a child that was forked during a wait */
	return likely(shared) ? atomic_load_explicit(&shared->beats,
						     memory_order_relaxed) : 0;
}

static inline struct timeout timeout_begin(const struct producer *p,
					   uint64_t ns)
{
	return (struct timeout){
		.limit = producer_cycles(p, ns),
		.since = arch_cycles(),
		.beats = timeout_beats(p),
	};
}

/* Whether the recorder has made progress since the last check, or the start. */
static inline bool timeout_renewed(const struct producer *p,
				   struct timeout *timeout)
{
	uint64_t beats = timeout_beats(p);

	if (beats == timeout->beats)
		return false;
	timeout->beats = beats;
	timeout->since = arch_cycles();
	return true;
}

static inline bool timeout_ended(const struct timeout *timeout)
{
	return arch_cycles() - timeout->since >= timeout->limit;
}

/* Whether the recorder is known to be stalled, so that waiting is useless. */
static inline bool timeout_given_up(struct producer *p)
{
	if (!atomic_load_explicit(&p->stalled, memory_order_relaxed))
		return false;
	if (timeout_beats(p) ==
	    atomic_load_explicit(&p->stalled_beats, memory_order_relaxed))
		return true;
	atomic_store_explicit(&p->stalled, 0, memory_order_relaxed);
	return false;
}

static inline void timeout_give_up(struct producer *p)
{
	atomic_store_explicit(&p->stalled_beats, timeout_beats(p),
			      memory_order_relaxed);
	atomic_store_explicit(&p->stalled, 1, memory_order_relaxed);
}

#endif
