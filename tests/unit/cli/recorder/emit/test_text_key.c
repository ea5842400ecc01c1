/* test_text_key.c: lines of keys and values in a chunk. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "cli/recorder/emit/text_key.h"

static uint8_t buffer[GT_CHUNK_SIZE + 64];
static struct chunk_out out = { .buffer = buffer, .room = 64 };

static void check(const struct text_key *text, const char *wanted)
{
	assert_int_equal(text->length, strlen(wanted));
	assert_memory_equal(chunk_payload(&out), wanted, text->length);
}

static void values(void **state)
{
	struct text_key text;

	(void)state;
	text_key_begin(&text, &out);
	check(&text, "");
	text_key_put(&text, "exe", "/bin/true");
	text_key_put(&text, "none", "");
	text_key_bytes(&text, "few", "abcd", 2);
	check(&text, "exe=/bin/true\nnone=\nfew=ab\n");
}

static void escapes(void **state)
{
	struct text_key text;

	(void)state;
	text_key_begin(&text, &out);
	text_key_bytes(&text, "command", "a\\n\nb\0c", 8);
	check(&text, "command=a\\\\n\\nb\\0c\\0\n");
}

static void numbers(void **state)
{
	struct text_key text;

	(void)state;
	text_key_begin(&text, &out);
	text_key_number(&text, "zero", 0);
	text_key_number(&text, "ten", 10);
	text_key_number(&text, "most", UINT64_MAX);
	check(&text, "zero=0\nten=10\nmost=18446744073709551615\n");
}

/* Of one that is too long nothing is there; what comes behind it is. */
static void too_long(void **state)
{
	static const char value[64] = "a";
	struct text_key text;

	(void)state;
	memset(buffer, 'x', sizeof(buffer));
	text_key_begin(&text, &out);
	text_key_bytes(&text, "no", value, 31);
	check(&text, "");
	text_key_bytes(&text, "yes", "bc", 2);
	check(&text, "yes=bc\n");
	text_key_bytes(&text, "all", value, 26);
	assert_int_equal(text.length, 7 + 4 + 1 + 2 * 25 + 1);
	text_key_put(&text, "k", "");
	assert_int_equal(text.length, 63);
	text_key_put(&text, "", "");
	assert_int_equal(text.length, 63);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(values),
		cmocka_unit_test(escapes),
		cmocka_unit_test(numbers),
		cmocka_unit_test(too_long),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
