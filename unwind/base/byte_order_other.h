/*
 * byte_order_other.h: see byte_order.h: words of the other byte order. Only for
 * the recorder, whose atomic words are all shared ones: C11's functions are
 * redefined here for these types alone.
 */
#ifndef GNOMON_UNWIND_BYTE_ORDER_OTHER_H
#define GNOMON_UNWIND_BYTE_ORDER_OTHER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#if !defined(__GNUC__) || defined(__clang__)
#error a recorder of the other byte order is built by gcc: scalar_storage_order
#endif

#define ORDER_OTHER 1
#define ORDER_BIG (__BYTE_ORDER__ != __ORDER_BIG_ENDIAN__)
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#define ORDER_BEGIN _Pragma("scalar_storage_order little-endian")
#else
#define ORDER_BEGIN _Pragma("scalar_storage_order big-endian")
#endif
#define ORDER_END _Pragma("scalar_storage_order default")

/* In the target's byte order. */
typedef struct { uint32_t raw; } order_32;
typedef struct { uint64_t raw; } order_64;
typedef struct { uint64_t raw; } order_word;

/* Naturally aligned fields are read and written in one access. */
#define ORDER_AT(at, field) (((volatile __typeof__(*(at)) *)(at))->field)
#define order_read(at, field) ORDER_AT(at, field)
#define order_read_acquire(at, field) __extension__ ({		\
	__typeof__((at)->field) order_value = ORDER_AT(at, field);	\
	__atomic_thread_fence(__ATOMIC_ACQUIRE);			\
	order_value;							\
})
#define order_write(at, field, value) ((void)(ORDER_AT(at, field) = (value)))
#define order_write_release(at, field, value)				\
	(__atomic_thread_fence(__ATOMIC_RELEASE),			\
	 order_write(at, field, value))

static inline uint32_t order_raw(uint32_t value)
{
	return __builtin_bswap32(value);
}

static inline uint64_t order_word_get(const order_word *at)
{
	return __builtin_bswap64(__atomic_load_n(&at->raw, __ATOMIC_RELAXED));
}

static inline uint64_t order_word_glance(const order_word *at)
{
	return __builtin_bswap64(at->raw);
}

static inline uint64_t order_word_get_acquire(const order_word *at)
{
	return __builtin_bswap64(__atomic_load_n(&at->raw, __ATOMIC_ACQUIRE));
}

static inline void order_word_put(order_word *at, uint64_t value)
{
	at->raw = __builtin_bswap64(value);
}

#define ORDER_FUNCTIONS(bits)						\
static inline uint##bits##_t						\
order_load_##bits(const order_##bits *at, int how)			\
{									\
	return __builtin_bswap##bits(__atomic_load_n(&at->raw, how));	\
}									\
									\
static inline void order_store_##bits(order_##bits *at,			\
				      uint##bits##_t value, int how)	\
{									\
	__atomic_store_n(&at->raw, __builtin_bswap##bits(value), how);	\
}									\
									\
static inline uint##bits##_t						\
order_exchange_##bits(order_##bits *at, uint##bits##_t value, int how)	\
{									\
	value = __builtin_bswap##bits(value);				\
	return __builtin_bswap##bits(__atomic_exchange_n(&at->raw,	\
							 value, how));	\
}									\
									\
static inline uint##bits##_t						\
order_or_##bits(order_##bits *at, uint##bits##_t value, int how)	\
{									\
	value = __builtin_bswap##bits(value);				\
	return __builtin_bswap##bits(__atomic_fetch_or(&at->raw,	\
						       value, how));	\
}									\
									\
static inline bool							\
order_swap_##bits(order_##bits *at, uint##bits##_t *old,		\
		  uint##bits##_t value, int how, int else_how)		\
{									\
	uint##bits##_t raw = __builtin_bswap##bits(*old);		\
	bool done;							\
									\
	value = __builtin_bswap##bits(value);				\
	done = __atomic_compare_exchange_n(&at->raw, &raw, value,	\
					   false, how, else_how);	\
	if (!done)							\
		*old = __builtin_bswap##bits(raw);			\
	return done;							\
}									\
									\
static inline uint##bits##_t						\
order_add_##bits(order_##bits *at, uint##bits##_t value, int how)	\
{									\
	uint##bits##_t old = order_load_##bits(at, __ATOMIC_RELAXED);	\
									\
	while (!order_swap_##bits(at, &old, old + value, how,		\
				  __ATOMIC_RELAXED))			\
		;							\
	return old;							\
}

ORDER_FUNCTIONS(32)
ORDER_FUNCTIONS(64)

#define ORDER_BY(name, at)						\
	_Generic((at), order_32 *: order_##name##_32,			\
		 const order_32 *: order_##name##_32,			\
		 order_64 *: order_##name##_64,				\
		 const order_64 *: order_##name##_64)

#undef atomic_load_explicit
#undef atomic_store_explicit
#undef atomic_exchange_explicit
#undef atomic_fetch_or_explicit
#undef atomic_fetch_add_explicit
#undef atomic_compare_exchange_strong_explicit
#undef atomic_compare_exchange_weak_explicit
#define atomic_load_explicit(at, how) ORDER_BY(load, at)(at, how)
#define atomic_store_explicit(at, value, how) \
	ORDER_BY(store, at)(at, value, how)
#define atomic_exchange_explicit(at, value, how) \
	ORDER_BY(exchange, at)(at, value, how)
#define atomic_fetch_or_explicit(at, value, how) \
	ORDER_BY(or, at)(at, value, how)
#define atomic_fetch_add_explicit(at, value, how) \
	ORDER_BY(add, at)(at, value, how)
#define atomic_compare_exchange_strong_explicit(at, old, value, how, else_how) \
	ORDER_BY(swap, at)(at, old, value, how, else_how)
#define atomic_compare_exchange_weak_explicit(at, old, value, how, else_how) \
	ORDER_BY(swap, at)(at, old, value, how, else_how)

#endif
