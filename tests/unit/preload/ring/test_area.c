/* test_area.c: private memory in pieces, wiped in a child. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "preload/base/ban.h"
#include "preload/ring/area.h"
#include "preload/ring/producer.h"

#define MIB (UINT64_C(1) << 20)
#define SIZE (256 * MIB)
#define TAKERS 4
#define TURNS 2000

static struct gl_shared shared;

static unsigned pieces(void)
{
	struct area_range range;
	unsigned n = 0;

	while (area_piece(n, &range))
		n++;
	return n;
}

static uint64_t mapped(void)
{
	struct area_range range;
	uint64_t sum = 0;
	unsigned i;

	for (i = 0; area_piece(i, &range); i++)
		sum += range.bytes;
	return sum;
}

static int status_of(pid_t child)
{
	int status = -1;

	assert_int_equal(waitpid(child, &status, 0), child);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void damaged_area_is_invalid(void **state)
{
	uint64_t used;

	(void)state;
	assert_non_null(area_alloc(64));
	used = area->used;
	assert_true(area_is_valid());
	area->used = used + 1;
	assert_false(area_is_valid());
	area->used = SIZE;
	assert_false(area_is_valid());
	area->used = used;
	used = area->taken[0];
	area->taken[0] = SIZE;		/* more than there is */
	assert_false(area_is_valid());
	area->taken[0] = used + 1;
	assert_false(area_is_valid());
	area->taken[0] = used;
	assert_true(area_is_valid());
}

static void first_piece_is_small(void **state)
{
	(void)state;
	assert_int_equal(pieces(), 1);
	assert_true(mapped() <= 16 * MIB);
	assert_true(area_used() < MIB);
}

static void pieces_come_as_they_are_needed(void **state)
{
	uint64_t before = area_used();
	char *small = area_alloc(100), *large = area_alloc(40 * MIB), *next;

	(void)state;
	assert_non_null(small);
	assert_non_null(large);
	assert_int_equal((uintptr_t)large % BASE_LINE, 0);
	assert_int_equal(pieces(), 2);
	memset(large, 1, 40 * MIB);
	/* what is left of the first is not lost */
	next = area_alloc(100);
	assert_ptr_equal(next, small + 128);
	assert_int_equal(area_used(), before + 128 + 40 * MIB + 128);
	assert_true(mapped() < 64 * MIB);
}

static bool is_large(const char *block)
{
	return (uintptr_t)block % (2 * MIB) == 0;
}

/* Once tables are in use: large pages are used where one begins with them. */
static void a_large_block_begins_with_a_large_page(void **state)
{
	char *before, *first, *small, *next, *second;
	pid_t child = fork();
	uint64_t used;

	(void)state;
	if (child) {
		assert_int_equal(status_of(child), 0);
		return;
	}
	before = area_alloc(64);
	if (!before || area_alloc(2 * MIB) != before + 64)
		_exit(1);
	area_set_budget(30 * MIB);
	used = area_used();
	first = area_alloc(5 * MIB / 2);
	small = area_alloc(64);
	second = area_alloc(MIB);
	next = area_alloc(MIB);
	if (!is_large(first) || !is_large(second))
		_exit(2);
	/* the rest of a page that is no half is none */
	if (small != first + 5 * MIB / 2 || second != first + 4 * MIB)
		_exit(3);
	/* what fits into the rest of one goes there */
	if (next != second + MIB)
		_exit(4);
	next = area_alloc(MIB);
	if (!is_large(next) || next != second + 2 * MIB)
		_exit(5);
	/* what lies in between is not counted */
	_exit(area_used() != used + 11 * MIB / 2 + 64 || !area_is_valid() ? 6 : 0);
}

/* Everything is zero there, and is given out anew; other pieces come. */
static void child_finds_zeros_and_allocates_anew(void **state)
{
	char *first = area_alloc(64), *child_first, *large;
	unsigned before = pieces();
	pid_t child;

	(void)state;
	memset(first, 1, 64);
	child = fork();
	if (child)
		assert_int_equal(status_of(child), 0);
	if (child)
		return;
	child_first = area_alloc(64);
	if (*first || child_first >= first || *child_first)
		_exit(1);
	large = area_alloc(40 * MIB);	/* its parent's piece */
	if (!large || *large || pieces() != before)
		_exit(2);
	memset(large, 1, 40 * MIB);
	large = area_alloc(40 * MIB);
	if (!large || *large || pieces() != before + 1)
		_exit(3);
	memset(large, 1, 40 * MIB);
	child = fork();
	if (!child)
		_exit(*large || area_used() > MIB ? 4 : 0);
	_exit(status_of(child));
}

