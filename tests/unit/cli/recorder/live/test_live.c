/*
 * test_live.c: attaching to what the target has made, of which nothing is
 * believed; the budget, what is said when it, or the disk, has no more, and that
 * limits only cover what was reserved.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "tests/unit/live_builder.h"

static struct live_made made;
static struct live live;

static void open_live(uint64_t memory)
{
	assert_int_equal(live_make_in(&made, live_directory, memory,
				      LIVE_RING), 0);
	assert_true(made.fd >= 0);
	assert_int_equal(live_attach_to(&live, &made), 0);
}

static uint64_t bytes_of(int fd)
{
	struct stat st;

	assert_int_equal(fstat(fd, &st), 0);
	return st.st_blocks * UINT64_C(512);
}

static uint32_t limit_of(void)
{
	return atomic_load(&live.header->node_limit);
}

static void both_see_the_same(void **state)
{
	(void)state;
	open_live(16 * MIB);
	assert_ptr_not_equal(made.header, live.header);
	assert_int_equal(live.size, made.header->size);
	assert_int_equal(live.budget, 8 * MIB);
	assert_int_equal(live.reserved, made.reserved);
	assert_string_equal(live.path, made.path);
	made.header->pid = 4711;
	assert_int_equal(live.header->pid, 4711);
	live_unlink(&live);
	assert_int_equal(access(made.path, F_OK), -1);
	assert_string_equal(live.path, "");
	live_unlink(&live);	/* once more is no harm */
	live_drop(&made, &live);
}

/* Where files may not grow. */
static void a_segment(void **state)
{
	struct rlimit none, old;

	(void)state;
	getrlimit(RLIMIT_FSIZE, &old);
	none = old;
	none.rlim_cur = 0;
	setrlimit(RLIMIT_FSIZE, &none);
	assert_int_equal(live_make_in(&made, "/nonexistent", 16 * MIB,
				      LIVE_RING), 0);
	setrlimit(RLIMIT_FSIZE, &old);
	assert_int_equal(live_attach_to(&live, &made), 0);
	assert_int_equal(live.fd, -1);
	assert_int_equal(live.err, -ENOENT);
	assert_string_equal(live.path, "");
	assert_int_equal(live.size, made.header->size);
	made.header->pid = 4711;
	assert_int_equal(live.header->pid, 4711);
	/* the same limits */
	assert_int_equal(live_reserve(&live, live.shape.data_offset,
				      live.shape.data_offset + 9 * MIB),
			 -ENOMEM);
	assert_int_equal(live_reserve(&live, 0, live.size + 1), -ENOMEM);
	live_drop(&made, &live);
}

static void a_file_without_a_name(void **state)
{
	(void)state;
	assert_int_equal(live_make_in(&made, "/nonexistent", 16 * MIB,
				      LIVE_RING), 0);
	assert_int_equal(live_attach_to(&live, &made), 0);
	assert_true(live.fd >= 0);
	assert_int_equal(live.err, -ENOENT);
	assert_string_equal(live.path, "");
	made.header->pid = 4711;
	assert_int_equal(live.header->pid, 4711);
	live_unlink(&live);
	live_drop(&made, &live);
}

static void nothing_to_attach_to(void **state)
{
	int null = open("/dev/null", O_RDWR), pipes[2];

	(void)state;
	assert_int_equal(live_attach(&live, -1, -1, ""), -EINVAL);
	assert_int_equal(live_attach(&live, 1000000, -1, ""), -EBADF);
	assert_true(live_attach(&live, null, -1, "") < 0);
	assert_int_equal(pipe(pipes), 0);
	assert_true(live_attach(&live, pipes[0], -1, "") < 0);
	close(null);
	close(pipes[0]);
	close(pipes[1]);
}

/* ---- what is wrong with a header ---- */

static bool is_refused(const char *what)
{
	int err = live_attach_to(&live, &made);

	if (err != -EINVAL)
		print_error("%s: %d\n", what, err);
	if (live.fd >= 0)
		close(live.fd);
	return err == -EINVAL;
}

