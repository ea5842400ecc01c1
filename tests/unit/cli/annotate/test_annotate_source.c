/* test_annotate_source.c: lines of source as a terminal may show them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "cli/annotate/annotate.h"

static void is(const char *from, size_t dedent, size_t width, const char *to)
{
	struct buffer out = { 0 };

	buffer_string(&out, ">");
	annotate_printable(&out, from, strlen(from), dedent, width);
	assert_string_equal(out.data + 1, to);
	buffer_free(&out);
}

static void blanks(void **state)
{
	(void)state;
	is("\tone\ttwo", 0, 80, "        one     two");
	is("\tone\ttwo", 8, 80, "one     two");
	is("\tone\ttwo", 4, 80, "    one     two");
	is("  \tone  ", 8, 80, "one");
	is("one\r\n", 0, 80, "one");
	is("\t\t", 0, 80, "");
	is("abcdefgh", 0, 5, "abcde");
	is("\tabcdefgh", 8, 5, "abcde");
	is("ab\tcdefgh", 0, 10, "ab      cd");
	assert_int_equal(annotate_indent("  \tx", 4), 8);
	assert_int_equal(annotate_indent("x", 1), 0);
	assert_int_equal(annotate_indent(" \t \r\n", 4), SIZE_MAX);
	assert_int_equal(annotate_indent("", 0), SIZE_MAX);
}

static void controls_and_what_is_no_text(void **state)
{
	(void)state;
	is("a\x1b[31mb", 0, 80, "a?[31mb");
	is("a\x7f\x01z", 0, 80, "a??z");
	is("\xff\xc0\x80\xe0\x80\xed\xa0\x80\xf8z", 0, 80, "?????????z");
	is("cut \xc3", 0, 80, "cut ?");
	/* C1 controls, marks that turn the direction around */
	is("a\xc2\x9b" "31m", 0, 80, "a?31m");
	is("a\xe2\x80\xae" "b\xe2\x81\xa6" "c", 0, 80, "a?b?c");
	is("a\xd8\x9c" "b\xf3\xa0\x80\x81" "c", 0, 80, "a?b?c");
}

static void widths(void **state)
{
	(void)state;
	is("\xc3\xbc\xc3\xbc\xc3\xbc", 0, 2, "\xc3\xbc\xc3\xbc");
	/* two columns each; one does not fit into one */
	is("\xe4\xb8\xad\xe6\x96\x87", 0, 3, "\xe4\xb8\xad");
	is("\xe4\xb8\xad\xe6\x96\x87", 0, 4, "\xe4\xb8\xad\xe6\x96\x87");
	/* what joins the letter before comes along */
	is("e\xcc\x81x", 0, 1, "e\xcc\x81");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(blanks),
		cmocka_unit_test(controls_and_what_is_no_text),
		cmocka_unit_test(widths),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
