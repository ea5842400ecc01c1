/*
 * test_patch_read.c: plans as they are made, cut short anywhere, and with any
 * byte changed: nothing outside the limits of patch_format.h comes out.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "preload/patch/patch_read.h"

/* One image with one function: 5 bytes displaced, a jump back. */
static const struct __attribute__((packed)) sample {
	uint8_t version;
	struct patch_image image;
	struct patch_entry entry;
	uint8_t code[6];
	struct patch_fix fix;
} whole = {
	PATCH_VERSION,
	{ .kind = PATCH_LIBRARY, .functions = 1, .name = "a.o" },
	{ .address = 4096, .check = UINT64_C(0x0807060504030201), .size = 16,
	  .flags = PATCH_KEEPS_ALL, .displaced = PATCH_JUMP, .code_size = 6,
	  .fix_count = 1, .shape = { PATCH_REALLOC, 0, 2, 1 } },
	{ 0x90, 0xe9, 0, 0, 0, 0 },
	{ .target = 4101, .at = 2, .kind = PATCH_FIX_RELATIVE },
};
#define SAMPLE sizeof(struct sample)
static uint8_t sample[SAMPLE];

static void test_decode(void **state)
{
	uint8_t bytes[8];

	(void)state;
	assert_int_equal(patch_read_decode("AQID", bytes, 8), 3);
	assert_memory_equal(bytes, "\1\2\3", 3);
	assert_int_equal(patch_read_decode("AQ", bytes, 8), 1);
	assert_int_equal(patch_read_decode("__8", bytes, 8), 2);
	assert_memory_equal(bytes, "\xff\xff", 2);
	assert_int_equal(patch_read_decode("", bytes, 8), 0);
	assert_int_equal(patch_read_decode("AQ=", bytes, 8), 0);
	assert_int_equal(patch_read_decode("AQIDAQID", bytes, 5), 0);
}

static void test_sample(void **state)
{
	struct patch_function f;
	struct patch_image image;
	struct patch_read plan;

	(void)state;
	assert_true(patch_read_open(&plan, sample, SAMPLE));
	assert_true(patch_read_image(&plan, &image));
	assert_int_equal(image.kind, PATCH_LIBRARY);
	assert_string_equal(image.name, "a.o");
	assert_false(image.warned);
	assert_int_equal(image.functions, 1);
	assert_true(patch_read_function(&plan, &f));
	assert_int_equal(f.entry.address, 4096);
	assert_int_equal(f.entry.size, 16);
	assert_true(f.entry.check == UINT64_C(0x0807060504030201));
	assert_int_equal(f.entry.flags, PATCH_KEEPS_ALL);
	assert_int_equal(f.entry.shape.op, PATCH_REALLOC);
	assert_int_equal(f.entry.shape.count, 1);
	assert_int_equal(f.entry.displaced, PATCH_JUMP);
	assert_int_equal(f.entry.code_size, 6);
	assert_int_equal(f.entry.fix_count, 1);
	assert_int_equal(f.fixes[0].target, 4101);
	assert_false(patch_read_image(&plan, &image));
	assert_false(plan.bad);
}

/* Each limit alone. */
static void test_broken_functions(void **state)
{
	struct patch_function good, f;
	struct patch_image image;
	struct patch_read plan;

	(void)state;
	assert_true(patch_read_open(&plan, sample, sizeof(sample)));
	assert_true(patch_read_image(&plan, &image));
	assert_true(patch_read_function(&plan, &good));
	assert_true(patch_function_is_valid(&good));
#define BREAK(field, value) \
	f = good; \
	f.field = (value); \
	assert_false(patch_function_is_valid(&f))
	BREAK(entry.size, 0);
	BREAK(entry.size, PATCH_SIZE_MAX + 1);
	BREAK(entry.address, UINT64_MAX);
	BREAK(entry.displaced, PATCH_JUMP - 1);
	BREAK(entry.displaced, PATCH_DISPLACED_MAX + 1);
	BREAK(entry.shape.op, PATCH_OPS);
	BREAK(entry.shape.block, PATCH_NONE + 1);
	BREAK(entry.shape.size, PATCH_NONE + 1);
	BREAK(entry.shape.count, PATCH_NONE + 1);
	BREAK(fixes[0].kind, PATCH_FIX_KINDS);
	BREAK(fixes[0].at, good.entry.code_size);
#undef BREAK
}