static void offsets_are_checked_one_by_one(void **state)
{
	static const struct {
		const char *name;
		size_t at;
	} offsets[] = {
		{ "shared", offsetof(struct gl_header, shared_offset) },
		{ "images", offsetof(struct gl_header, images_offset) },
		{ "nodes", offsetof(struct gl_header, nodes_offset) },
		{ "rings", offsetof(struct gl_header, rings_offset) },
		{ "data", offsetof(struct gl_header, data_offset) },
	};
	unsigned i, j, wrong = 0;

	(void)state;
	open_live(16 * MIB);
	for (i = 0; i < sizeof(offsets) / sizeof(*offsets); i++) {
		uint64_t *word = (uint64_t *)((char *)made.header +
					      offsets[i].at);
		const uint64_t right = *word, size = made.header->size;
		const uint64_t values[] = {
			0, right + 1, right - 8, right + 2048, size,
			size + GL_PAGE, size - 1, UINT64_MAX,
			UINT64_MAX - GL_PAGE + 1, UINT64_C(1) << 63,
			/* into the part before it, and after it */
			i ? *(uint64_t *)((char *)made.header +
					  offsets[i - 1].at) : GL_PAGE / 2,
			size - GL_PAGE,
		};

		for (j = 0; j < sizeof(values) / sizeof(*values); j++) {
			*word = values[j];
			wrong += !is_refused(offsets[i].name);
		}
		*word = right;
	}
	assert_int_equal(wrong, 0);
	assert_int_equal(live_attach_to(&live, &made), 0);
	live_drop(&made, &live);
}

static void numbers_are_checked(void **state)
{
	struct gl_header *h;

	(void)state;
	open_live(16 * MIB);
	h = made.header;
	h->version++;
	assert_true(is_refused("version"));
	h->version--;
	h->header_size--;
	assert_true(is_refused("header size"));
	h->header_size++;
	h->size += GL_PAGE;
	assert_true(is_refused("a size above the file's"));
	h->size -= 2 * GL_PAGE;
	assert_true(is_refused("a size below the file's"));
	h->size += GL_PAGE;
	assert_int_equal(live_attach_to(&live, &made), 0);
	live_drop(&made, &live);
}

static void a_file_that_was_cut(void **state)
{
	const uint64_t sizes[] = { 0, 1, sizeof(struct gl_header) - 1,
				   sizeof(struct gl_header), 1 * MIB };
	unsigned i;
	uint64_t size;

	(void)state;
	open_live(16 * MIB);
	size = live.size;
	for (i = sizeof(sizes) / sizeof(*sizes); i--;) {
		assert_int_equal(ftruncate(made.fd, sizes[i]), 0);
		assert_true(is_refused("cut"));
	}
	/* all of it is there again, and 0 */
	assert_int_equal(ftruncate(made.fd, size), 0);
	assert_true(is_refused("empty"));
	unlink(made.path);
}

/* Numbers that the target tells are the target's. */
static void a_budget_that_is_spent(void **state)
{
	struct gl_setup *setup;

	(void)state;
	open_live(16 * MIB);
	setup = &live_shared_of(&made)->setup;
	setup->budget = MIB;
	setup->reserved = 2 * MIB;
	live_shared_of(&made)->image_limit = UINT32_MAX;
	close(live.fd);
	assert_int_equal(live_attach_to(&live, &made), 0);
	assert_true(live.images_reserved <= GL_IMAGES_MAX);
	assert_int_equal(live_reserve(&live, live.shape.data_offset,
				      live.shape.data_offset + GL_PAGE),
			 -ENOMEM);
	live_ahead(&live);
	live_drop(&made, &live);
}

/* What was checked stays, whatever becomes of the header. */
static void the_shape_is_a_copy(void **state)
{
	uint64_t limit;

	(void)state;
	open_live(16 * MIB);
	made.header->nodes_offset = UINT64_MAX;
	made.header->images_offset = UINT64_MAX;
	atomic_store(&made.header->node_count, limit_of());
	limit = limit_of();
	live_ahead(&live);
	assert_false(live.nodes_refused);
	assert_true(limit_of() > limit);
	live_drop(&made, &live);
}

static void counters_may_be_anything(void **state)
{
	static const uint32_t values[] = { 0, 1, INT32_MAX, UINT32_MAX - 1,
					   UINT32_MAX };
	unsigned i, j, k;

	(void)state;
	open_live(16 * MIB);
	for (i = 0; i < 5; i++)
		for (j = 0; j < 5; j++)
			for (k = 0; k < 5; k++) {
				atomic_store(&made.header->node_limit,
					     values[i]);
				atomic_store(&made.header->node_count,
					     values[j]);
				atomic_store(&made.header->image_count,
					     values[k]);
				live_ahead(&live);
			}
	assert_true(live.reserved <= live.budget);
	assert_true(bytes_of(live.fd) <= live.budget + 64 * 1024);
	assert_true(live.images_reserved <= GL_IMAGES_MAX);
	live_drop(&made, &live);
}

