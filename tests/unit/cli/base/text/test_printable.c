/* test_printable.c: what is printed, and how wide. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "cli/base/text/printable.h"

static void have(const uint32_t *codes, size_t count, int columns)
{
	for (size_t i = 0; i < count; i++)
		if (printable_columns(codes[i]) != columns)
			fail_msg("U+%04X: %d columns, expected %d", codes[i],
				 printable_columns(codes[i]), columns);
}

#define HAVE(columns, ...) do {						\
	static const uint32_t codes[] = { __VA_ARGS__ };		\
									\
	have(codes, sizeof(codes) / sizeof(codes[0]), columns);		\
} while (0)

static void control_characters_are_not_printed(void **state)
{
	(void)state;
	HAVE(-1, 0, '\t', '\n', 0x1b, 0x1f, 0x7f, 0x80, 0x9b, 0x9f);
	HAVE(1, ' ', '~', 0xa0, 0xad);
}

/* The characters of the property Bidi_Control, among others. */
static void format_characters_are_not_printed(void **state)
{
	(void)state;
	HAVE(-1, 0x61c, 0x200e, 0x200f, 0x202a, 0x202b, 0x202c, 0x202d, 0x202e,
	     0x2066, 0x2067, 0x2068, 0x2069);
	HAVE(-1, 0x180e, 0x200b, 0x200d, 0x2028, 0x2029, 0x2060, 0xfeff, 0xfff9,
	     0xe0001, 0xe0020, 0xe007f);
	HAVE(1, 0x61b, 0x61d, 0x200a, 0x2010, 0xfffd);
}

static void widths(void **state)
{
	(void)state;
	HAVE(0, 0x300, 0x36f, 0xfe0f, 0xe0100);
	HAVE(1, 'a', 0xe9, 0x416, 0xff61, 0x1f2ff);
	HAVE(2, 0x1100, 0x4e2d, 0xac00, 0xff01, 0x1f600, 0x20000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(control_characters_are_not_printed),
		cmocka_unit_test(format_characters_are_not_printed),
		cmocka_unit_test(widths),
	};

	return cmocka_run_group_tests_name("printable", tests, NULL, NULL);
}
