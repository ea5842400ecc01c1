/*
 * test_granule.c: the table of rule numbers: what is stored is found, nothing
 * else is, also while it is being written and when memory runs out.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <pthread.h>
#include <cmocka.h>

#include "tests/unit/table_builder.h"
#include "unwind/rules/granule.h"

static struct granule_table table;
static struct granule_writer writer;

/* 0: none is stored. */
static uint16_t find(const struct granule_table *in, uintptr_t pc)
{
	uint16_t id;

	if (!granule_find(in, pc, &id))
		return 0;
	assert_int_not_equal(id, 0);
	return id;
}

static void start(void)
{
	builder_alloc_left = -1;
	unwind_alloc = builder_alloc;
	granule_reset();
	granule_table_init(&table, CODE, CODE + CODE_SIZE);
}

/* Rows of `step` bytes with numbers from `id` on, over [from, to). */
static bool store(uintptr_t from, uintptr_t to, uintptr_t step, uint16_t id)
{
	uintptr_t pc;

	if (!granule_begin(&writer, &table, from, from, to))
		return false;
	for (pc = from; pc < to; pc += step)
		granule_row(&writer, pc, pc + step < to ? pc + step : to,
			    id++);
	granule_end(&writer);
	return true;
}

static void test_empty(void **unused)
{
	struct granule_table none;

	(void)unused;
	start();
	assert_int_equal(find(&table, CODE), 0);
	assert_int_equal(find(&table, CODE - 1), 0);
	assert_int_equal(find(&table, CODE + CODE_SIZE), 0);
	assert_int_equal(find(&table, 0), 0);
	assert_int_equal(find(&table, UINTPTR_MAX), 0);
	granule_table_init(&none, CODE, CODE);
	assert_int_equal(find(&none, CODE), 0);
	assert_false(granule_begin(&writer, &none, CODE, CODE, CODE + 1));
	granule_table_init(&none, 4096, UINTPTR_MAX);
	assert_int_equal(find(&none, CODE), 0);
	assert_false(granule_begin(&writer, &none, CODE, CODE, CODE + 1));
}

static void test_rows(void **unused)
{
	uintptr_t pc, step;

	(void)unused;
	for (step = 1; step < 700; step = step * 2 + 1) {
		start();
		assert_true(store(CODE + 100, CODE + 3000, step, 1));
		for (pc = CODE; pc < CODE + 4000; pc++) {
			uint16_t want = 0;

			if (pc >= CODE + 100 && pc < CODE + 3000)
				want = (uint16_t)((pc - CODE - 100) / step + 1);
			assert_int_equal(find(&table, pc), want);
		}
	}
}

/* Bytes that `count` stores of rows, each in a granule of its own, take. */
static double bytes_each(uintptr_t first, uintptr_t last, uintptr_t row,
			 uint16_t number, bool equal)
{
	enum { COUNT = 4096 };
	uintptr_t at, pc;
	size_t before;
	uint16_t id;

	start();
	for (at = CODE; at < CODE + CODE_SIZE; at += GRANULE_PAGE_BYTES)
		store(at + 0xfff0, at + 0xfff1, 1, 1);	/* all pages */
	before = granule_bytes();
	for (at = CODE; at < CODE + COUNT * GRANULE_BYTES;
	     at += GRANULE_BYTES) {
		granule_begin(&writer, &table, at, at + first, at + last);
		for (pc = at + first, id = number; pc < at + last; pc += row)
			granule_row(&writer, pc, pc + row, equal ? id : id++);
		granule_end(&writer);
		assert_int_equal(find(&table, at + last - 1),
				 equal ? id : id - 1);
	}
	return (double)(granule_bytes() - before) / COUNT;
}

/* What rows take beside the index. Arenas round it. */
static void test_bytes(void **unused)
{
	(void)unused;
	/* Rows of one number are one row; a whole granule of one, nothing. */
	assert_true(bytes_each(0, 256, 2, 700, true) < 0.1);
	assert_true(bytes_each(0, 200, 2, 700, true) < 5.1);
	assert_true(bytes_each(0, 200, 2, 7, true) < 4.1);
	/* Two bytes and two a row; three if a number is large. */
	assert_true(bytes_each(0, 256, 16, 240, false) < 2 + 2 * 16 + 0.3);
	assert_true(bytes_each(0, 256, 16, 241, false) < 2 + 3 * 16 + 0.3);
	assert_true(bytes_each(10, 20, 5, 1, false) < 2 + 2 * 2 + 0.1);
}

