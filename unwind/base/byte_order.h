/*
 * byte_order.h: byte order of words that the target and its recorder share
 * (layout.h and preload/ring/shared.h): the target's. A recorder on a host with
 * the other byte order (the target runs in an emulator) is built from the same
 * sources with GNOMON_OTHER_ORDER:
 *
 *	ORDER_BEGIN … ORDER_END	fields of structs in between are byte-swapped
 *				when they are read and written
 *	order_32, order_64	atomic fields; C11's functions for exactly these
 *				types swap them
 *	order_read … order_write	other fields, read once
 *	order_word		words of arrays: records of rings
 *
 * Code that bypasses these does not compile: it cannot take the address of such
 * a field, or read an atomic word as a number.
 *
 * In all other programs these are plain types and accesses.
 */
#ifndef GNOMON_UNWIND_BYTE_ORDER_H
#define GNOMON_UNWIND_BYTE_ORDER_H

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

/* For a word that will be read again before it is trusted. */
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

/* A value in the target's byte order: the kernel compares it as it lies in
 * memory. */
static inline uint32_t order_raw(uint32_t value)
{
	return value;
}

#else
#include "unwind/base/byte_order_other.h"
#endif

#endif
