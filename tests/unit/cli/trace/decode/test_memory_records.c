/* test_memory_records.c: USAGE and SNAPSHOT payloads, right and hostile. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "cli/trace/decode/memory_records.h"
#include "cli/recorder/emit/varint.h"

static uint8_t bytes[1 << 16];

static uint8_t *put(uint8_t *to, unsigned count, const uint64_t *values)
{
	for (unsigned i = 0; i < count; i++)
		to = varint_put(to, values[i]);
	return to;
}

static uint8_t *put_column(uint8_t *to, const uint8_t *column, size_t n)
{
	to = varint_put(to, n);
	to = varint_put(to, n);
	memcpy(to, column, n);
	return to + n;
}

static void points_are_steps(void **state)
{
	struct usage_decoder decoder;
	struct trace_usage point;
	uint8_t *to = bytes;
	struct cursor c;

	(void)state;
	/* two values more than we know */
	to = varint_put(to, GT_USAGE_VALUES + 2);
	for (unsigned k = 0; k < 3; k++) {
		to = varint_put(to, 100 + k);
		for (unsigned i = 0; i < GT_USAGE_VALUES + 2; i++)
			to = varint_put(to, varint_zigzag(k == 2 ? -5 : 10));
	}
	c = cursor_over(bytes, to - bytes);
	usage_decoder_open(&decoder, &c);
	assert_true(usage_decoder_next(&decoder, &c, &point));
	assert_int_equal(point.stamp, 100);
	assert_int_equal(point.value[GT_USAGE_RSS], 10);
	assert_true(usage_decoder_next(&decoder, &c, &point));
	assert_true(usage_decoder_next(&decoder, &c, &point));
	assert_int_equal(point.stamp, 303);
	for (unsigned i = 0; i < GT_USAGE_VALUES; i++)
		assert_int_equal(point.value[i], 15);
	assert_false(usage_decoder_next(&decoder, &c, &point));
	assert_false(c.bad);
}

static void fewer_values_are_zero(void **state)
{
	static const uint64_t two[] = { 2, 7, 2, 4 };
	struct usage_decoder decoder;
	struct trace_usage point;
	struct cursor c = cursor_over(bytes, put(bytes, 4, two) - bytes);

	(void)state;
	usage_decoder_open(&decoder, &c);
	assert_true(usage_decoder_next(&decoder, &c, &point));
	assert_int_equal(point.stamp, 7);
	assert_int_equal(point.value[0], 1);
	assert_int_equal(point.value[1], 2);
	assert_int_equal(point.value[2], 0);
	assert_false(usage_decoder_next(&decoder, &c, &point));
	assert_false(c.bad);
}

static size_t put_mappings(unsigned values)
{
	static const char path[] = "/lib/x.so";
	uint8_t rows[1024], *row = rows, *to = bytes;
	const uint64_t head[] = { GT_SNAPSHOT_MAPPINGS, 3, values, 3 };

	for (unsigned k = 0; k < 3; k++) {
		row = varint_put(row, k ? 1 : 0x400);	/* pages between */
		row = varint_put(row, k + 1);		/* pages */
		row = varint_put(row, GT_MAPPING_READ);
		for (unsigned i = 0; i < values; i++)
			row = varint_put(row, 10 * k + i);
		row = varint_put(row, k == 0 ? sizeof(path) - 1 + 2 :
				      k == 1 ? 1 : 0);
		if (k == 0) {
			memcpy(row, path, sizeof(path) - 1);
			row += sizeof(path) - 1;
		}
	}
	to = put(to, 4, head);
	return put_column(to, rows, row - rows) - bytes;
}

static void mappings_follow_each_other(void **state)
{
	struct snapshot_decoder decoder = { 0 };
	struct inflater inflater = { 0 };
	struct trace_mapping m[3];
	bool bad;

	(void)state;
	for (unsigned values = 0; values < GT_MAPPING_VALUES + 3; values++) {
		struct cursor c = cursor_over(bytes, put_mappings(values));

		assert_int_equal(snapshot_decoder_open(&decoder, &c,
						       &inflater),
				 GT_SNAPSHOT_MAPPINGS);
		for (unsigned i = 0; i < 3; i++)
			assert_true(snapshot_decoder_next(&decoder, &m[i],
							  &bad));
		assert_int_equal(m[0].start, 0x400000);
		assert_int_equal(m[1].start, 0x402000);
		assert_int_equal(m[2].start, 0x405000);
		assert_int_equal(m[2].size, 3 * 4096);
		assert_int_equal(m[2].snapshot, 3);
		assert_int_equal(m[1].value[GT_MAPPING_RSS],
				 values > GT_MAPPING_RSS ?
					 10 + GT_MAPPING_RSS : 0);
		assert_int_equal(m[1].path_size, 9);
		assert_memory_equal(m[1].path, "/lib/x.so", 9);
		assert_int_equal(m[2].path_size, 0);
		assert_false(snapshot_decoder_next(&decoder, &m[0], &bad));
		assert_false(bad);
	}
	columns_free(&decoder.columns);
	inflater_free(&inflater);
}

