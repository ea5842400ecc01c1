/*
 * Tests of preload/live.c: the budget, what is said when it, or the disk, has
 * no more, and that limits only cover what was reserved.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "preload/live.h"

#define MIB (UINT64_C(1) << 20)

static char dir[64];

static int make_dir(void **state)
{
	(void)state;
	strcpy(dir, "/tmp/gnomon-unit-live-XXXXXX");
	return mkdtemp(dir) ? 0 : -1;
}

static int remove_dir(void **state)
{
	(void)state;
	return rmdir(dir);
}

static void open_live(struct live *live, uint64_t memory)
{
	struct live_where where = {
		.live_dir = dir, .trace = "", .memory = memory, .pid = 1,
		.random = 7,
	};

	assert_int_equal(live_open(live, &where), 0);
}

static void close_live(struct live *live)
{
	live_unlink(live);
	munmap(live->header, live->size);
}

static uint64_t bytes_of(const struct live *live)
{
	struct stat st;

	assert_int_equal(fstat(live->fd, &st), 0);
	return st.st_blocks * UINT64_C(512);
}

static uint32_t limit_of(const struct live *live)
{
	return atomic_load(&live->header->node_limit);
}

/* Threads take all nodes that they are given, until there are no more. */
static void nodes_stay_within_the_budget(void **state)
{
	struct live live;
	unsigned rounds;

	(void)state;
	open_live(&live, 16 * MIB);
	for (rounds = 0; rounds < 100 && !live.nodes_refused; rounds++) {
		uint32_t last = limit_of(&live);

		memset(live_at(&live, live.header->nodes_offset), 1,
		       last * sizeof(struct gl_node));
		atomic_store(&live.header->node_count, last);
		live_ahead(&live);
		assert_true(live.nodes_refused || limit_of(&live) > last);
	}
	assert_true(live.nodes_refused);
	assert_in_range(limit_of(&live), 100000, live.nodes_max);
	assert_true(live.reserved <= live.budget);
	assert_true(bytes_of(&live) <= live.budget + 64 * 1024);
	close_live(&live);
}

static void all_parts_share_the_budget(void **state)
{
	struct live live;
	uint64_t at, data;

	(void)state;
	open_live(&live, 16 * MIB);
	live.budget = 4 * MIB;	/* of 8, so that no part's own end is met */
	data = live.header->data_offset;
	for (at = 0; !live_reserve(&live, data + at, data + at + MIB / 2);)
		at += MIB / 2;
	assert_true(at >= 2 * MIB && at < 4 * MIB);
	assert_int_equal(live_reserve(&live, data, data + MIB / 2), -ENOMEM);
	atomic_store(&live.header->node_count, limit_of(&live));
	atomic_store(&live.header->image_count, live.images_reserved);
	live_ahead(&live);
	assert_true(live.nodes_refused);
	close_live(&live);
}

/* The file may not grow: there is private memory, and the same limits. */
static void without_a_file(void **state)
{
	struct rlimit none = { 0, RLIM_INFINITY }, old;
	struct live live;

	(void)state;
	getrlimit(RLIMIT_FSIZE, &old);
	none.rlim_max = old.rlim_max;
	signal(SIGXFSZ, SIG_IGN);
	setrlimit(RLIMIT_FSIZE, &none);
	open_live(&live, 16 * MIB);
	setrlimit(RLIMIT_FSIZE, &old);
	assert_int_equal(live.fd, -1);
	assert_int_equal(live.err, -EFBIG);
	assert_string_equal(live.path, "");
	assert_int_equal(live_reserve(&live, live.header->data_offset,
				      live.header->data_offset + 9 * MIB),
			 -ENOMEM);
	assert_int_equal(live_reserve(&live, 0, live.size + 1), -ENOMEM);
	munmap(live.header, live.size);
}

/* A record is only given with its page, whoever asks for how many. */
static void images_ahead(void **state)
{
	uint64_t reserved;
	struct live live;

	(void)state;
	open_live(&live, 256 * MIB);
	reserved = live.images_reserved;
	live_ahead(&live);
	assert_int_equal(live.images_reserved, reserved);
	assert_false(live.images_refused);
	atomic_store(&live.header->image_count, reserved);
	live_ahead(&live);
	assert_true(live.images_reserved > reserved);
	assert_false(live.images_refused);
	live.budget = live.reserved;
	reserved = live.images_reserved;
	atomic_store(&live.header->image_count, reserved);
	live_ahead(&live);
	assert_int_equal(live.images_reserved, reserved);
	assert_true(live.images_refused);
	close_live(&live);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(nodes_stay_within_the_budget,
						make_dir, remove_dir),
		cmocka_unit_test_setup_teardown(all_parts_share_the_budget,
						make_dir, remove_dir),
		cmocka_unit_test_setup_teardown(without_a_file, make_dir,
						remove_dir),
		cmocka_unit_test_setup_teardown(images_ahead, make_dir,
						remove_dir),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
