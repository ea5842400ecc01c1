/*
 * test_images.c: which image an address meant, against a walk over all of
 * them; which are one and the same.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cli/model/core/images.h"

#define IMAGES 120
#define SPACE 64	/* pages */
#define IDS 1000

static bool has(const struct image *image, uint64_t address)
{
	for (unsigned i = 0; i < image->segment_count; i++)
		if (address >= image->segments[i].start &&
		    address - image->segments[i].start <
		    image->segments[i].size)
			return true;
	return false;
}

static uint32_t naive(const struct images *images, uint32_t id,
		      uint64_t address)
{
	uint32_t found = IMAGE_NONE;

	for (uint32_t i = 0; i < images->count; i++) {
		const struct image *image = &images->list[i];

		if (has(image, address) && image->first_node <= id &&
		    id < image->end_node &&
		    (found == IMAGE_NONE || image->first_node >=
		     images->list[found].first_node))
			found = i;
	}
	return found;
}

static uint32_t naive_only(const struct images *images, uint64_t address)
{
	uint32_t found = IMAGE_NONE;

	for (uint32_t i = 0; i < images->count; i++) {
		if (!has(&images->list[i], address))
			continue;
		if (found != IMAGE_NONE && found != images->list[i].same_as)
			return IMAGE_NONE;
		found = images->list[i].same_as;
	}
	return found;
}

static void add_any(struct images *images, uint32_t index, uint32_t first)
{
	struct trace_image image = {
		.what = GT_IMAGE_MAPPED, .index = index, .first_node = first,
		.segment_count = 1 + (unsigned)rand() % 3,
		.path = "/a", .path_size = 2,
		.build_id = (const uint8_t *)(rand() % 2 ? "1" : "2"),
		.build_id_size = 1,
	};

	for (unsigned i = 0; i < image.segment_count; i++) {
		image.segments[i].start = (uint64_t)rand() % SPACE * 4096;
		image.segments[i].size = (uint64_t)rand() % 5 * 2048;
	}
	assert_int_equal(images_add(images, &image), IMAGES_ADDED);
}

static void like_a_walk(void **state)
{
	struct images images;

	(void)state;
	srand(3);
	images_init(&images);
	for (uint32_t i = 0; i < IMAGES; i++) {
		struct trace_image gone = {
			.what = GT_IMAGE_GONE, .index = (uint32_t)rand() % (i + 1),
			.end_node = 16 + (uint32_t)rand() % IDS,
		};

		add_any(&images, i, 16 + (uint32_t)rand() % IDS);
		if (i % 3 == 0)
			images_add(&images, &gone);
		for (unsigned n = 0; n < 500; n++) {
			uint32_t id = 16 + (uint32_t)rand() % IDS;
			uint64_t at = (uint64_t)rand() % (SPACE * 4096);

			assert_int_equal(images_find(&images, id, at),
					 naive(&images, id, at));
			assert_int_equal(images_find_only(&images, at),
					 naive_only(&images, at));
		}
	}
	images_free(&images);
}

/* Loaded again and again at the same place, it is one; the end of one that
 * was not told of yet does not make it another. */
static void the_same_again(void **state)
{
	struct trace_image image = {
		.what = GT_IMAGE_MAPPED, .segment_count = 1,
		.segments = { { 0x1000, 0x1000, 0, 5 } },
		.path = "/a", .path_size = 2,
		.build_id = (const uint8_t *)"x", .build_id_size = 1,
	};
	struct trace_image early = {
		.what = GT_IMAGE_GONE, .index = 7, .end_node = 90,
	};
	struct images images;

	(void)state;
	images_init(&images);
	assert_int_equal(images_add(&images, &early), IMAGES_UNKNOWN);
	for (uint32_t i = 0; i < 3; i++) {
		image.index = i;
		image.first_node = 20 * (i + 1);
		assert_int_equal(images_add(&images, &image), IMAGES_ADDED);
	}
	image.index = 7;
	image.first_node = 80;
	assert_int_equal(images_add(&images, &image), IMAGES_ADDED);
	for (uint32_t i = 0; i < 4; i++) {
		assert_int_equal(images.list[i].same_as, 1);
		assert_true(images.list[i].overlapped);
	}
	assert_int_equal(images_find_only(&images, 0x1fff), 1);
	assert_int_equal(images_find(&images, 85, 0x1000), 0);
	assert_int_equal(images_find(&images, 95, 0x1000), 3);
	images_free(&images);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(like_a_walk),
		cmocka_unit_test(the_same_again),
	};

	return cmocka_run_group_tests_name("images", tests, NULL, NULL);
}
