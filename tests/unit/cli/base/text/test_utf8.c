/*
 * test_utf8.c: what is a sequence of UTF-8 and what is not (RFC 3629), and
 * that nothing else is left in a text.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "cli/base/text/utf8.h"

#define BAD "\xef\xbf\xbd"	/* U+FFFD */

static const struct { const char *text, *wanted; } cases[] = {
	{ "", "" },
	{ "plain", "plain" },
	{ "größe_日本\xf0\x9f\x98\x80", "größe_日本\xf0\x9f\x98\x80" },
	{ "\xc3", BAD },			/* cut off */
	{ "a\xe6\x97", "a" BAD BAD },
	{ "\x80z\xff", BAD "z" BAD },
	{ "\xc0\xaf", BAD BAD },		/* too long a form */
	{ "\xc1\xbf", BAD BAD },
	{ "\xe0\x80\xaf", BAD BAD BAD },
	{ "\xe0\x9f\xbf", BAD BAD BAD },
	{ "\xe0\xa0\x80", "\xe0\xa0\x80" },
	{ "\xf0\x80\x80\xaf", BAD BAD BAD BAD },
	{ "\xed\x9f\xbf", "\xed\x9f\xbf" },
	{ "\xed\xa0\x80", BAD BAD BAD },	/* a surrogate */
	{ "\xf4\x8f\xbf\xbf", "\xf4\x8f\xbf\xbf" },
	{ "\xf4\x90\x80\x80", BAD BAD BAD BAD },	/* beyond the last */
	{ "\xf5\x80", BAD BAD },
};

static void only_sequences_are_left(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct buffer out = { 0 };

		buffer_string(&out, "<");
		utf8_add(&out, cases[i].text);
		assert_string_equal(out.data + 1, cases[i].wanted);
		buffer_free(&out);
	}
}

static void lengths(void **state)
{
	(void)state;
	assert_int_equal(utf8_length("a"), 1);
	assert_int_equal(utf8_length("ö"), 2);
	assert_int_equal(utf8_length("日"), 3);
	assert_int_equal(utf8_length("\xf0\x9f\x98\x80"), 4);
	assert_int_equal(utf8_length("\x80"), 0);
}

static void code_points(void **state)
{
	static const struct {
		const char *text;
		size_t size;
		unsigned length;
		uint32_t code;
	} sequences[] = {
		{ "", 0, 0, 1 },
		{ "", 1, 1, 0 },
		{ "ab", 2, 1, 'a' },
		{ "ö", 2, 2, 0xf6 },
		{ "ö", 1, 0, 1 },
		{ "日", 3, 3, 0x65e5 },
		{ "日", 2, 0, 1 },
		{ "\xf0\x9f\x98\x80", 4, 4, 0x1f600 },
		{ "\xf0\x9f\x98\x80", 3, 0, 1 },
		{ "\xf4\x8f\xbf\xbf", 4, 4, 0x10ffff },
		{ "\x80", 1, 0, 1 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(sequences) / sizeof(*sequences); i++) {
		uint32_t code = 1;

		assert_int_equal(utf8_decode(sequences[i].text,
					     sequences[i].size, &code),
				 sequences[i].length);
		assert_int_equal(code, sequences[i].code);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_sequences_are_left),
		cmocka_unit_test(lengths),
		cmocka_unit_test(code_points),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
