/* test_xxh64.c: our hash against the reference library. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <xxhash.h>

#include "cli/recorder/base/xxh64.h"

#define ROOM 1000

static uint8_t data[ROOM];

static void fill(void)
{
	uint32_t seed = 12345;
	unsigned i;

	for (i = 0; i < ROOM; i++) {
		seed = seed * 1103515245 + 12345;
		data[i] = seed >> 16;
	}
}

static void every_length_and_seed(void **state)
{
	static const uint64_t seeds[] = { 0, 1, UINT64_C(0x9e3779b97f4a7c15) };
	struct xxh64 h;
	unsigned n, s;

	(void)state;
	fill();
	for (s = 0; s < 3; s++) {
		for (n = 0; n <= ROOM; n++) {
			xxh64_init(&h, seeds[s]);
			xxh64_update(&h, data, n);
			assert_int_equal(xxh64_digest(&h),
					 XXH64(data, n, seeds[s]));
		}
	}
}

static void pieces_make_the_whole(void **state)
{
	unsigned step;

	(void)state;
	fill();
	for (step = 1; step < 100; step++) {
		struct xxh64 h;
		unsigned at;

		xxh64_init(&h, 7);
		for (at = 0; at < ROOM; at += step)
			xxh64_update(&h, data + at,
				     ROOM - at < step ? ROOM - at : step);
		assert_int_equal(xxh64_digest(&h), XXH64(data, ROOM, 7));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_length_and_seed),
		cmocka_unit_test(pieces_make_the_whole),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
