/*
 * test_buffer.c: texts that grow; lines that are broken; bytes for terminals.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cli/base/text/buffer.h"

static void grows(void **state)
{
	struct buffer text = { 0 };
	char want[4000] = "";

	(void)state;
	for (int i = 0; i < 400; i++) {
		char piece[16];

		snprintf(piece, sizeof(piece), "%d,", i);
		strcat(want, piece);
		buffer_printf(&text, "%d%s", i, ",");
		assert_int_equal(text.size, strlen(want));
	}
	buffer_add(&text, "a\0b", 3);
	assert_int_equal(text.size, strlen(want) + 3);
	assert_memory_equal(text.data + strlen(want), "a\0b", 4);
	text.data[strlen(want)] = 0;
	assert_string_equal(text.data, want);
	buffer_clear(&text);
	assert_string_equal(text.data, "");
	buffer_string(&text, "x");
	assert_string_equal(text.data, "x");
	buffer_free(&text);
	assert_null(text.data);
}

static void longer_than_any_guess(void **state)
{
	struct buffer text = { 0 };

	(void)state;
	buffer_printf(&text, "%*s|", 5000, "x");
	assert_int_equal(text.size, 5001);
	assert_string_equal(text.data + 4999, "x|");
	buffer_free(&text);
}

static void wraps(void **state)
{
	struct buffer text = { 0 };

	(void)state;
	buffer_wrap(&text, "one two three four", 2, 11);
	assert_string_equal(text.data, "  one two\n  three\n  four\n");
	buffer_clear(&text);
	buffer_wrap(&text, "a averyverylongword b", 1, 8);
	assert_string_equal(text.data, " a\n averyverylongword\n b\n");
	buffer_free(&text);
}

static void little_ends_first(void **state)
{
	struct buffer bytes = { 0 };

	(void)state;
	buffer_little(&bytes, 0x1122334455667788, 3);
	buffer_little(&bytes, 0x1122334455667788, 8);
	buffer_little(&bytes, 7, 0);
	assert_int_equal(bytes.size, 11);
	assert_memory_equal(bytes.data, "\x88\x77\x66\x88\x77\x66\x55\x44"
			    "\x33\x22\x11", 11);
	buffer_free(&bytes);
}

static void for_terminals(void **state)
{
	struct buffer text = { 0 };

	(void)state;
	buffer_string(&text, "a\033[2Jb\n\tc\x7f\xc3\xa9");
	buffer_printable(&text);
	assert_string_equal(text.data, "a [2Jb  c \xc3\xa9");
	buffer_clear(&text);
	/* C1's CSI, marks that change the direction, bytes without encoding */
	buffer_string(&text, "a\xc2\x9b" "2Jb\xe2\x80\xae" "c\xd8\x9c"
		      "\xe9\x80\xff");
	buffer_printable(&text);
	assert_string_equal(text.data, "a 2Jb c \xe9\x80\xff");
	assert_int_equal(text.size, strlen(text.data));
	buffer_clear(&text);
	buffer_printable(&text);
	assert_string_equal(text.data, "");
	buffer_free(&text);
}

static void broken_ones(void **state)
{
	struct buffer text = { 0 };

	(void)state;
	assert_true(buffer_is_valid(&text));
	text.size = 1;
	assert_false(buffer_is_valid(&text));
	text.size = 0;
	buffer_string(&text, "abc");
	assert_true(buffer_is_valid(&text));
	text.data[3] = 'd';
	assert_false(buffer_is_valid(&text));
	text.data[3] = 0;
	text.size = text.capacity;
	assert_false(buffer_is_valid(&text));
	text.size = 3;
	assert_true(buffer_is_valid(&text));
	buffer_free(&text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(grows),
		cmocka_unit_test(longer_than_any_guess),
		cmocka_unit_test(wraps),
		cmocka_unit_test(little_ends_first),
		cmocka_unit_test(for_terminals),
		cmocka_unit_test(broken_ones),
	};

	return cmocka_run_group_tests_name("buffer", tests, NULL, NULL);
}
