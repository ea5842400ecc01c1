/* test_footprint.c: the series of memory usage, and snapshots. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <string.h>

#include "cli/model/stats/footprint.h"

static void peak_and_last(void **state)
{
	struct footprint f = { 0 };
	uint64_t stamp = 1;

	(void)state;
	assert_int_equal(footprint_peak(&f, GT_USAGE_RSS, &stamp), 0);
	assert_int_equal(stamp, 0);
	assert_int_equal(footprint_last(&f, GT_USAGE_RSS), 0);
	for (unsigned i = 0; i < 100; i++) {
		struct trace_usage point = { .stamp = i };

		point.value[GT_USAGE_RSS] = i < 60 ? i : 60 - i / 2;
		if (i == 50)
			point.value[GT_USAGE_FLAGS] = GT_USAGE_DETAILED;
		assert_int_equal(footprint_is_detailed(&f), i > 50);
		footprint_point(&f, &point);
	}
	assert_int_equal(footprint_peak(&f, GT_USAGE_RSS, &stamp), 59 * 1024);
	assert_int_equal(stamp, 59);
	assert_int_equal(footprint_last(&f, GT_USAGE_RSS), 11 * 1024);
	/* what a hostile trace says of the past is not believed */
	footprint_point(&f, &(struct trace_usage){ .stamp = 98 });
	assert_int_equal(f.point_count, 100);
	assert_int_equal(f.refused, 1);
	footprint_free(&f);
}

static void add(struct footprint *f, uint64_t number, uint64_t start,
		uint32_t flags)
{
	struct trace_mapping mapping = {
		.snapshot = number, .start = start, .size = 4096,
		.flags = flags, .path = "/lib/x.soY", .path_size = 9,
	};

	mapping.value[GT_MAPPING_OFFSET] = 5;
	mapping.value[GT_MAPPING_RSS] = 4;
	footprint_mapping(f, &mapping);
}

static void take(struct footprint *f, uint64_t number, uint32_t arenas)
{
	struct trace_snapshot snapshot = { .number = number, .name = "n!",
					   .name_size = 1, .arenas = arenas };

	footprint_snapshot(f, &snapshot);
}

static void snapshots_own_their_mappings(void **state)
{
	struct footprint f = { 0 };

	(void)state;
	add(&f, 1, 0x1000, 0);
	add(&f, 1, 0x2000, GT_MAPPING_OURS);
	take(&f, 1, GT_ARENAS_TAKEN);
	add(&f, 2, 0x1000, 0);		/* never taken */
	add(&f, 3, 0x3000, 0);
	take(&f, 3, GT_ARENAS_NOT_SAFE);
	add(&f, 4, 0x4000, 0);		/* of another one than is taken */
	take(&f, 5, GT_ARENAS_FOREIGN);
	assert_int_equal(f.snapshot_count, 3);
	assert_int_equal(f.snapshots[0].count, 2);
	assert_int_equal(f.snapshots[0].all.mappings, 2);
	assert_int_equal(f.snapshots[0].all.size, 8192);
	assert_int_equal(f.snapshots[0].all.value[GT_MAPPING_RSS], 8192);
	assert_int_equal(f.snapshots[0].all.value[GT_MAPPING_OFFSET], 0);
	assert_int_equal(f.snapshots[0].ours.mappings, 1);
	assert_string_equal(f.snapshots[0].name, "n");
	assert_int_equal(f.snapshots[1].first, 2);
	assert_int_equal(f.snapshots[1].count, 1);
	assert_int_equal(f.mappings[2].start, 0x3000);
	assert_string_equal(f.mappings[2].path, "/lib/x.so");
	assert_int_equal(f.snapshots[2].count, 0);
	assert_int_equal(f.snapshots[2].all.mappings, 0);
	assert_ptr_equal(footprint_arenas(&f), &f.snapshots[0]);
	footprint_free(&f);
}

static bool take_whole(struct footprint *f, uint64_t number, uint64_t mappings,
		       uint32_t flags)
{
	struct trace_snapshot snapshot = { .number = number, .name = "n!",
					   .name_size = 1, .flags = flags,
					   .mappings = mappings };

	footprint_snapshot(f, &snapshot);
	return footprint_is_whole(f, &f->snapshots[f->snapshot_count - 1]);
}

static void whole_ones(void **state)
{
	struct footprint f = { 0 };

	(void)state;
	add(&f, 1, 0x1000, 0);
	add(&f, 1, 0x2000, 0);
	add(&f, 1, 0x8000, 0);
	assert_true(take_whole(&f, 1, 3, GT_SNAPSHOT_WHOLE));
	add(&f, 2, 0x1000, 0);
	assert_false(take_whole(&f, 2, 1, 0));
	add(&f, 3, 0x1000, 0);
	assert_false(take_whole(&f, 3, 2, GT_SNAPSHOT_WHOLE));
	assert_false(take_whole(&f, 4, 0, GT_SNAPSHOT_WHOLE));
	/* over each other, and beyond all addresses */
	add(&f, 5, 0x2000, 0);
	add(&f, 5, 0x1001, 0);
	assert_false(take_whole(&f, 5, 2, GT_SNAPSHOT_WHOLE));
	add(&f, 6, UINT64_MAX - 4095, 0);
	assert_false(take_whole(&f, 6, 1, GT_SNAPSHOT_WHOLE));
	footprint_free(&f);
}

static void broken_ones(void **state)
{
	struct footprint f = { 0 };

	(void)state;
	assert_true(footprint_is_valid(&f));
	for (unsigned i = 0; i < 3; i++)
		footprint_point(&f, &(struct trace_usage){ .stamp = i });
	add(&f, 1, 0, 0);
	take(&f, 1, 0);
	add(&f, 2, 0, 0);
	take(&f, 2, 0);
	assert_true(footprint_is_valid(&f));
	f.points[2].stamp = 0;
	assert_false(footprint_is_valid(&f));
	f.points[2].stamp = 2;
	f.snapshots[1].first++;
	assert_false(footprint_is_valid(&f));
	f.snapshots[1].first--;
	f.snapshots[1].count++;
	assert_false(footprint_is_valid(&f));
	f.snapshots[1].count--;
	f.mapping_count--;
	assert_false(footprint_is_valid(&f));
	f.mapping_count++;
	assert_true(footprint_is_valid(&f));
	footprint_free(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(peak_and_last),
		cmocka_unit_test(snapshots_own_their_mappings),
		cmocka_unit_test(whole_ones),
		cmocka_unit_test(broken_ones),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