/* As many rows in a granule as there can be: several blocks. */
static void test_full_granules(void **unused)
{
	static const uint16_t first[] = { 1, 250, 3000 };
	unsigned int i, pc;

	(void)unused;
	for (i = 0; i < 3; i++) {
		start();
		store(CODE, CODE + 2 * GRANULE_BYTES, 1, first[i]);
		for (pc = 0; pc < 2 * GRANULE_BYTES; pc++)
			assert_int_equal(find(&table, CODE + pc),
					 first[i] + pc);
		assert_int_equal(find(&table, CODE + pc), 0);
	}
}

/* 64 stretches in each granule, stored in a scattered order. */
static void test_shared_granules(void **unused)
{
	enum { PIECES = 4096, PIECE = 4 };
	unsigned int i;

	(void)unused;
	start();
	for (i = 0; i < PIECES; i++) {
		unsigned int n = i * 1103 % PIECES;

		assert_true(store(CODE + n * PIECE,
				  CODE + n * PIECE + PIECE - 1, PIECE,
				  (uint16_t)(n + 1)));
	}
	for (i = 0; i < PIECES * PIECE; i++)
		assert_int_equal(find(&table, CODE + i),
				 i % PIECE == PIECE - 1 ? 0 : i / PIECE + 1);
}

/* What is stored at once stays within the index page around pc. */
static void test_window(void **unused)
{
	uintptr_t page = CODE + GRANULE_PAGE_BYTES, pc;

	(void)unused;
	start();
	assert_true(granule_begin(&writer, &table, page + 5, CODE,
				  CODE + CODE_SIZE));
	assert_int_equal(writer.start, page);
	assert_int_equal(writer.end, page + GRANULE_PAGE_BYTES);
	granule_row(&writer, CODE, page + 77, 3);
	granule_row(&writer, page + 77, CODE + CODE_SIZE, 4);
	granule_end(&writer);
	for (pc = CODE; pc < CODE + 4 * GRANULE_PAGE_BYTES; pc += 11) {
		uint16_t want = pc < page + 77 ? 3 : 4;

		if (pc < page || pc >= page + GRANULE_PAGE_BYTES)
			want = 0;
		assert_int_equal(find(&table, pc), want);
	}
	/* The last byte of the last page. */
	pc = CODE + CODE_SIZE - 1;
	assert_true(store(pc, pc + 1, 1, 9));
	assert_int_equal(find(&table, pc), 9);
	assert_int_equal(find(&table, pc - 1), 0);
}

static void test_code_in_mid_page(void **unused)
{
	uintptr_t begin = CODE + 0x1234, end = begin + 0x20000;

	(void)unused;
	start();
	granule_table_init(&table, begin, end);
	assert_true(store(begin, begin + 10, 10, 1));
	assert_true(store(end - 10, end, 10, 2));
	assert_int_equal(find(&table, begin), 1);
	assert_int_equal(find(&table, end - 1), 2);
	assert_int_equal(find(&table, begin + 10), 0);
}

/* Every number of allocations that succeed: what is found is right. */
static void test_no_memory(void **unused)
{
	long allowed;
	uintptr_t pc;

	(void)unused;
	for (allowed = 0; allowed < 8; allowed++) {
		uintptr_t found = 0;

		start();
		granule_reset();
		builder_alloc_left = allowed;
		granule_table_init(&table, CODE, CODE + CODE_SIZE);
		for (pc = CODE; pc < CODE + 0x40000; pc += 0x4000)
			store(pc, pc + 0x4000, 3, 1);
		for (pc = CODE; pc < CODE + 0x40000; pc++) {
			uint16_t got = find(&table, pc);

			found += got != 0;
			if (got)
				assert_int_equal(got,
						 pc % 0x4000 / 3 + 1);
		}
		if (allowed < 2)
			assert_int_equal(found, 0);
		else
			assert_in_range(found, 1, 0x3ffff);
	}
	builder_alloc_left = -1;
}

/* Where the next arena is to lie, in 128 MiB from the first. */
static intptr_t far_steps;

/* Where nothing lies 640 MiB up, and 384 down. */
#define FIRST_OF_32_BITS 0x60000000u

