/*
 * test_maps.c: mappings from calls and looks that are made up here; who made
 * them, what is left of them, and what damaged looks do.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cli/model/maps/maps.h"

#define PAGE UINT64_C(4096)
#define AT UINT64_C(0x7f0000000000)
#define RW (GT_MAPS_READ | GT_MAPS_WRITE)
#define PRIVATE 2		/* MAP_PRIVATE */

struct fixture {
	struct blocks blocks;
	struct contexts contexts;
	struct maps maps;
	uint8_t bytes[4096];	/* a payload under construction */
	size_t size;
	uint64_t end;		/* of its last record */
	uint64_t last_look;
};

static int set_up(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	blocks_init(&f->blocks);
	contexts_init(&f->contexts);
	maps_init(&f->maps, &f->blocks, &f->contexts);
	*state = f;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;

	maps_free(&f->maps);
	contexts_free(&f->contexts);
	blocks_free(&f->blocks);
	free(f);
	return 0;
}

/* ---- looks ---- */

static void put(struct fixture *f, uint64_t value)
{
	for (; value >= 0x80; value >>= 7)
		f->bytes[f->size++] = (uint8_t)(value | 0x80);
	f->bytes[f->size++] = (uint8_t)value;
}

static void range(struct fixture *f, unsigned what, uint64_t start,
		  uint64_t end)
{
	int64_t step = (int64_t)(start - f->end);

	put(f, what);
	put(f, (uint64_t)step << 1 ^ (uint64_t)(step >> 63));
	put(f, end - start);
	f->end = end;
}

static void gone(struct fixture *f, uint64_t start, uint64_t end)
{
	range(f, GT_MAPS_GONE, start, end);
}

static void new(struct fixture *f, uint64_t start, uint64_t end, unsigned is,
		uint64_t inode, const char *path)
{
	range(f, GT_MAPS_NEW, start, end);
	put(f, is);
	put(f, 0);
	put(f, inode ? 8 : 0);
	put(f, inode);
	put(f, strlen(path));
	memcpy(f->bytes + f->size, path, strlen(path));
	f->size += strlen(path);
}

/* The records so far are a look from `time` to `time` + 10. */
static void look(struct fixture *f, uint64_t time)
{
	struct trace_maps head = {
		.flags = f->last_look ? 0 : GT_MAPS_FIRST,
		.since = f->last_look, .begun = time, .ended = time + 10,
	};
	struct cursor c = cursor_over(f->bytes, f->size);

	maps_take(&f->maps, &head, &c);
	assert_false(c.bad);
	f->last_look = time;
	f->size = 0;
	f->end = 0;
}

/* ---- events ---- */

static void extra(struct fixture *f, uint64_t time, unsigned what,
		  uint64_t address, uint64_t size, uint64_t a, uint64_t b,
		  uint64_t c)
{
	uint64_t args[GT_EXTRA_ARGS] = { a, b, c, 0 };
	struct trace_event event = {
		.stamp = time, .address = address, .size = size,
		.kind = GT_EXTRA, .what = (uint8_t)what, .args = args,
	};

	maps_event(&f->maps, &event);
	maps_extra(&f->maps, 2, &event);
}

static void map(struct fixture *f, uint64_t time, uint64_t start,
		uint64_t size)
{
	extra(f, time, GT_EXTRA_MAP, start, size,
	      RW | (uint64_t)PRIVATE << 32, 0, 0);
}

static void block(struct fixture *f, uint64_t time, uint64_t address,
		  uint64_t size, unsigned layout)
{
	struct trace_event event = {
		.stamp = time, .address = address, .size = size,
		.kind = GT_ALLOC, .layout = (uint16_t)layout,
	};
	int is_new;

	maps_event(&f->maps, &event);
	blocks_add(&f->blocks, address, &is_new)->size = size;
}

/* What holds this address. */
static const struct mapping *at(const struct fixture *f, uint64_t address)
{
	const struct span *span = spans_at(&f->maps.spans, address);

	if (span == NULL || span->start > address)
		return NULL;
	return &f->maps.list[span->owner];
}

static void first_look(struct fixture *f)
{
	new(f, AT - 100 * PAGE, AT - 90 * PAGE, RW, 0, "[heap]");
	look(f, 100);
}

/* ---- tests ---- */

