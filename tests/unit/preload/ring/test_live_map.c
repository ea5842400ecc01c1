/* test_live_map.c: what is mapped of the live mapping, and what comes later. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#include "preload/base/ban.h"
#include "preload/ring/area.h"
#include "preload/ring/producer.h"
#include "tests/unit/live_builder.h"

#define MEMORY (256 * MIB)
#define TAKERS 4

static struct live_made made;
static struct live live;

static int each(void **state)
{
	if (live_directory_make(state) ||
	    live_make_in(&made, live_directory, MEMORY, LIVE_RING) ||
	    live_attach_to(&live, &made))
		return -1;
	producer->shared = live_shared_of(&made);
	return 0;
}

static int after(void **state)
{
	producer->shared = NULL;
	unwind_ban = 0;
	live_drop(&made, &live);
	return live_directory_remove(state);
}

static uint64_t mapped(void)
{
	struct live_range range[GL_LIVE_RANGES];
	unsigned count = live_map_ranges(range);
	uint64_t sum = 0;

	while (count--)
		sum += range[count].bytes;
	return sum;
}

static bool is_there(uint64_t offset)
{
	unsigned char page;

	return mincore((char *)made.header + offset, GL_PAGE, &page) == 0;
}

static void little_is_mapped_at_first(void **state)
{
	(void)state;
	assert_false(made.whole);
	assert_true(live.size > 120 * MIB);
	assert_true(mapped() < 24 * MIB);
	assert_false(is_there(live.shape.nodes_offset + GL_NODES_FIRST));
	assert_false(is_there(live.shape.data_offset + GL_DATA_FIRST));
	assert_true(is_there(live.shape.data_offset));
	assert_non_null(live_map_piece(LIVE_NODES, 0));
	assert_ptr_equal(live_map_data(live.shape.data_offset),
			 (char *)made.header + live.shape.data_offset);
}

/* What a forked child fills, and empties again: neighbours are one. */
static void neighbouring_pieces_are_one_range(void **state)
{
	struct live_range range[GL_LIVE_RANGES];

	(void)state;
	assert_int_equal(live_map_ranges(range), 2);
	assert_ptr_equal(range[0].at, made.header);
	assert_int_equal(range[0].bytes,
			 live.shape.nodes_offset + GL_NODES_FIRST);
	assert_ptr_equal(range[1].at,
			 (char *)made.header + live.shape.rings_offset);
	assert_int_equal(range[1].bytes, live.shape.data_offset -
						 live.shape.rings_offset +
						 GL_DATA_FIRST);
}

/* At each end of each piece, what is written is in the file. */
static void pieces_are_mapped_from_the_file(void **state)
{
	const uint64_t from[] = { live.shape.nodes_offset,
				  live.shape.data_offset };
	const uint64_t end[] = { live.shape.rings_offset, live.size };
	const uint64_t first[] = { GL_NODES_FIRST, GL_DATA_FIRST };
	unsigned which, i, pieces = 0;

	(void)state;
	for (which = 0; which < LIVE_REGIONS; which++)
		for (i = GL_PIECES; i--;) {
			uint64_t at = from[which] +
				      gl_piece_start(first[which], i);
			uint64_t last = base_min(
				from[which] + gl_piece_start(first[which],
							     i + 1),
				end[which]) - 8;
			char *piece = live_map_piece(which, i);

			if (at >= end[which]) {
				assert_null(piece);
				continue;
			}
			assert_non_null(piece);
			assert_int_equal(live_reserve(&live, at, at + 8), 0);
			assert_int_equal(live_reserve(&live, last, last + 8),
					 0);
			*(uint64_t *)(piece + (last - at)) = last;
			if (which || i)	/* not the first ring's header */
				*(uint64_t *)piece = at;
			assert_int_equal(*(uint64_t *)live_at(&live, last),
					 last);
			if (which || i)
				assert_int_equal(
					*(uint64_t *)live_at(&live, at), at);
			assert_ptr_equal(live_map_piece(which, i), piece);
			pieces++;
		}
	assert_true(pieces >= 9);
	/* each has the page before it twice */
	assert_in_range(mapped(), live.size, live.size + pieces * GL_PAGE);
}

static void offsets_are_found(void **state)
{
	uint64_t at;

	(void)state;
	assert_null(live_map_data(0));
	assert_null(live_map_data(live.shape.data_offset - 8));
	assert_null(live_map_data(live.size));
	assert_null(live_map_data(UINT64_MAX));
	for (at = live.shape.data_offset; at < live.size; at += MIB) {
		uint64_t *word = live_map_data(at);

		assert_non_null(word);
		assert_int_equal(live_reserve(&live, at, at + 8), 0);
		*(uint64_t *)live_at(&live, at) = at;
		assert_int_equal(*word, at);
	}
}

static void pieces_are_reported_to_the_recorder(void **state)
{
	const struct gl_shared *shared = live_shared_of(&made);
	uint64_t sum = 0;
	unsigned i;

	(void)state;
	live_map_fill();
	for (i = GL_AREA_PIECES; i < GL_OWN; i++)
		sum += shared->own[i].size;
	assert_int_equal(sum, mapped());
	assert_true(sum >= live.size);
}

