/*
 * futex.h: sleep on a word of the live mapping, and wake sleepers. The C
 * library has no functions for it.
 */
#ifndef GNOMON_FUTEX_H
#define GNOMON_FUTEX_H

#include <linux/futex.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "unwind/base/byte_order.h"

/* Sleeps while *word == value, at most ns. Also returns without reason. */
static inline void futex_wait(const order_32 *word, uint32_t value,
			      uint64_t ns)
{
	struct timespec ts = { ns / 1000000000, ns % 1000000000 };

	/* any result: the caller checks the word */
	syscall(SYS_futex, word, FUTEX_WAIT, order_raw(value), &ts, NULL, 0);
}

/* Wakes at most `max`. Returns how many it woke. */
static inline uint32_t futex_wake_some(const order_32 *word, uint32_t max)
{
	/* no sleeper is no error, and no other error can happen */
	long woken = syscall(SYS_futex, word, FUTEX_WAKE, max, NULL, NULL, 0);

	return woken > 0 ? (uint32_t)woken : 0;
}

static inline void futex_wake(const order_32 *word)
{
	futex_wake_some(word, INT32_MAX);
}

#endif