static void parts_keep_their_maker(void **state)
{
	struct fixture *f = *state;
	const struct mapping *mapping;

	map(f, 1, AT, 64 * PAGE);
	extra(f, 2, GT_EXTRA_UNMAP, AT + 16 * PAGE, 8 * PAGE, 0, 0, 0);
	extra(f, 3, GT_EXTRA_PROTECT, AT + 32 * PAGE, PAGE, GT_MAPS_READ, 0,
	      0);
	mapping = at(f, AT);
	assert_int_equal(mapping->bytes, 56 * PAGE);
	assert_ptr_equal(at(f, AT + 63 * PAGE), mapping);
	assert_null(at(f, AT + 20 * PAGE));
	assert_int_equal(spans_at(&f->maps.spans, AT + 32 * PAGE)->end,
			 AT + 33 * PAGE);
	/* MAP_FIXED over the end of one piece, the hole, and another one */
	map(f, 4, AT + 10 * PAGE, 20 * PAGE);
	mapping = at(f, AT);
	assert_int_equal(mapping->bytes, 44 * PAGE);
	assert_int_equal(at(f, AT + 20 * PAGE)->size, 20 * PAGE);
	extra(f, 5, GT_EXTRA_UNMAP, AT, 64 * PAGE, 0, 0, 0);
	assert_int_equal(f->maps.spans.bytes, 0);
	assert_int_equal(f->maps.list[0].unmapped, 5);
	assert_int_equal(f->maps.curve.peak.bytes, 64 * PAGE);
	assert_int_equal(f->maps.site_count, 1);
	assert_int_equal(f->maps.sites[0].total_bytes, 84 * PAGE);
	assert_int_equal(f->maps.sites[0].live_bytes, 0);
}

static void unmap_that_failed(void **state)
{
	struct fixture *f = *state;

	map(f, 1, AT, 8 * PAGE);
	extra(f, 2, GT_EXTRA_UNMAP, AT + PAGE, 2 * PAGE, 0, 0, 0);
	extra(f, 3, GT_EXTRA_UNMAP, AT + PAGE, 2 * PAGE, 1, 0, 0);
	assert_int_equal(at(f, AT + PAGE)->bytes, 8 * PAGE);
	assert_int_equal(f->maps.failed, 1);
	assert_int_equal(f->maps.sites[0].live_bytes, 8 * PAGE);
}

/* What was kept for a failure must be something. */
static void unmap_of_nothing_that_failed(void **state)
{
	struct fixture *f = *state;

	map(f, 1, AT - PAGE, 3 * PAGE);
	extra(f, 2, GT_EXTRA_UNMAP, AT, 0, 0, 0, 0);
	extra(f, 3, GT_EXTRA_BRK, AT - PAGE, 0, AT + 2 * PAGE, 0, 0);
	assert_null(at(f, AT));
	extra(f, 4, GT_EXTRA_UNMAP, AT, 0, 1, 0, 0);
	assert_null(at(f, AT));
	assert_int_equal(f->maps.failed, 1);
}

static void moved(void **state)
{
	struct fixture *f = *state;

	map(f, 1, AT, 8 * PAGE);
	map(f, 2, AT + 100 * PAGE, 30 * PAGE);
	/* moved over the other one, and made larger */
	extra(f, 3, GT_EXTRA_REMAP, AT + 104 * PAGE, 10 * PAGE, AT, 8 * PAGE,
	      3);
	assert_null(at(f, AT));
	assert_int_equal(at(f, AT + 104 * PAGE)->start, AT + 104 * PAGE);
	assert_int_equal(at(f, AT + 104 * PAGE)->bytes, 8 * PAGE);
	assert_int_equal(at(f, AT + 112 * PAGE)->bytes, 2 * PAGE);
	assert_int_equal(f->maps.spans.bytes, 30 * PAGE);
	/* smaller in place */
	extra(f, 4, GT_EXTRA_REMAP, AT + 104 * PAGE, 3 * PAGE, AT + 104 * PAGE,
	      10 * PAGE, 0);
	assert_int_equal(f->maps.spans.bytes, 23 * PAGE);
	/* the old place stays */
	extra(f, 5, GT_EXTRA_REMAP, AT, 3 * PAGE, AT + 104 * PAGE, 3 * PAGE,
	      5);
	assert_int_equal(f->maps.spans.bytes, 26 * PAGE);
}

