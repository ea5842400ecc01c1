/*
 * test_live_order.c: each struct of a live file, in the other byte order. Which
 * bytes of it belong together is written down here once more.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "cli/trace/live/live_order.h"

static uint8_t before[sizeof(struct gl_image) + sizeof(struct gl_header)];
static uint8_t after[sizeof(before)];

/* Bytes of which no two neighbours are the same, nor two words. */
static void fill(void)
{
	for (size_t i = 0; i < sizeof(before); i++)
		before[i] = (uint8_t)(i * 7 + i / 256 * 3 + 1);
}

/* From *at on, fields of so many bytes; "." is one that stays. */
static void expect(size_t *at, const char *widths)
{
	for (; *widths; widths++) {
		unsigned width = *widths == '.' ? 1 : (unsigned)(*widths - '0');

		for (unsigned i = 0; i < width; i++)
			assert_int_equal(after[*at + i],
					 before[*at + width - 1 - i]);
		*at += width;
	}
}

static void stays(size_t at, size_t end)
{
	assert_memory_equal(after + at, before + at, end - at);
}

static void of_a_header(void **state)
{
	uint32_t version = __builtin_bswap32(GL_VERSION);
	struct gl_header header;
	size_t at = 0;

	(void)state;
	fill();
	memcpy(&header, before, sizeof(header));
	assert_false(live_order_header(&header));
	assert_memory_equal(&header, before, sizeof(header));
	memcpy(before + offsetof(struct gl_header, version), &version,
	       sizeof(version));
	memcpy(&header, before, sizeof(header));
	assert_true(live_order_header(&header));
	assert_int_equal(header.version, GL_VERSION);
	memcpy(after, &header, sizeof(header));
	expect(&at, "84484484488888888448444");
	stays(at, offsetof(struct gl_header, shared_offset));
	at = offsetof(struct gl_header, shared_offset);
	expect(&at, "88");
	assert_int_equal(at, sizeof(header));
}

static void of_a_ring(void **state)
{
	struct gl_ring ring;
	size_t at = 0;

	(void)state;
	fill();
	memcpy(&ring, before, sizeof(ring));
	live_order_ring(&ring);
	memcpy(after, &ring, sizeof(ring));
	expect(&at, "888888888" "444444" "8888");
	assert_int_equal(at, sizeof(ring));
}

static void of_a_node(void **state)
{
	struct gl_node node;
	size_t at = 0;

	(void)state;
	fill();
	memcpy(&node, before, sizeof(node));
	live_order_node(&node);
	memcpy(after, &node, sizeof(node));
	expect(&at, "844");
	assert_int_equal(at, sizeof(node));
}

static void of_an_image(void **state)
{
	struct gl_image image;
	size_t at = 0;

	(void)state;
	fill();
	memcpy(&image, before, sizeof(image));
	live_order_image(&image);
	memcpy(after, &image, sizeof(image));
	expect(&at, "4444" "8" "44");
	for (unsigned i = 0; i < GL_SEGMENTS_MAX; i++)
		expect(&at, "8884....");
	assert_int_equal(at, offsetof(struct gl_image, build_id));
	stays(at, sizeof(image));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(of_a_header),
		cmocka_unit_test(of_a_ring),
		cmocka_unit_test(of_a_node),
		cmocka_unit_test(of_an_image),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
