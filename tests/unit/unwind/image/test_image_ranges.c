/* test_image_ranges.c: from address to image, as images come and go. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <elf.h>
#include <cmocka.h>

#include "tests/unit/table_builder.h"
#include "unwind/image/image_ranges.h"

enum { IMAGES = 600, SPAN = 0x3000, CODE_AT = 0x1000, CODE_BYTES = 0x1100 };

static struct image images[IMAGES];
static struct gl_image records[IMAGES];

static uintptr_t place(unsigned int slot)
{
	return UINT64_C(0x7f0000000000) + slot * (uintptr_t)SPAN;
}

/* Image n at a place: data, code, data; every fifth has more code. */
static void make(unsigned int n, unsigned int slot)
{
	uintptr_t at = place(slot);
	struct gl_image *g = &records[n];

	*g = (struct gl_image){ .segments = 3 };
	g->segment[0] = (struct gl_segment){ at, CODE_AT, 0, PF_R, 0 };
	g->segment[1] = (struct gl_segment){ at + CODE_AT, CODE_BYTES, 0,
					     PF_R | PF_X, 0 };
	g->segment[2] = (struct gl_segment){ at + 0x2800, 0x100, 0,
					     n % 5 ? PF_R : PF_R | PF_X, 0 };
	images[n] = (struct image){ .public = g };
	if (n % 5) {
		images[n].code_start = at + CODE_AT;
		images[n].code_end = at + CODE_AT + CODE_BYTES;
	}
}

static void start(void)
{
	builder_alloc_left = -1;
	unwind_alloc = builder_alloc;
	image_ranges_init(images);
}

/* Twice, as the second answer comes another way. */
static void finds(uintptr_t pc, const struct image *want)
{
	assert_ptr_equal(image_ranges_find(pc), want);
	assert_ptr_equal(image_ranges_find(pc), want);
}

static void is_at(unsigned int n, unsigned int slot)
{
	uintptr_t at = place(slot);

	finds(at + CODE_AT - 1, NULL);
	finds(at + CODE_AT, &images[n]);
	finds(at + CODE_AT + CODE_BYTES - 1, &images[n]);
	finds(at + CODE_AT + CODE_BYTES, NULL);
	finds(at + 0x2880, n % 5 ? NULL : &images[n]);
}

/* 600 in a scattered order, so that many share their 64 KiB. */
static void test_coming(void **unused)
{
	unsigned int n, m;

	(void)unused;
	start();
	finds(place(0), NULL);
	for (n = 0; n < IMAGES; n++) {
		make(n, n * 197 % IMAGES);
		finds(place(n * 197 % IMAGES) + CODE_AT, NULL);
		image_ranges_publish(n + 1);
		for (m = n % 7; m <= n; m += 41)
			is_at(m, m * 197 % IMAGES);
	}
	for (m = 0; m < IMAGES; m++)
		is_at(m, m * 197 % IMAGES);
	finds(0, NULL);
	finds(UINTPTR_MAX, NULL);
}

/* One after the other at the same place, beside some that stay. */
static void test_coming_and_going(void **unused)
{
	unsigned int n;

	(void)unused;
	start();
	for (n = 0; n < 10; n++)
		make(n, n);
	image_ranges_publish(10);
	for (; n < IMAGES; n++) {
		make(n, 10 + n % 2);
		image_ranges_publish(n + 1);
		is_at(n, 10 + n % 2);
		is_at(n % 10, n % 10);
		images[n].gone = true;
		finds(place(10 + n % 2) + CODE_AT, NULL);
	}
}

static void test_no_memory(void **unused)
{
	unsigned int n;

	(void)unused;
	start();
	make(0, 0);
	builder_alloc_left = 0;
	image_ranges_publish(1);
	finds(place(0) + CODE_AT, NULL);
	builder_alloc_left = -1;
	image_ranges_publish(1);
	is_at(0, 0);
	builder_alloc_left = 0;
	for (n = 1; n < IMAGES; n++) {
		make(n, n);
		image_ranges_publish(n + 1);
	}
	is_at(0, 0);
	finds(place(IMAGES - 1) + CODE_AT, NULL);
	builder_alloc_left = -1;
	image_ranges_publish(IMAGES);
	is_at(IMAGES - 1, IMAGES - 1);
}

/* What was asked for last. */
static void *last_made;

static void *alloc_and_tell(size_t size)
{
	return last_made = builder_alloc(size);
}

static void test_broken_ranges(void **unused)
{
	uint32_t *sorted;

	(void)unused;
	start();
	assert_true(image_ranges_is_valid());	/* none */
	make(0, 0);
	make(1, 1);
	unwind_alloc = alloc_and_tell;
	image_ranges_publish(2);
	assert_true(image_ranges_is_valid());
	sorted = last_made;		/* struct range_table */
	sorted[0] += 100;
	assert_false(image_ranges_is_valid());
	sorted[0] -= 100;
	sorted[1] = 0;			/* room */
	assert_false(image_ranges_is_valid());
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_coming),
		cmocka_unit_test(test_coming_and_going),
		cmocka_unit_test(test_no_memory),
		cmocka_unit_test(test_broken_ranges),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
