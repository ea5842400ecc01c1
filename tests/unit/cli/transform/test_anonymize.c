/* test_anonymize.c: names that say nothing, the same ones for one key. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "cli/transform/anonymize.h"

static struct anonymize with_key(const char *key)
{
	struct anonymize anonymize;

	assert_int_equal(anonymize_init(&anonymize, key,
					key ? strlen(key) : 0), 0);
	return anonymize;
}

static char *path_of(const struct anonymize *anonymize, const char *path)
{
	struct buffer out = { 0 };

	anonymize_path(anonymize, path, strlen(path), &out);
	return out.data;
}

static void one_key_one_name(void **state)
{
	struct anonymize a = with_key("k"), b = with_key("k");
	struct anonymize c = with_key("K"), d = with_key(NULL);
	struct anonymize e = with_key(NULL);
	char *names[5];

	(void)state;
	names[0] = path_of(&a, "/usr/lib/libsecret.so.1");
	names[1] = path_of(&b, "/usr/lib/libsecret.so.1");
	names[2] = path_of(&c, "/usr/lib/libsecret.so.1");
	names[3] = path_of(&d, "/usr/lib/libsecret.so.1");
	names[4] = path_of(&e, "/usr/lib/libsecret.so.1");
	assert_string_equal(names[0], names[1]);
	for (unsigned i = 1; i < 5; i++)
		for (unsigned j = i + 1; j < 5; j++)
			assert_string_not_equal(names[i], names[j]);
	for (unsigned i = 0; i < 5; i++) {
		assert_null(strstr(names[i], "usr"));
		assert_null(strstr(names[i], "secret"));
		free(names[i]);
	}
}

/* Directories stay directories; versions differ behind the stem. */
static void paths_keep_their_shape(void **state)
{
	struct anonymize a = with_key("k");
	char *one = path_of(&a, "/a/b/libx.so.1"), *end;
	char *two = path_of(&a, "/a/b/libx.so.2");
	char *other = path_of(&a, "/a/c");
	size_t directory = (size_t)(strrchr(one, '/') - one);

	(void)state;
	assert_int_equal(one[0], '/');
	end = strstr(one, ".so.");
	assert_non_null(end);
	assert_memory_equal(one, two, (size_t)(end - one));
	assert_string_not_equal(one, two);
	assert_memory_equal(one, other, directory / 2 + 1);
	free(one);
	free(two);
	free(other);
}

static void what_the_kernel_calls_stays(void **state)
{
	static const char *const same[] = { "[heap]", "[stack]", "[vdso]" };
	struct anonymize a = with_key("k");
	char *name;

	(void)state;
	for (unsigned i = 0; i < 3; i++) {
		name = path_of(&a, same[i]);
		assert_string_equal(name, same[i]);
		free(name);
	}
	name = path_of(&a, "[anon:secret heap]");
	assert_memory_equal(name, "[anon:", 6);
	assert_null(strstr(name, "secret"));
	free(name);
	name = path_of(&a, "/memfd:secret (deleted)");
	assert_null(strstr(name, "secret"));
	assert_non_null(strstr(name, " (deleted)"));
	free(name);
}

/* A DLOPEN's hash of a name becomes the hash of the new name. */
static void dlopen_still_names_its_file(void **state)
{
	struct anonymize a = with_key("k");
	struct rewrite out = { .fd = -1, .level = 1 };
	struct repack_change change;
	struct repack repack;
	uint64_t hash = UINT64_C(0xcbf29ce484222325), wanted = hash;
	uint64_t args[GT_EXTRA_ARGS] = { 0 };
	struct trace_event event = {
		.kind = GT_EXTRA, .what = GT_EXTRA_DLOPEN, .args = args
	};
	char *path = path_of(&a, "/x/libsecret.so.1"), *name;

	(void)state;
	for (const char *c = "libsecret"; *c; c++)
		hash = (hash ^ (uint8_t)*c) * UINT64_C(0x100000001b3);
	name = strrchr(path, '/') + 1;
	*strstr(name, ".so") = 0;
	for (; *name; name++)
		wanted = (wanted ^ (uint8_t)*name) * UINT64_C(0x100000001b3);
	args[0] = hash;
	anonymize_change(&a, &change);
	/* Through the whole way, to look at what was put. */
	repack_open(&repack, &out, &change);
	{
		struct buffer payload = { 0 }, written = { 0 };
		struct event_decoder decoder = { 0 };
		struct inflater inflater = { 0 };
		struct trace_event back;
		struct cursor c;
		struct chunk chunk = {
			.type = GT_EVENTS, .last = GL_RECORD_MAX, .offset = 1
		};

		compose_events(&payload, &event, 1, 0);
		chunk.payload = (uint8_t *)payload.data;
		chunk.stored = chunk.raw = (uint32_t)payload.size;
		rewrite_header(&out, 1);
		assert_true(repack_chunk(&repack, &chunk));
		repack_flush(&repack);
		written = out.pending;
		c = cursor_over(written.data + GT_HEADER_SIZE + GT_CHUNK_SIZE,
				written.size - GT_HEADER_SIZE - GT_CHUNK_SIZE);
		assert_int_equal(event_decoder_open(&decoder, &c, false,
						    &inflater), 0);
		assert_int_equal(event_decoder_next(&decoder, &back, 1), 1);
		assert_true(back.args[0] == wanted);
		event_decoder_free(&decoder);
		inflater_free(&inflater);
		buffer_free(&payload);
	}
	repack_close(&repack);
	rewrite_close(&out);
	free(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_key_one_name),
		cmocka_unit_test(paths_keep_their_shape),
		cmocka_unit_test(what_the_kernel_calls_stays),
		cmocka_unit_test(dlopen_still_names_its_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