static size_t put_taken(void)
{
	static const uint64_t head[] = { GT_SNAPSHOT_TAKEN, 9,
					 GT_SNAPSHOT_LAST, GT_SNAPSHOT_WHOLE,
					 1000, 1010, 77, 3 };
	static const uint64_t tail[] = { GT_ARENAS_TAKEN, 1005, 3, 1, 2, 3 };
	uint8_t *to = put(bytes, 8, head);

	memcpy(to, "end", 3);
	return put(to + 3, 6, tail) - bytes;
}

static void a_snapshot_is_described(void **state)
{
	struct snapshot_decoder decoder = { 0 };
	struct cursor c = cursor_over(bytes, put_taken());
	struct trace_snapshot s;

	(void)state;
	assert_int_equal(snapshot_decoder_open(&decoder, &c, NULL),
			 GT_SNAPSHOT_TAKEN);
	assert_true(snapshot_decoder_taken(&c, &s));
	assert_int_equal(cursor_left(&c), 0);
	assert_int_equal(s.number, 9);
	assert_int_equal(s.kind, GT_SNAPSHOT_LAST);
	assert_int_equal(s.flags, GT_SNAPSHOT_WHOLE);
	assert_int_equal(s.begin, 1000);
	assert_int_equal(s.end, 1010);
	assert_int_equal(s.mappings, 77);
	assert_int_equal(s.name_size, 3);
	assert_memory_equal(s.name, "end", 3);
	assert_int_equal(s.arenas_stamp, 1005);
	assert_int_equal(s.arenas_value[GT_ARENAS_FREE], 3);
	assert_int_equal(s.arenas_value[GT_ARENAS_FAST], 0);
}

static void read_all(const uint8_t *data, size_t size)
{
	struct snapshot_decoder decoder = { 0 };
	struct inflater inflater = { 0 };
	struct cursor c = cursor_over(data, size);
	struct usage_decoder usage;
	struct trace_snapshot snapshot;
	struct trace_mapping mapping;
	struct trace_usage point;
	bool bad;

	switch (snapshot_decoder_open(&decoder, &c, &inflater)) {
	case GT_SNAPSHOT_TAKEN:
		if (snapshot_decoder_taken(&c, &snapshot) &&
		    snapshot.name_size)
			assert_true(snapshot.name >= (const char *)data);
		break;
	case GT_SNAPSHOT_MAPPINGS:
		while (snapshot_decoder_next(&decoder, &mapping, &bad))
			assert_true(mapping.path_size <= GT_PATH_MAX);
		break;
	}
	columns_free(&decoder.columns);
	inflater_free(&inflater);
	c = cursor_over(data, size);
	usage_decoder_open(&usage, &c);
	while (usage_decoder_next(&usage, &c, &point))
		;
}

/* Every payload cut anywhere, and with any byte exchanged. */
static void hostile_bytes(void **state)
{
	uint8_t copy[2048];
	unsigned seed = 1;

	(void)state;
	for (unsigned kind = 0; kind < 2; kind++) {
		size_t size = kind ? put_taken() :
				     put_mappings(GT_MAPPING_VALUES);

		assert_true(size < sizeof(copy));
		for (size_t cut = 0; cut <= size; cut++) {
			/* of its own size, for a sanitizer to watch */
			uint8_t *exact = malloc(cut + 1);

			memcpy(exact, bytes, cut);
			read_all(exact, cut);
			free(exact);
		}
		for (unsigned i = 0; i < 20000; i++) {
			memcpy(copy, bytes, size);
			seed = seed * 1103515245u + 12345u;
			copy[seed % size] = (uint8_t)(seed >> 16);
			seed = seed * 1103515245u + 12345u;
			copy[seed % size] = (uint8_t)(seed >> 16);
			read_all(copy, size);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(points_are_steps),
		cmocka_unit_test(fewer_values_are_zero),
		cmocka_unit_test(mappings_follow_each_other),
		cmocka_unit_test(a_snapshot_is_described),
		cmocka_unit_test(hostile_bytes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