static void what_calls_have_told_is_not_found(void **state)
{
	struct fixture *f = *state;

	first_look(f);
	map(f, 150, AT, 8 * PAGE);
	new(f, AT, AT + 8 * PAGE, RW, 0, "");
	look(f, 200);
	map(f, 300, AT + 50 * PAGE, PAGE);
	assert_int_equal(f->maps.looks, 2);
	assert_int_equal(at(f, AT)->origin, MAP_PROGRAM);
	assert_int_equal(at(f, AT)->look, 0);
	assert_int_equal(at(f, AT - 95 * PAGE)->origin, MAP_BEFORE);
	/* one that a look has seen goes without a call */
	gone(f, AT, AT + 8 * PAGE);
	new(f, AT, AT + 2 * PAGE, RW, 0, "");
	new(f, AT + 50 * PAGE, AT + 51 * PAGE, RW, 0, "");
	look(f, 400);
	maps_finish(&f->maps);
	assert_int_equal(at(f, AT)->bytes, 2 * PAGE);
	assert_null(at(f, AT + 2 * PAGE));
}

static void events_during_a_look(void **state)
{
	struct fixture *f = *state;

	first_look(f);
	map(f, 150, AT, 4 * PAGE);
	new(f, AT, AT + 4 * PAGE, RW, 0, "");
	look(f, 200);
	/* too late for the list; in it, and gone already */
	map(f, 205, AT + 20 * PAGE, 4 * PAGE);
	extra(f, 206, GT_EXTRA_UNMAP, AT, 4 * PAGE, 0, 0, 0);
	map(f, 300, AT + 50 * PAGE, PAGE);
	assert_non_null(at(f, AT + 20 * PAGE));
	assert_null(at(f, AT));
	/* the next look has both as they are */
	gone(f, AT, AT + 4 * PAGE);
	new(f, AT + 20 * PAGE, AT + 24 * PAGE, RW, 0, "");
	new(f, AT + 50 * PAGE, AT + 51 * PAGE, RW, 0, "");
	look(f, 400);
	maps_finish(&f->maps);
	assert_int_equal(f->maps.spans.bytes, 15 * PAGE);
}

/* munmap is told before it is done: a look may come between. */
static void unmapped_after_the_look(void **state)
{
	struct fixture *f = *state;

	first_look(f);
	map(f, 150, AT, 4 * PAGE);
	new(f, AT, AT + 4 * PAGE, RW, 0, "");
	look(f, 200);
	extra(f, 290, GT_EXTRA_UNMAP, AT, 4 * PAGE, 0, 0, 0);
	look(f, 300);
	map(f, 350, AT + 50 * PAGE, PAGE);
	assert_null(at(f, AT));
	gone(f, AT, AT + 4 * PAGE);
	new(f, AT + 50 * PAGE, AT + 51 * PAGE, RW, 0, "");
	look(f, 400);
	maps_finish(&f->maps);
	assert_null(at(f, AT));
	assert_int_equal(f->maps.forgotten, 0);
}

/* A look sees what a call has mapped and not told yet. */
static void told_after_the_look(void **state)
{
	struct fixture *f = *state;

	first_look(f);
	new(f, AT, AT + 4 * PAGE, RW, 0, "");
	look(f, 200);
	map(f, 250, AT, 4 * PAGE);
	assert_int_equal(at(f, AT)->origin, MAP_PROGRAM);
	for (size_t i = 0; i < f->maps.site_count; i++)
		if (f->maps.sites[i].origin == MAP_OTHER)
			assert_int_equal(f->maps.sites[i].count, 0);
}

static void blocks_tell_of_malloc(void **state)
{
	struct fixture *f = *state;
	uint64_t chunk = gt_layout_chunk(1 << 20, GT_LAYOUT_MMAPPED);

	first_look(f);
	/* two in mappings of their own, that the kernel has joined */
	block(f, 110, AT + 16, 1 << 20, GT_LAYOUT_KNOWN | GT_LAYOUT_MMAPPED);
	block(f, 120, AT + chunk + 16, 1 << 20,
	      GT_LAYOUT_KNOWN | GT_LAYOUT_MMAPPED);
	new(f, AT, AT + 2 * chunk, RW, 0, "");
	look(f, 200);
	/* the first block beyond the heap's old end */
	block(f, 210, AT - 90 * PAGE - 64, PAGE, GT_LAYOUT_KNOWN);
	gone(f, AT - 100 * PAGE, AT - 90 * PAGE);
	new(f, AT - 100 * PAGE, AT - 50 * PAGE, RW, 0, "[heap]");
	look(f, 300);
	maps_finish(&f->maps);
	assert_int_equal(at(f, AT)->origin, MAP_MALLOC);
	assert_int_equal(at(f, AT)->size, chunk);
	assert_int_equal(at(f, AT)->mapped, 110);
	assert_int_equal(at(f, AT + chunk)->mapped, 120);
	assert_int_equal(at(f, AT - 95 * PAGE)->origin, MAP_BEFORE);
	assert_int_equal(at(f, AT - 80 * PAGE)->origin, MAP_MALLOC);
	assert_int_equal(at(f, AT - 80 * PAGE)->size, 40 * PAGE);
}

