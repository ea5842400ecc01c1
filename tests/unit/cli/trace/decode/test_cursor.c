/* test_cursor.c: bounded reading. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "cli/trace/decode/cursor.h"
#include "cli/trace/write/compose.h"

static void fixed_sizes(void **state)
{
	static const uint8_t bytes[] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12,
					 13, 14, 15 };
	struct cursor c = cursor_over(bytes, sizeof(bytes));

	(void)state;
	assert_int_equal(cursor_u8(&c), 1);
	assert_int_equal(cursor_u16(&c), 0x0302);
	assert_int_equal(cursor_u32(&c), 0x07060504);
	assert_true(cursor_u64(&c) == UINT64_C(0x0f0e0d0c0b0a0908));
	assert_int_equal(cursor_left(&c), 0);
	assert_false(c.bad);
	assert_int_equal(cursor_u8(&c), 0);
	assert_true(c.bad);
}

static void past_the_end(void **state)
{
	static const uint8_t bytes[3] = { 1, 2, 3 };
	struct cursor c = cursor_over(bytes, sizeof(bytes));

	(void)state;
	assert_int_equal(cursor_u32(&c), 0);
	assert_true(c.bad);
	assert_int_equal(cursor_left(&c), 0);
	c = cursor_over(bytes, sizeof(bytes));
	assert_null(cursor_bytes(&c, UINT64_MAX));
	assert_true(c.bad);
	c = cursor_over(bytes, sizeof(bytes));
	assert_ptr_equal(cursor_bytes(&c, 3), bytes);
	assert_false(c.bad);
}

static void varints_round(void **state)
{
	(void)state;
	for (unsigned bit = 0; bit < 64; bit++)
		for (int d = -1; d <= 1; d++) {
			uint64_t value = (UINT64_C(1) << bit) + (uint64_t)d;
			struct buffer out = { 0 };
			struct cursor c;

			compose_varint(&out, value);
			c = cursor_over(out.data, out.size);
			assert_true(cursor_varint(&c) == value);
			assert_false(c.bad);
			assert_int_equal(cursor_left(&c), 0);
			/* every shorter one is refused */
			for (size_t n = 0; n < out.size; n++) {
				c = cursor_over(out.data, n);
				assert_int_equal(cursor_varint(&c), 0);
				assert_true(c.bad);
			}
			buffer_free(&out);
		}
}

/* What needs no look at the end says the same, or that it cannot tell. */
static void varints_sure(void **state)
{
	(void)state;
	for (unsigned bit = 0; bit < 64; bit++)
		for (int d = -1; d <= 1; d++) {
			uint64_t value = (UINT64_C(1) << bit) + (uint64_t)d;
			struct cursor_number got;
			struct buffer out = { 0 };
			size_t size;

			compose_varint(&out, value);
			size = out.size;
			/* what lies behind does not matter */
			buffer_add(&out, d ? "\xff\xff\xff\xff\xff\xff\xff" :
				   "\0\0\0\0\0\0\0", 7);
			got = cursor_varint_sure((const uint8_t *)out.data);
			assert_int_equal(got.length, size <= 8 ? size : 0);
			assert_true(got.value == (size <= 8 ? value : 0));
			buffer_free(&out);
		}
}

static void varints_too_long(void **state)
{
	static const uint8_t eleven[] = { 0x80, 0x80, 0x80, 0x80, 0x80, 0x80,
					  0x80, 0x80, 0x80, 0x80, 0 };
	static const uint8_t overflow[] = { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
					    0xff, 0xff, 0xff, 2 };
	static const uint8_t most[] = { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
					0xff, 0xff, 0xff, 1 };
	struct cursor c = cursor_over(eleven, sizeof(eleven));

	(void)state;
	cursor_varint(&c);
	assert_true(c.bad);
	c = cursor_over(overflow, sizeof(overflow));
	cursor_varint(&c);
	assert_true(c.bad);
	c = cursor_over(most, sizeof(most));
	assert_true(cursor_varint(&c) == UINT64_MAX);
	assert_false(c.bad);
}

static void zigzags(void **state)
{
	(void)state;
	assert_true(cursor_unzigzag(0) == 0);
	assert_true(cursor_unzigzag(1) == -1);
	assert_true(cursor_unzigzag(2) == 1);
	assert_true(cursor_unzigzag(UINT64_MAX) == INT64_MIN);
	assert_true(cursor_unzigzag(UINT64_MAX - 1) == INT64_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fixed_sizes),
		cmocka_unit_test(past_the_end),
		cmocka_unit_test(varints_round),
		cmocka_unit_test(varints_sure),
		cmocka_unit_test(varints_too_long),
		cmocka_unit_test(zigzags),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