static void pieces_are_reported_to_the_recorder(void **state)
{
	struct area_range range;
	unsigned i;

	(void)state;
	memset(&shared, 0, sizeof(shared));
	producer->shared = &shared;
	area_report_pieces(&shared);
	assert_non_null(area_alloc(50 * MIB));
	for (i = 0; area_piece(i, &range); i++) {
		assert_int_equal(shared.own[i].at, (uintptr_t)range.at);
		assert_int_equal(shared.own[i].size, range.bytes);
	}
	assert_int_equal(shared.own[i].size, 0);
	assert_int_equal(shared.area_used, area_used());
	producer->shared = NULL;
}

static void budget_is_enforced(void **state)
{
	pid_t child = fork();
	uint64_t used;

	(void)state;
	if (child) {
		assert_int_equal(status_of(child), 0);
		return;
	}
	used = area_used();
	area_set_budget(30 * MIB);
	if (area_scarce() || !area_alloc(29 * MIB) || !area_scarce() ||
	    area_alloc(2 * MIB) || area_used() != used + 29 * MIB)
		_exit(1);
	if (area_alloc(SIZE_MAX) || area_alloc(SIZE_MAX - 63))
		_exit(2);
	_exit(area_alloc(MIB) ? 0 : 3);
}

/* What may be given out is there before nothing can be mapped. */
static void fill_maps_all_before_mapping_is_forbidden(void **state)
{
	pid_t child = fork();

	(void)state;
	if (child) {
		assert_int_equal(status_of(child), 0);
		return;
	}
	unwind_ban = SECCOMP_NO_GROWTH;
	if (area_alloc(200 * MIB))
		_exit(1);
	unwind_ban = 0;
	area_fill();
	if (mapped() < SIZE)
		_exit(2);
	unwind_ban = SECCOMP_NO_GROWTH;
	_exit(area_alloc(100 * MIB) ? 0 : 3);
}

static uint64_t size_used(void)
{
	unsigned long pages = 0;
	FILE *statm = fopen("/proc/self/statm", "r");

	assert_int_equal(fscanf(statm, "%lu", &pages), 1);
	fclose(statm);
	return pages * UINT64_C(4096);
}

/* A smaller piece, down to what is needed. */
static void limited_addresses_give_a_smaller_piece(void **state)
{
	struct rlimit limit = { 0, 0 };
	uint64_t before = mapped();
	pid_t child = fork();

	(void)state;
	if (child) {
		assert_int_equal(status_of(child), 0);
		return;
	}
	getrlimit(RLIMIT_AS, &limit);
	limit.rlim_cur = size_used() + 20 * MIB;
	if (setrlimit(RLIMIT_AS, &limit))
		_exit(77);
	while (area_alloc(MIB))
		;
	_exit(mapped() > before + 18 * MIB ? 0 : 1);
}

static void *takes(void *arg)
{
	unsigned turn;

	for (turn = 0; turn < TURNS; turn++) {
		uint64_t *block = area_alloc(16384);

		if (!block || block[0] || block[2047])
			return arg;
		block[0] = block[2047] = (uintptr_t)arg;
	}
	return NULL;
}

static void each_block_is_returned_once(void **state)
{
	pthread_t taker[TAKERS];
	char own[TAKERS];
	pid_t child = fork();
	void *failed = NULL;
	unsigned i;

	(void)state;
	if (child) {
		assert_int_equal(status_of(child), 0);
		return;
	}
	for (i = 0; i < TAKERS; i++)
		pthread_create(&taker[i], NULL, takes, &own[i]);
	for (i = 0; i < TAKERS && !failed; i++)
		pthread_join(taker[i], &failed);
	_exit(failed != NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(damaged_area_is_invalid),
		cmocka_unit_test(first_piece_is_small),
		cmocka_unit_test(pieces_come_as_they_are_needed),
		cmocka_unit_test(a_large_block_begins_with_a_large_page),
		cmocka_unit_test(child_finds_zeros_and_allocates_anew),
		cmocka_unit_test(pieces_are_reported_to_the_recorder),
		cmocka_unit_test(budget_is_enforced),
		cmocka_unit_test(fill_maps_all_before_mapping_is_forbidden),
		cmocka_unit_test(limited_addresses_give_a_smaller_piece),
		cmocka_unit_test(each_block_is_returned_once),
	};

	if (area_map(SIZE))
		return 77;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