/* Reads all of it; whether it was whole. What comes out is inside limits. */
static bool read_all(const uint8_t *bytes, size_t size)
{
	struct patch_function f;
	struct patch_image image;
	struct patch_read plan;

	if (!patch_read_open(&plan, bytes, size))
		return false;
	while (patch_read_image(&plan, &image)) {
		assert_in_range(image.kind, PATCH_PROGRAM, PATCH_LIBRARY);
		assert_true(strlen(image.name) <= PATCH_NAME_MAX);
		assert_true(image.functions <= PATCH_FUNCTIONS_MAX);
		for (uint32_t i = 0; i < image.functions; i++) {
			if (!patch_read_function(&plan, &f))
				return false;
			assert_in_range(f.entry.displaced, PATCH_JUMP,
					PATCH_DISPLACED_MAX);
			assert_in_range(f.entry.code_size, 1, PATCH_CODE_MAX);
			assert_true(f.entry.shape.op < PATCH_OPS);
			assert_true(f.entry.shape.block <= PATCH_NONE &&
				    f.entry.shape.size <= PATCH_NONE &&
				    f.entry.shape.count <= PATCH_NONE);
			for (unsigned n = 0; n < f.entry.fix_count; n++)
				assert_true(f.fixes[n].at + 4 +
					    f.fixes[n].tail <= f.entry.code_size);
		}
	}
	return !plan.bad;
}

static void test_damaged(void **state)
{
	(void)state;
	assert_true(read_all(sample, sizeof(sample)));
	/* behind the version there may be no image */
	assert_true(read_all(sample, 1));
	for (size_t size = 0; size < sizeof(sample); size++) {
		/* of its own, so that a sanitizer sees a step too far */
		uint8_t *cut = malloc(size ? size : 1);

		memcpy(cut, sample, size);
		assert_true(read_all(cut, size) == (size == 1));
		free(cut);
	}
	for (size_t at = 0; at < sizeof(sample); at++) {
		for (unsigned value = 0; value < 256; value++) {
			uint8_t changed[sizeof(sample)];

			memcpy(changed, sample, sizeof(sample));
			changed[at] = (uint8_t)value;
			read_all(changed, sizeof(sample));
		}
	}
}

static void test_limits(void **state)
{
	struct sample changed = whole;

	(void)state;
	/* a jump needs room; the wrapper would follow argument number 6 */
	changed.entry.displaced = PATCH_JUMP - 1;
	assert_false(read_all((uint8_t *)&changed, SAMPLE));
	changed = whole;
	changed.entry.shape.op = PATCH_POINTER;
	assert_true(read_all((uint8_t *)&changed, SAMPLE));
	changed.entry.shape.block = PATCH_NONE;
	assert_false(read_all((uint8_t *)&changed, SAMPLE));
	changed = whole;
	memset(changed.image.name, 'x', sizeof(changed.image.name));
	assert_false(read_all((uint8_t *)&changed, SAMPLE));
}

static void test_whole(void **state)
{
	uint8_t bytes[sizeof(sample) + PATCH_CHECK];
	uint64_t check = patch_hash(sample, sizeof(sample));

	(void)state;
	memcpy(bytes, sample, sizeof(sample));
	memcpy(bytes + sizeof(sample), &check, PATCH_CHECK);
	assert_true(patch_read_is_whole(bytes, sizeof(bytes)));
	for (size_t size = 0; size < sizeof(bytes); size++)
		assert_false(patch_read_is_whole(bytes, size));
	for (size_t at = 0; at < sizeof(bytes); at++) {
		bytes[at] ^= 1;
		assert_false(patch_read_is_whole(bytes, sizeof(bytes)));
		bytes[at] ^= 1;
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_decode),
		cmocka_unit_test(test_sample),
		cmocka_unit_test(test_broken_functions),
		cmocka_unit_test(test_damaged),
		cmocka_unit_test(test_limits),
		cmocka_unit_test(test_whole),
	};

	memcpy(sample, &whole, SAMPLE);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