static void *far_alloc(size_t size)
{
	static uintptr_t first;
	uintptr_t wanted = first + (uintptr_t)far_steps * (1 << 27);
	void *memory = mmap(first ? (void *)wanted : NULL, size,
			    PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (!first)
		first = sizeof(first) == 8 ?
				((uintptr_t)memory & ~0xfffful) -
					(uintptr_t)(UINT64_C(32) << 30) :
				FIRST_OF_32_BITS;
	return memory;
}

/* Blocks too far apart for a link are left out, and nothing else is. */
static void test_far_arenas(void **unused)
{
	static const int steps[] = { 0, 3, -3, 5, 2 };
	static const bool stored[] = { true, true, false, false, true };
	unsigned int i;

	(void)unused;
	start();
	far_steps = 0;
	unwind_alloc = far_alloc;
	assert_non_null(far_alloc(4096));	/* says where the first is */
	for (i = 0; i < 5; i++) {
		granule_reset();	/* so that a new arena is taken */
		far_steps = steps[i];
		store(CODE + i * 8, CODE + i * 8 + 8, 8, (uint16_t)(i + 1));
	}
	for (i = 0; i < 5; i++)
		assert_int_equal(find(&table, CODE + i * 8),
				 stored[i] ? i + 1 : 0);
}

static void test_lock(void **unused)
{
	(void)unused;
	start();
	assert_true(granule_try_lock());
	assert_false(granule_try_lock());
	granule_unlock();
	assert_true(granule_try_lock());
	granule_reset();	/* a forked child finds it free */
	assert_true(granule_try_lock());
	granule_unlock();
}

enum { RACE_PIECES = 40000, RACE_PIECE = 13 };

static atomic_bool race_over;

static void *read_always(void *seed)
{
	uint32_t random = (uint32_t)(uintptr_t)seed;
	size_t wrong = 0;

	while (!atomic_load(&race_over)) {
		uint32_t n;
		uint16_t got;

		random = random * 1664525u + 1013904223u;
		n = (random >> 8) % (RACE_PIECES * RACE_PIECE);
		got = find(&table, CODE + n);
		wrong += got != 0 && got != n / RACE_PIECE + 1;
	}
	return (void *)wrong;
}

/* A reader sees a number that is right, or none. */
static void test_readers_and_writer(void **unused)
{
	pthread_t threads[2];
	unsigned int i;
	void *wrong;

	(void)unused;
	start();
	atomic_store(&race_over, false);
	for (i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, read_always,
			       (void *)(uintptr_t)(i + 1));
	for (i = 0; i < RACE_PIECES; i++) {
		unsigned int n = i * 7919u % RACE_PIECES;
		uintptr_t at = CODE + n * RACE_PIECE;

		store(at, at + RACE_PIECE, RACE_PIECE, (uint16_t)(n + 1));
	}
	atomic_store(&race_over, true);
	for (i = 0; i < 2; i++) {
		pthread_join(threads[i], &wrong);
		assert_null(wrong);
	}
}

static void test_broken_writer(void **unused)
{
	(void)unused;
	start();
	assert_true(granule_begin(&writer, &table, CODE, CODE, CODE + 256));
	granule_row(&writer, CODE, CODE + 16, 3);
	granule_row(&writer, CODE + 16, CODE + 32, 4);
	assert_int_equal(writer.rows, 2);
	assert_true(granule_writer_is_valid(&writer));
	writer.offset[1] = writer.offset[0];
	assert_false(granule_writer_is_valid(&writer));
	writer.offset[1] = 16;
	writer.granule++;
	assert_false(granule_writer_is_valid(&writer));
	writer.granule--;
	writer.rows = GRANULE_ROWS_MAX + 1;
	assert_false(granule_writer_is_valid(&writer));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_empty),
		cmocka_unit_test(test_rows),
		cmocka_unit_test(test_bytes),
		cmocka_unit_test(test_full_granules),
		cmocka_unit_test(test_shared_granules),
		cmocka_unit_test(test_window),
		cmocka_unit_test(test_code_in_mid_page),
		cmocka_unit_test(test_no_memory),
		cmocka_unit_test(test_far_arenas),
		cmocka_unit_test(test_lock),
		cmocka_unit_test(test_readers_and_writer),
		cmocka_unit_test(test_broken_writer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