static void arena_with_its_reserve(void **state)
{
	struct fixture *f = *state;
	uint64_t heap = UINT64_C(0x7f0004000000);

	first_look(f);
	new(f, heap, heap + 33 * PAGE, RW, 0, "");
	new(f, heap + 33 * PAGE, heap + (64 << 20), 0, 0, "");
	look(f, 200);
	/* the look was quicker than the block */
	block(f, 220, heap + 2200, 100, GT_LAYOUT_KNOWN | GT_LAYOUT_OTHER);
	maps_finish(&f->maps);
	assert_int_equal(at(f, heap)->origin, MAP_MALLOC);
	assert_int_equal(at(f, heap)->size, 64 << 20);
	assert_ptr_equal(at(f, heap + (32 << 20)), at(f, heap));
}

static void stacks_and_libraries(void **state)
{
	struct fixture *f = *state;

	first_look(f);
	extra(f, 110, GT_EXTRA_CREATE, AT + 20 * PAGE, 0, 0, 0, 0);
	extra(f, 120, GT_EXTRA_DLOPEN, 0, 0, 1234, 0, 0);
	new(f, AT, AT + PAGE, 0, 0, "");
	new(f, AT + PAGE, AT + 21 * PAGE, RW, 0, "");
	new(f, AT + 30 * PAGE, AT + 31 * PAGE, GT_MAPS_READ, 77, "/l/liba.so");
	new(f, AT + 31 * PAGE, AT + 35 * PAGE, GT_MAPS_READ | GT_MAPS_EXECUTE,
	    77, "/l/liba.so");
	new(f, AT + 35 * PAGE, AT + 36 * PAGE, RW, 0, "");
	/* data: nobody's */
	new(f, AT + 40 * PAGE, AT + 41 * PAGE, GT_MAPS_READ, 78, "/l/data");
	look(f, 200);
	maps_finish(&f->maps);
	assert_int_equal(at(f, AT)->origin, MAP_CREATE);
	assert_int_equal(at(f, AT)->size, 21 * PAGE);
	assert_int_equal(at(f, AT + 30 * PAGE)->origin, MAP_DLOPEN);
	assert_int_equal(at(f, AT + 30 * PAGE)->size, 6 * PAGE);
	assert_int_equal(at(f, AT + 40 * PAGE)->origin, MAP_OTHER);
}

static void replaced_by_another_file(void **state)
{
	struct fixture *f = *state;

	first_look(f);
	new(f, AT, AT + PAGE, GT_MAPS_READ, 77, "/a");
	look(f, 200);
	gone(f, AT, AT + PAGE);
	new(f, AT, AT + PAGE, GT_MAPS_READ, 78, "/b");
	look(f, 300);
	maps_finish(&f->maps);
	assert_string_equal(at(f, AT)->path, "/b");
	assert_int_equal(at(f, AT)->look, 3);
}

static void attached_segments(void **state)
{
	struct fixture *f = *state;

	first_look(f);
	extra(f, 150, GT_EXTRA_SHMAT, AT, 0, 5, 0, 0);
	new(f, AT, AT + 10 * PAGE, RW | GT_MAPS_SHARED, 5, "/SYSV00000000");
	look(f, 200);
	extra(f, 250, GT_EXTRA_PROTECT, AT + PAGE, PAGE, 0, 0, 0);
	assert_int_equal(at(f, AT)->origin, MAP_PROGRAM);
	extra(f, 260, GT_EXTRA_SHMDT, AT, 0, 0, 0, 0);
	assert_null(at(f, AT));
	assert_null(at(f, AT + 9 * PAGE));
}

