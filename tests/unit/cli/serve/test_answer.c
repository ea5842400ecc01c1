/* test_answer.c: what was said, as a header, and answers that are kept. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cli/serve/answer.h"
#include "cli/serve/http_compress.h"

static void is_said(const char *said, size_t most, const char *wanted)
{
	char *got = answer_messages(said, most);

	if (wanted == NULL)
		assert_null(got);
	else
		assert_string_equal(got, wanted);
	free(got);
}

static void messages(void **state)
{
	(void)state;
	is_said(NULL, 100, NULL);
	is_said("", 100, NULL);
	is_said("\n\n", 100, NULL);
	is_said("gnomon: one\ngnomon: \"two\" \\\nthree", 100,
		"[\"one\",\"\\\"two\\\" \\\\\",\"three\"]");
	is_said("\x01\xff \xc3\xa9 \xf0\x9f\x98\x80\x7f", 100,
		"[\"\\u0001\\ufffd \\u00e9 \\ud83d\\ude00\\ufffd\"]");
	is_said("first\nsecond", 12, "[\"first\"]");
	is_said("too long for that", 4, NULL);
}

static void kept(void **state)
{
	struct answer_cache cache = { .bytes_max = 3000 };
	struct answer *found;

	(void)state;
	for (uint64_t key = 1; key <= 4; key++) {
		struct answer *one = answer_text(200, "text/plain", "0123456789",
						 10);

		one->key = key;
		answer_cache_keep(&cache, one);
		answer_drop(one);
	}
	/* Asked for: the newest again. */
	found = answer_cache_find(&cache, 1);
	assert_non_null(found);
	answer_drop(found);
	for (uint64_t key = 5; key <= 8; key++) {
		struct answer *one = answer_text(200, "text/plain", "x", 1);

		one->key = key;
		answer_cache_keep(&cache, one);
		answer_drop(one);
	}
	assert_true(cache.bytes <= cache.bytes_max);
	assert_null(answer_cache_find(&cache, 2));
	found = answer_cache_find(&cache, 1);
	assert_non_null(found);
	answer_cache_clear(&cache);
	assert_int_equal(answer_bytes(), 10);
	answer_drop(found);
	assert_int_equal(answer_bytes(), 0);
}

static void few_are_kept(void **state)
{
	struct answer_cache cache = { .bytes_max = UINT64_C(1) << 30 };

	(void)state;
	for (uint64_t key = 1; key <= ANSWER_CACHE_MAX + 9; key++) {
		struct answer *one = answer_text(200, "text/plain", "x", 1);

		one->key = key;
		answer_cache_keep(&cache, one);
		answer_drop(one);
	}
	assert_int_equal(cache.count, ANSWER_CACHE_MAX);
	assert_int_equal(answer_bytes(), ANSWER_CACHE_MAX);
	assert_null(answer_cache_find(&cache, 9));
	answer_cache_clear(&cache);
	assert_int_equal(answer_bytes(), 0);
}

static void codings(void **state)
{
	(void)state;
	assert_int_equal(http_compress_choose(NULL), WORKER_PLAIN);
	assert_int_equal(http_compress_choose(""), WORKER_PLAIN);
	assert_int_equal(http_compress_choose("br, deflate"), WORKER_PLAIN);
	assert_int_equal(http_compress_choose("gzip, deflate, br"),
			 WORKER_GZIP);
	assert_int_equal(http_compress_choose("GZIP;q=0.5"), WORKER_GZIP);
	assert_int_equal(http_compress_choose("gzip, zstd"), WORKER_ZSTD);
	assert_int_equal(http_compress_choose("gzip, zstd;q=0"), WORKER_GZIP);
	assert_int_equal(http_compress_choose("zstd;q=0.000"), WORKER_PLAIN);
	assert_int_equal(http_compress_choose("zstd;q=0.001"), WORKER_ZSTD);
	assert_int_equal(http_compress_choose("gzipped"), WORKER_PLAIN);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(messages),
		cmocka_unit_test(kept),
		cmocka_unit_test(few_are_kept),
		cmocka_unit_test(codings),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
