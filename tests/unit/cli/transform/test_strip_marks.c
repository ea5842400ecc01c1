/*
 * test_strip_marks.c: marks of events, against an array; places that are far apart.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cli/transform/strip_marks.h"

#define STREAMS 4
#define UNITS 40000	/* of 16 bytes */

static unsigned marked[STREAMS][UNITS];

static void like_an_array(void **state)
{
	struct strip_marks marks;
	uint32_t streams[STREAMS];

	(void)state;
	srand(9);
	assert_int_equal(strip_marks_open(&marks, "/tmp"), 0);
	for (uint32_t i = 0; i < STREAMS; i++)
		streams[i] = strip_marks_stream(&marks, i / 2, i % 2);
	for (uint32_t i = 0; i < STREAMS; i++)
		assert_int_equal(strip_marks_stream(&marks, i / 2, i % 2),
				 streams[i]);
	for (unsigned n = 0; n < 60000; n++) {
		unsigned stream = (unsigned)rand() % STREAMS;
		unsigned unit = (unsigned)rand() % UNITS;
		enum strip_mark mark = rand() % 2 ? STRIP_DROP : STRIP_TELL;

		strip_marks_set(&marks, streams[stream],
				(uint64_t)unit * 16 + 8, mark);
		marked[stream][unit] |= mark;
	}
	for (unsigned stream = 0; stream < STREAMS; stream++)
		for (unsigned unit = 0; unit < UNITS; unit++)
			assert_int_equal(
				strip_marks_get(&marks, streams[stream],
						(uint64_t)unit * 16),
				marked[stream][unit]);
	assert_int_equal(marks.error, 0);
	strip_marks_close(&marks);
}

static void far_apart(void **state)
{
	struct strip_marks marks;
	uint32_t stream;

	(void)state;
	assert_int_equal(strip_marks_open(&marks, "/tmp"), 0);
	stream = strip_marks_stream(&marks, UINT32_MAX, UINT32_MAX);
	for (unsigned bit = 5; bit < 46; bit++)
		strip_marks_set(&marks, stream, UINT64_C(1) << bit, STRIP_DROP);
	for (unsigned bit = 5; bit < 46; bit++) {
		uint64_t at = UINT64_C(1) << bit;

		assert_int_equal(strip_marks_get(&marks, stream, at),
				 STRIP_DROP);
		assert_int_equal(strip_marks_get(&marks, stream, at + 16),
				 0);
	}
	assert_int_equal(marks.error, 0);
	assert_int_equal(strip_marks_get(&marks, stream, UINT64_MAX), 0);
	strip_marks_set(&marks, stream, UINT64_MAX, STRIP_DROP);
	assert_int_not_equal(marks.error, 0);	/* beyond what is numbered */
	strip_marks_close(&marks);
}

static void no_such_directory(void **state)
{
	struct strip_marks marks;

	(void)state;
	assert_true(strip_marks_open(&marks, "/nowhere/at/all") < 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(like_an_array),
		cmocka_unit_test(far_apart),
		cmocka_unit_test(no_such_directory),
	};

	return cmocka_run_group_tests_name("strip_marks", tests, NULL, NULL);
}