/* Any bytes and any arguments: sums hold, and nothing else happens. */
static void nonsense(void **state)
{
	struct fixture *f = *state;
	uint64_t bytes = 0;

	srand(11);
	for (unsigned i = 1; i < 3000; i++) {
		uint64_t time = i * 100, where = (uint64_t)rand() % 64;
		uint64_t size = (uint64_t)rand() % 20 * PAGE;

		where = i % 50 == 0 ? UINT64_MAX - where : AT + where * PAGE;
		if (i % 70 == 0)
			size = UINT64_MAX - size;
		if (i % 3 == 0) {
			new(f, AT + (uint64_t)rand() % 64 * PAGE,
			    AT + (uint64_t)(rand() % 64 + 65) * PAGE,
			    (unsigned)rand() % 32, (uint64_t)rand() % 3, "/x");
			gone(f, AT, AT + (uint64_t)(rand() % 64 + 1) * PAGE);
			look(f, time);
		} else if (i % 5 == 0) {
			block(f, time, AT + (uint64_t)rand() % (64 * PAGE),
			      (uint64_t)rand() % 100000,
			      (unsigned)rand() % 8);
		} else {
			extra(f, time, 1 + (unsigned)rand() % 14, where, size,
			      (uint64_t)rand() % 2 ? AT : where,
			      (uint64_t)rand() % 100000, (uint64_t)rand() % 8);
		}
	}
	maps_finish(&f->maps);
	for (size_t i = 0; i < f->maps.count; i++)
		bytes += f->maps.list[i].bytes;
	assert_int_equal(bytes, f->maps.spans.bytes);
	bytes = 0;
	for (size_t i = 0; i < f->maps.site_count; i++)
		bytes += f->maps.sites[i].live_bytes;
	assert_int_equal(bytes, f->maps.spans.bytes);
}

static void many_that_went(void **state)
{
	struct fixture *f = *state;

	for (uint64_t i = 1; i < 3 * MAPS_KEPT; i++) {
		map(f, 2 * i, AT, PAGE);
		extra(f, 2 * i + 1, GT_EXTRA_UNMAP, AT, PAGE, 0, 0, 0);
	}
	assert_true(f->maps.count <= MAPS_KEPT + 1);
	assert_int_equal(f->maps.sites[0].count, 3 * MAPS_KEPT - 1);
	assert_int_equal(f->maps.forgotten + f->maps.count,
			 3 * MAPS_KEPT - 1);
	assert_true(f->maps.curve.count <= MAPS_POINTS);
}

/* The curve has a last point, whatever the stamps are. */
static void stamps_near_the_last(void **state)
{
	struct fixture *f = *state;
	maps_note(&f->maps, 1);
	for (uint64_t i = 0; i < 3 * MAPS_POINTS; i++) {
		struct mapping mapping = { .start = AT + i * PAGE,
					   .size = PAGE };

		maps_add(&f->maps, &mapping, RW);
		maps_note(&f->maps, UINT64_MAX - 3 * MAPS_POINTS + i);
		assert_in_range(f->maps.curve.count, 1, MAPS_POINTS);
	}
	assert_true(maps_is_valid(&f->maps));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

static void broken_sums_are_seen(void **state)
{
	struct fixture *f = *state;
	struct mapping mapping = { .start = AT, .size = 4 * PAGE,
				   .origin = MAP_OTHER };
	uint32_t index = maps_add(&f->maps, &mapping, 0);

	maps_cut(&f->maps, AT, AT + PAGE);
	assert_true(maps_is_valid(&f->maps));
	f->maps.list[index].bytes += PAGE;	/* I1 */
	assert_false(maps_is_valid(&f->maps));
	f->maps.list[index].bytes -= PAGE;
	f->maps.curve.points[0].stamp = 2;
	f->maps.curve.points[1].stamp = 1;
	f->maps.curve.count = 2;
	assert_false(maps_is_valid(&f->maps));
	f->maps.curve.count = 0;
	assert_true(maps_is_valid(&f->maps));
	f->maps.kernel = calloc(2, sizeof(*f->maps.kernel));
	f->maps.kernel_count = 2;
	f->maps.kernel[0].end = 2;
	f->maps.kernel[1].start = 1;
	assert_false(maps_is_valid(&f->maps));
	f->maps.kernel[1].start = 2;
	assert_true(maps_is_valid(&f->maps));
	f->maps.kernel_count = 0;
	free(f->maps.kernel);
	f->maps.kernel = NULL;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(parts_keep_their_maker),
		TEST(unmap_that_failed),
		TEST(unmap_of_nothing_that_failed),
		TEST(moved),
		TEST(what_calls_have_told_is_not_found),
		TEST(events_during_a_look),
		TEST(unmapped_after_the_look),
		TEST(told_after_the_look),
		TEST(blocks_tell_of_malloc),
		TEST(arena_with_its_reserve),
		TEST(stacks_and_libraries),
		TEST(replaced_by_another_file),
		TEST(attached_segments),
		TEST(nonsense),
		TEST(many_that_went),
		TEST(stamps_near_the_last),
		TEST(broken_sums_are_seen),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
