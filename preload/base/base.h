/*
 * base.h: macros and helpers that every file of the library uses.
 */
#ifndef GNOMON_BASE_H
#define GNOMON_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "unwind/base/assertion.h"

#define likely(x) __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)

/* Not inlined, so that callers stay short. */
#define BASE_SLOW __attribute__((noinline, cold))

/* For symbols used before the library is relocated: only data addressed
 * relative to the program counter may be used there. */
#define BASE_HIDDEN __attribute__((visibility("hidden")))

#define BASE_LINE 64	/* bytes of a cache line */

static inline uint64_t base_min(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static inline uint64_t base_max(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* `to` is a power of two. */
static inline uint64_t base_round_up(uint64_t value, uint64_t to)
{
	return (value + to - 1) & ~(to - 1);
}

#endif
