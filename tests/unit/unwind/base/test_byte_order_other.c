/*
 * test_byte_order_other.c: words of the other byte order, as they lie in memory.
 */
// FLAGS: -O2 -DGNOMON_OTHER_ORDER -fno-tree-loop-distribute-patterns
// FLAGS: -fno-tree-vectorize -fno-tree-slp-vectorize -fno-store-merging
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "preload/ring/shared.h"
#include "unwind/base/byte_order.h"

#define WORDS 9

ORDER_BEGIN

struct inner {
	int32_t number[WORDS];
	uint64_t word[WORDS];
	uint16_t half;
};

struct outer {
	uint32_t first;
	struct inner inner;
	uint64_t matrix[WORDS][2];
	order_32 atomic;
};

ORDER_END

static struct outer outer;

/* The word of so many bytes at `at`, turned. */
static uint64_t turned(const void *at, unsigned bytes)
{
	uint64_t word = 0;

	memcpy(&word, at, bytes);
	return __builtin_bswap64(word) >> (64 - 8 * bytes);
}

static uint64_t outer_at(size_t offset, unsigned bytes)
{
	return turned((const char *)&outer + offset, bytes);
}

static void fields_are_swapped(void **state)
{
	(void)state;
	outer.first = 0x01020304;
	outer.inner.half = 0x0506;
	outer.inner.word[3] = UINT64_C(0x1112131415161718);
	outer.inner.word[3] += 1;
	outer.matrix[4][1] = 7;
	assert_int_equal(outer_at(offsetof(struct outer, first), 4),
			 0x01020304);
	assert_int_equal(outer_at(offsetof(struct outer, inner.half), 2),
			 0x0506);
	assert_int_equal(outer_at(offsetof(struct outer, inner.word[3]), 8),
			 UINT64_C(0x1112131415161719));
	assert_int_equal(outer_at(offsetof(struct outer, matrix[4][1]), 8), 7);
	assert_int_equal(outer.inner.word[3], UINT64_C(0x1112131415161719));
	order_write_release(&outer, first, 5);
	order_write(&outer, matrix[4][1], 8);
	assert_int_equal(order_read_acquire(&outer, first), 5);
	assert_int_equal(order_read(&outer, matrix[4][1]), 8);
	assert_int_equal(outer_at(offsetof(struct outer, first), 4), 5);
}

/* What a compiler may take for memcpy; apart, so that it knows no value. */
static __attribute__((noinline)) void
copy_out(const struct outer *restrict from, int32_t *restrict number,
	 uint64_t *restrict word)
{
	for (unsigned i = 0; i < WORDS; i++)
		number[i] = from->inner.number[i];
	for (unsigned i = 0; i < WORDS; i++)
		word[i] = from->inner.word[i];
}

static __attribute__((noinline)) void
copy_in(struct outer *restrict to, const int32_t *restrict number,
	const uint64_t *restrict word)
{
	for (unsigned i = 0; i < WORDS; i++)
		to->inner.number[i] = number[i];
	for (unsigned i = 0; i < WORDS; i++)
		to->inner.word[i] = word[i];
}

static void arrays_are_swapped(void **state)
{
	int32_t number[WORDS], numbers[WORDS];
	uint64_t word[WORDS], words[WORDS];

	(void)state;
	for (unsigned i = 0; i < WORDS; i++) {
		number[i] = -1 - (int32_t)i;
		word[i] = UINT64_C(0x0102030405060708) * (i + 1);
	}
	copy_in(&outer, number, word);
	for (unsigned i = 0; i < WORDS; i++) {
		size_t at = offsetof(struct outer, inner.number[i]);

		assert_int_equal((int32_t)outer_at(at, 4), number[i]);
		at = offsetof(struct outer, inner.word[i]);
		assert_int_equal(outer_at(at, 8), word[i]);
	}
	copy_out(&outer, numbers, words);
	assert_memory_equal(numbers, number, sizeof(number));
	assert_memory_equal(words, word, sizeof(word));
}

#define OF_ATOMICS(bits, high)						\
static void atomics_of_##bits(void **state)				\
{									\
	order_##bits word = { 0 };					\
	uint##bits##_t old;						\
									\
	(void)state;							\
	atomic_store_explicit(&word, (high) | 1, memory_order_release);	\
	assert_int_equal(turned(&word, (bits) / 8), (high) | 1);	\
	assert_int_equal(atomic_load_explicit(&word,			\
				memory_order_acquire), (high) | 1);	\
	/* carries go the right way */					\
	old = atomic_fetch_add_explicit(&word, 0xff,			\
					memory_order_relaxed);		\
	assert_int_equal(old, (high) | 1);				\
	assert_int_equal(turned(&word, (bits) / 8), (high) | 0x100);	\
	old = atomic_fetch_or_explicit(&word, 6, memory_order_seq_cst);	\
	assert_int_equal(old, (high) | 0x100);				\
	old = atomic_exchange_explicit(&word, 9, memory_order_relaxed);	\
	assert_int_equal(old, (high) | 0x106);				\
	old = 8;							\
	assert_false(atomic_compare_exchange_strong_explicit(		\
		&word, &old, 10, memory_order_seq_cst,			\
		memory_order_relaxed));					\
	assert_int_equal(old, 9);					\
	assert_true(atomic_compare_exchange_weak_explicit(		\
		&word, &old, 10, memory_order_seq_cst,			\
		memory_order_relaxed));					\
	assert_int_equal(turned(&word, (bits) / 8), 10);		\
}

OF_ATOMICS(32, UINT32_C(0xa1000000))
OF_ATOMICS(64, UINT64_C(0xa1b2000000000000))

static void words_of_records(void **state)
{
	order_word word[2];
	uint32_t raw;

	(void)state;
	order_word_put(&word[1], UINT64_C(0x0102030405060708));
	assert_int_equal(turned(&word[1], 8), UINT64_C(0x0102030405060708));
	assert_int_equal(order_word_get(&word[1]),
			 UINT64_C(0x0102030405060708));
	assert_int_equal(order_word_get_acquire(&word[1]),
			 order_word_glance(&word[1]));
	raw = order_raw(3);
	assert_int_equal(turned(&raw, sizeof(raw)), 3);
}

/* All is where it is in the target. */
static void the_layout_stays(void **state)
{
	(void)state;
	assert_int_equal(sizeof(struct gl_ring), 128);
	assert_int_equal(sizeof(struct gl_node), 16);
	assert_int_equal(offsetof(struct gl_ring, tail), 64);
	assert_int_equal(sizeof(struct gl_header), 160 + GT_PATH_MAX);
	assert_int_equal(offsetof(struct gl_shared, heap_name) % GL_PAGE, 0);
	assert_int_equal(ORDER_BIG,
			 __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fields_are_swapped),
		cmocka_unit_test(arrays_are_swapped),
		cmocka_unit_test(atomics_of_32),
		cmocka_unit_test(atomics_of_64),
		cmocka_unit_test(words_of_records),
		cmocka_unit_test(the_layout_stays),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
