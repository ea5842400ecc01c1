/* test_usage.c: when the target's memory is looked at, and what is written.
 * The process looked at is the test itself. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cli/trace/decode/memory_records.h"
#include "cli/trace/decode/scan.h"
#include "preload/ring/area.h"
#include "cli/recorder/memory/usage.h"
#include "cli/recorder/process/target_file.h"

#define MS UINT64_C(1000000)
#define STEP (10 * MS)		/* between calls, as the recorder makes them */
#define POINTS 1000
#define MIB (1u << 20)

static struct usage usage;
static struct chunk_out out;
static int fd;
static uint64_t now;
static struct trace_usage points[POINTS];

static int each(void **state)
{
	int32_t file[GL_FILES] = { -1, -1, -1, -1, -1, -1 };
	char name[] = "/tmp/gnomon-test-usage.XXXXXX";

	(void)state;
	file[GL_FILE_ROLLUP] = open("/proc/self/smaps_rollup", O_RDONLY);
	target_file_init(file, getpid());
	fd = mkstemp(name);
	unlink(name);
	now = 1000 * MS;
	if (fd < 0 || chunk_open(&out, fd, 1, 65536))
		return -1;
	usage_init(&usage, &out, getpid(), 4);
	return 0;
}

static int done(void **state)
{
	(void)state;
	close(target_file(GL_FILE_ROLLUP));
	return close(fd);
}

static void pass(uint64_t ns)
{
	for (uint64_t end = now + ns; now < end; now += STEP)
		usage_poll(&usage, now);
}

/* What is in the file. */
static size_t read_points(void)
{
	struct inflater inflater = { 0 };
	struct chunk chunk;
	struct scan scan;
	size_t n = 0;

	lseek(fd, 0, SEEK_SET);
	memset(&scan, 0, sizeof(scan));
	assert_int_equal(scan_open(&scan, dup(fd)), SCAN_OPEN_OK);
	while (scan_next(&scan, &chunk)) {
		struct usage_decoder decoder;
		struct cursor c;

		assert_int_equal(chunk.type, GT_USAGE);
		assert_int_equal(inflater_payload(&inflater, &chunk, &c), 0);
		usage_decoder_open(&decoder, &c);
		while (n < POINTS &&
		       usage_decoder_next(&decoder, &c, &points[n]))
			n++;
		assert_false(c.bad);
	}
	inflater_free(&inflater);
	scan_close(&scan);
	lseek(fd, 0, SEEK_END);
	return n;
}

static uint64_t value(size_t i, enum gt_usage_value which)
{
	return points[i].value[which];
}

static void pauses_follow_the_cost(void **state)
{
	(void)state;
	assert_int_equal(usage_gap_ns(0), 100 * MS);
	assert_in_range(usage_gap_ns(MS / 10), 100 * MS, 103 * MS);
	for (uint64_t cost = MS / 4; cost < 2000 * MS; cost += MS / 4) {
		assert_true(usage_gap_ns(cost) >= 1024 * cost);
		assert_true(usage_gap_ns(cost) >= usage_gap_ns(cost - 1));
	}
	/* long ones are rarer than that, up to a minute */
	assert_int_equal(usage_gap_ns(24 * MS), 1024 * 36 * MS);
	assert_int_equal(usage_gap_ns(48 * MS), 60000 * MS);
	assert_int_equal(usage_gap_ns(1000 * MS), 1024000 * MS);
}

static void at_rest_little_is_written(void **state)
{
	size_t n;

	(void)state;
	pass(10000 * MS);
	usage_last(&usage, NULL);
	usage_finish(&usage);
	n = read_points();
	/* some until it is seen to be at rest, then one a second */
	assert_in_range(n, 10, 25);
	assert_true(usage.looks > n);
	assert_int_equal(value(0, GT_USAGE_FLAGS), GT_USAGE_DETAILED);
	assert_int_equal(value(n - 1, GT_USAGE_FLAGS), GT_USAGE_DETAILED);
	assert_true(value(0, GT_USAGE_RSS) > 500);
	assert_true(value(0, GT_USAGE_SIZE) > value(0, GT_USAGE_RSS));
	assert_true(value(0, GT_USAGE_RSS) >= value(0, GT_USAGE_PSS));
	assert_true(value(0, GT_USAGE_FAULTS_MINOR) > 0);
	for (size_t i = 1; i < n; i++)
		assert_true(points[i].stamp > points[i - 1].stamp);
}

static void what_moves_is_seen(void **state)
{
	static const size_t size = 16 * MIB;
	char *at;
	size_t before, n;

	(void)state;
	pass(5000 * MS);	/* at rest */
	before = usage.looks;
	at = mmap(NULL, size, PROT_READ | PROT_WRITE,
		  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	pass(110 * MS);
	memset(at, 1, size);
	/* both kinds, within two looks, though a detailed one was far off */
	pass(220 * MS);
	munmap(at, size);
	assert_in_range(usage.looks - before, 2, 4);
	usage_last(&usage, NULL);
	usage_finish(&usage);
	n = read_points();
	assert_true(n > 3);
	/* …, mapped, touched (perhaps twice), gone */
	for (size_t i = n - 2; i > 0; i--) {
		if (value(i, GT_USAGE_RSS) < value(n - 1, GT_USAGE_RSS) + 16000)
			continue;
		assert_in_range(value(i, GT_USAGE_ANONYMOUS) -
				value(n - 1, GT_USAGE_ANONYMOUS), 16000, 18000);
		assert_in_range(value(i, GT_USAGE_SIZE) -
				value(n - 1, GT_USAGE_SIZE), 16000, 18000);
		return;
	}
	fail_msg("16 MiB were not seen");
}

static void known_sums_are_not_read_again(void **state)
{
	struct smaps sums = { { 0 } };
	size_t n;

	(void)state;
	sums.kib[SMAPS_PSS] = 123;
	sums.kib[SMAPS_PRIVATE_DIRTY] = 456;
	usage_last(&usage, &sums);
	usage_finish(&usage);
	n = read_points();
	assert_int_equal(n, 1);
	assert_int_equal(value(0, GT_USAGE_PSS), 123);
	assert_int_equal(value(0, GT_USAGE_PRIVATE_DIRTY), 456);
	assert_int_equal(value(0, GT_USAGE_FLAGS), GT_USAGE_DETAILED);
}

static int area_there(void **state)
{
	(void)state;
	return area_map(64u << 20);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pauses_follow_the_cost),
		cmocka_unit_test_setup_teardown(at_rest_little_is_written,
						each, done),
		cmocka_unit_test_setup_teardown(what_moves_is_seen, each,
						done),
		cmocka_unit_test_setup_teardown(known_sums_are_not_read_again,
						each, done),
	};

	return cmocka_run_group_tests(tests, area_there, NULL);
}