/* ---- room ---- */

/* Threads take all nodes that they are given, until there are no more. */
static void nodes_stay_within_the_budget(void **state)
{
	unsigned rounds;

	(void)state;
	open_live(16 * MIB);
	for (rounds = 0; rounds < 100 && !live.nodes_refused; rounds++) {
		uint32_t last = limit_of();

		memset((char *)made.header + made.header->nodes_offset, 1,
		       last * sizeof(struct gl_node));
		atomic_store(&made.header->node_count, last);
		live_ahead(&live);
		assert_true(live.nodes_refused || limit_of() > last);
	}
	assert_true(live.nodes_refused);
	assert_in_range(limit_of(), 100000, live.nodes_max);
	assert_true(live.reserved <= live.budget);
	assert_true(bytes_of(live.fd) <= live.budget + 64 * 1024);
	live_drop(&made, &live);
}

static uint64_t faults(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return usage.ru_minflt;
}

/* A page of a file in memory, each of which the first touch clears, or which are
 * there: then a read brings many. */
static uint64_t faults_of(const char *from, uint64_t bytes)
{
	uint64_t before = faults(), at;
	char sum = 0;

	for (at = 0; at < bytes; at += GL_PAGE)
		sum |= from[at];
	assert_int_equal(sum, 0);
	return faults() - before;
}

static void what_is_ready_comes_many_pages_at_a_time(void **state)
{
	const char *data;
	uint64_t at;

	(void)state;
	/* in memory */
	assert_int_equal(live_make_in(&made, "/nonexistent", 16 * MIB,
				      LIVE_RING), 0);
	assert_int_equal(live_attach_to(&live, &made), 0);
	at = base_round_up(live.shape.data_offset + MIB, MIB);
	data = (const char *)made.header + at;
	assert_int_equal(live_reserve(&live, at, at + MIB), 0);
	assert_true(faults_of(data, MIB / 2) > MIB / 2 / GL_PAGE / 2);
	live_ready(&live, at + MIB / 2, at + MIB);
	assert_true(faults_of(data + MIB / 2, MIB / 2) <=
		    MIB / 2 / GL_PAGE / 4);
	/* nothing is reserved by that */
	at = live.reserved;
	live_ready(&live, live.shape.data_offset, live.shape.data_offset);
	assert_int_equal(live.reserved, at);
	live_drop(&made, &live);
}

/* The first ones are the target's, and most targets need few of them. */
static void first_nodes_are_made_ready_when_there_are_some(void **state)
{
	const char *nodes;
	uint64_t pages;

	(void)state;
	assert_int_equal(live_make_in(&made, "/nonexistent", 64 * MIB,
				      LIVE_RING), 0);
	assert_int_equal(live_attach_to(&live, &made), 0);
	nodes = (const char *)made.header + made.header->nodes_offset;
	pages = limit_of() * sizeof(struct gl_node) / GL_PAGE;
	assert_true(pages >= 32);
	atomic_store(&made.header->node_count, 100);
	live_ahead(&live);
	assert_int_equal(faults_of(nodes, 4 * GL_PAGE), 4);
	atomic_store(&made.header->node_count, 4 * GL_PAGE /
						sizeof(struct gl_node));
	live_ahead(&live);
	assert_true(faults_of(nodes + 4 * GL_PAGE, (pages - 4) * GL_PAGE) <=
		    pages / 4);
	live_drop(&made, &live);
}

static bool is_mapped(const void *at)
{
	int fd = open("/proc/self/pagemap", O_RDONLY);
	uint64_t entry = 0;

	assert_int_equal(pread(fd, &entry, sizeof(entry), (uintptr_t)at /
			       GL_PAGE * sizeof(entry)), sizeof(entry));
	close(fd);
	return entry >> 63;
}

/* Where there are many, the recorder does not keep those that it has read. */
static void nodes_are_let_go(void **state)
{
	struct gl_node *nodes;
	uint32_t first;

	(void)state;
	assert_int_equal(live_make_in(&made, "/nonexistent", 64 * MIB,
				      LIVE_RING), 0);
	assert_int_equal(live_attach_to(&live, &made), 0);
	first = limit_of();
	nodes = live_at(&live, live.shape.nodes_offset);
	nodes[1000].address = 4711;
	atomic_store(&made.header->node_count, first / 4);
	live_ahead(&live);
	assert_int_equal(limit_of(), first);
	assert_true(is_mapped(&nodes[1000]));
	atomic_store(&made.header->node_count, first);
	live_ahead(&live);
	assert_true(limit_of() > first);
	assert_false(is_mapped(&nodes[1000]));
	assert_int_equal(nodes[1000].address, 4711);
	live_drop(&made, &live);
}