static void no_piece_where_mapping_is_forbidden(void **state)
{
	(void)state;
	unwind_ban = SECCOMP_NO_GROWTH;
	assert_null(live_map_piece(LIVE_DATA, 1));
	assert_null(live_map_piece(LIVE_NODES, 2));
	assert_non_null(live_map_piece(LIVE_DATA, 0));
	unwind_ban = 0;
	live_map_fill();
	unwind_ban = SECCOMP_NO_GROWTH;
	assert_non_null(live_map_piece(LIVE_DATA, 1));
	assert_non_null(live_map_piece(LIVE_NODES, 2));
}

static int same_flags(char *at)
{
	char line[4352], start[32];
	FILE *smaps = fopen("/proc/self/smaps", "r");
	bool here = false;
	int yes = -1;

	snprintf(start, sizeof(start), "%lx-", (unsigned long)(uintptr_t)at);
	while (yes < 0 && fgets(line, sizeof(line), smaps)) {
		here |= strncmp(line, start, strlen(start)) == 0;
		if (here && strncmp(line, "VmFlags:", 8) == 0)
			yes = strstr(line, " dc") && strstr(line, " dd");
	}
	fclose(smaps);
	return yes;
}

/* Neither is it inherited, nor is it in core dumps. */
static void pieces_are_neither_inherited_nor_dumped(void **state)
{
	(void)state;
	assert_int_equal(same_flags((char *)live_map_piece(LIVE_DATA, 2) -
				    GL_PAGE), 1);
	assert_int_equal(same_flags((char *)live_map_piece(LIVE_NODES, 1) -
				    GL_PAGE), 1);
}

static void *maps(void *arg)
{
	return arg ? live_map_piece(LIVE_DATA, 2) : NULL;
}

static void threads_map_a_piece_once(void **state)
{
	pthread_t taker[TAKERS];
	void *piece = NULL, *other;
	unsigned i;

	(void)state;
	for (i = 0; i < TAKERS; i++)
		pthread_create(&taker[i], NULL, maps, &made);
	for (i = 0; i < TAKERS; i++) {
		pthread_join(taker[i], &other);
		assert_non_null(other);
		assert_true(!piece || piece == other);
		piece = other;
	}
}

/* A System V segment, too, which nobody has a descriptor of. */
static void pieces_of_a_system_v_segment(void **state)
{
	struct live_where where = { .live_dir = "", .beside = "", .memory = MEMORY,
				    .ring = LIVE_RING, .pid = 1 };
	struct live_made segment;
	struct rlimit limit;
	rlim_t before;
	char *piece;

	(void)state;
	getrlimit(RLIMIT_FSIZE, &limit);
	before = limit.rlim_cur;
	limit.rlim_cur = MIB;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
	assert_int_equal(live_make(&segment, &where), 0);
	limit.rlim_cur = before;
	setrlimit(RLIMIT_FSIZE, &limit);
	assert_true(segment.memory_id >= 0);
	assert_false(segment.whole);
	live_map_begin(segment.header, false);
	piece = live_map_piece(LIVE_DATA, 1);
	assert_non_null(piece);
	piece[0] = piece[GL_DATA_FIRST - 1] = 1;
	live_unmap();
	live_map_begin(made.header, made.whole);
}

/* Who reads a core dump finds all of it in one place. */
static void whole_file_in_one_mapping(void **state)
{
	struct live_where where = { .live_dir = "", .beside = "", .memory = MEMORY,
				    .ring = LIVE_RING, .pid = 1,
				    .core = true };
	struct live_made whole;

	(void)state;
	assert_int_equal(live_make(&whole, &where), 0);
	assert_true(whole.whole);
	live_map_begin(whole.header, true);
	assert_int_equal(mapped(), whole.header->size);
	assert_ptr_equal(live_map_data(whole.header->size - GL_PAGE),
			 (char *)whole.header + whole.header->size - GL_PAGE);
	assert_ptr_equal(live_map_piece(LIVE_NODES, 3),
			 (char *)whole.header + whole.header->nodes_offset +
				 gl_piece_start(GL_NODES_FIRST, 3));
	live_unmap();
	live_map_begin(made.header, made.whole);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, each, after)
	const struct CMUnitTest tests[] = {
		TEST(little_is_mapped_at_first),
		TEST(neighbouring_pieces_are_one_range),
		TEST(pieces_are_mapped_from_the_file),
		TEST(offsets_are_found),
		TEST(pieces_are_reported_to_the_recorder),
		TEST(no_piece_where_mapping_is_forbidden),
		TEST(pieces_are_neither_inherited_nor_dumped),
		TEST(threads_map_a_piece_once),
		TEST(pieces_of_a_system_v_segment),
		TEST(whole_file_in_one_mapping),
	};

	if (area_map(16 * MIB))
		return 77;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
