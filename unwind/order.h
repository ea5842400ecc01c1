/*
 * order.h: words that the target and its recorder share (layout.h and
 * preload/ring/shared.h). They are in the target's byte order. A recorder of
 * the other one, as that of an emulator's host may be, is made of the same
 * sources, compiled with GNOMON_OTHER_ORDER:
 *
 *	ORDER_BEGIN … ORDER_END	of structs between them fields are turned as
 *				they are read and written
 *	order_32, order_64	atomic ones are, by C11's functions for these
 *				types alone
 *	order_read … order_write	what is no atomic type, read once
 *	order_word		in arrays: records of rings
 *
 * What goes around that does not compile: no pointer to such a field can be had,
 * and no atomic word be read as a number.
 *
 * In all other programs it is what it looks like.
 */
#ifndef GNOMON_UNWIND_ORDER_H
#define GNOMON_UNWIND_ORDER_H

#include <stdatomic.h>
#include <stdint.h>

#ifndef GNOMON_OTHER_ORDER

#define ORDER_OTHER 0
#define ORDER_BIG (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__)
#define ORDER_BEGIN
#define ORDER_END

typedef _Atomic uint32_t order_32;
typedef _Atomic uint64_t order_64;
typedef uint64_t order_word;

#define order_read(at, field) __atomic_load_n(&(at)->field, __ATOMIC_RELAXED)
#define order_read_acquire(at, field) \
	__atomic_load_n(&(at)->field, __ATOMIC_ACQUIRE)
#define order_write(at, field, value) \
	__atomic_store_n(&(at)->field, value, __ATOMIC_RELAXED)
#define order_write_release(at, field, value) \
	__atomic_store_n(&(at)->field, value, __ATOMIC_RELEASE)

static inline uint64_t order_word_get(const order_word *at)
{
	return __atomic_load_n(at, __ATOMIC_RELAXED);
}

/* Of what will be read again before it is believed. */
static inline uint64_t order_word_glance(const order_word *at)
{
	return *at;
}

static inline uint64_t order_word_get_acquire(const order_word *at)
{
	return __atomic_load_n(at, __ATOMIC_ACQUIRE);
}

static inline void order_word_put(order_word *at, uint64_t value)
{
	*at = value;
}

/* As it lies in memory: for the kernel, which compares it so. */
static inline uint32_t order_raw(uint32_t value)
{
	return value;
}

#else
#include "unwind/order_other.h"
#endif

#endif