static void all_parts_share_the_budget(void **state)
{
	uint64_t at, data;

	(void)state;
	open_live(16 * MIB);
	live.budget = 4 * MIB;	/* of 8, so that no part's own end is met */
	data = live.shape.data_offset;
	for (at = 0; !live_reserve(&live, data + at, data + at + MIB / 2);)
		at += MIB / 2;
	assert_true(at >= 2 * MIB && at < 4 * MIB);
	assert_int_equal(live_reserve(&live, data, data + MIB / 2), -ENOMEM);
	atomic_store(&made.header->node_count, limit_of());
	atomic_store(&made.header->image_count, live.images_reserved);
	live_ahead(&live);
	assert_true(live.nodes_refused);
	live_drop(&made, &live);
}

/* Names of heaps: a page of them, then as many as are wanted. */
static void names_of_heaps_come_on_demand(void **state)
{
	struct gl_shared *shared;

	(void)state;
	open_live(16 * MIB);
	shared = live_shared_of(&made);
	live_ahead(&live);
	assert_int_equal(live.heaps_reserved, GL_HEAPS_FIRST);
	shared->heaps_wanted = GL_HEAPS_FIRST + 1;
	live_ahead(&live);
	assert_int_equal(live.heaps_reserved, 2 * GL_HEAPS_FIRST);
	assert_false(live.heaps_refused);
	shared->heaps_wanted = UINT32_MAX;	/* it may be anything */
	live_ahead(&live);
	assert_int_equal(live.heaps_reserved, GL_HEAPS_MAX);
	live.budget = live.reserved;
	live.heaps_reserved = GL_HEAPS_FIRST;
	live_ahead(&live);
	assert_true(live.heaps_refused);
	assert_int_equal(live.heaps_reserved, GL_HEAPS_FIRST);
	live_drop(&made, &live);
}

/* A record is only given with its page, whoever asks for how many. */
static void images_ahead(void **state)
{
	uint64_t reserved;

	(void)state;
	open_live(256 * MIB);
	reserved = live.images_reserved;
	live_ahead(&live);
	assert_int_equal(live.images_reserved, reserved);
	assert_false(live.images_refused);
	atomic_store(&made.header->image_count, reserved);
	live_ahead(&live);
	assert_true(live.images_reserved > reserved);
	assert_false(live.images_refused);
	live.budget = live.reserved;
	reserved = live.images_reserved;
	atomic_store(&made.header->image_count, reserved);
	live_ahead(&live);
	assert_int_equal(live.images_reserved, reserved);
	assert_true(live.images_refused);
	live_drop(&made, &live);
}

static void broken_numbers_are_seen(void **state)
{
	(void)state;
	open_live(32 * MIB);
	assert_true(live_is_valid(&live));
	live.reserved = live.budget + 1;	/* I2 */
	assert_false(live_is_valid(&live));
	live.reserved = live.budget;
	live.nodes_reserved = live.nodes_max + 1;	/* I1 */
	assert_false(live_is_valid(&live));
	live.nodes_reserved = 0;
	live.heaps_reserved = 0;
	assert_false(live_is_valid(&live));
	live.heaps_reserved = 1;
	live.shape.data_offset++;
	assert_false(live_is_valid(&live));
	live.shape.data_offset--;
	assert_true(live_is_valid(&live));
	live_unlink(&live);
	live_drop(&made, &live);
}

#define TEST(name) cmocka_unit_test_setup_teardown( \
	name, live_directory_make, live_directory_remove)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(both_see_the_same),
		TEST(a_segment),
		TEST(a_file_without_a_name),
		TEST(nothing_to_attach_to),
		TEST(offsets_are_checked_one_by_one),
		TEST(numbers_are_checked),
		TEST(a_file_that_was_cut),
		TEST(a_budget_that_is_spent),
		TEST(the_shape_is_a_copy),
		TEST(counters_may_be_anything),
		TEST(nodes_stay_within_the_budget),
		TEST(what_is_ready_comes_many_pages_at_a_time),
		TEST(first_nodes_are_made_ready_when_there_are_some),
		TEST(nodes_are_let_go),
		TEST(all_parts_share_the_budget),
		TEST(names_of_heaps_come_on_demand),
		TEST(images_ahead),
		TEST(broken_numbers_are_seen),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
