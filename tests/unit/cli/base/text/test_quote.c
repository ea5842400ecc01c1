/* test_quote.c: words as a shell takes them; a shell is asked, too. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "cli/base/text/quote.h"

static void is(const char *words, size_t size, const char *wanted)
{
	struct buffer out = { 0 };

	quote_list(&out, words, size, 0);
	assert_string_equal(out.data ? out.data : "", wanted);
	buffer_free(&out);
}

static void lists(void **state)
{
	static const char several[] = "./a\0--x=1,2:3\0\0two words\0it's\0";

	(void)state;
	is(several, sizeof(several) - 1,
	   "./a --x=1,2:3 '' 'two words' 'it'\\''s'");
	is("", 0, "");
	is("", 1, "''");
	is("a", 1, "a");
	is("a\nb'\033", 6, "$'a\\nb\\'\\033'");
	is("\303\244", 2, "\303\244");
	/* C1's CSI, and a mark that changes the direction */
	is("a\302\233" "2J", 5, "$'a\\302\\2332J'");
	is("\330\234\303\244 b", 6, "$'\\330\\234\303\244 b'");
	is("~a\0!\0#\0$x", 9, "'~a' '!' '#' '$x'");
}

/* Many bytes in the middle of a word. */
static void a_shell_reads_the_same(void **state)
{
	FILE *shell = popen("exec bash -s", "w");
	char word[4];

	(void)state;
	assert_non_null(shell);
	for (int byte = 1; byte < 256; byte++) {
		struct buffer quoted = { 0 };

		snprintf(word, sizeof(word), "a%cb", byte);
		quote_word(&quoted, word, 3);
		fprintf(shell, "w=%s; printf -v v 'a\\%03ob'; "
			"[ \"$w\" = \"$v\" ] || exit 1\n", quoted.data, byte);
		buffer_free(&quoted);
	}
	assert_int_equal(pclose(shell), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lists),
		cmocka_unit_test(a_shell_reads_the_same),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
