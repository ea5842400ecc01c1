/* test_cfi_index.c: a table of our own answers as a pass over all records. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "tests/unit/table_builder.h"
#include "unwind/rules/cfi_index.h"

static struct builder b;
static struct cfi_tables pass, indexed;
static uint32_t seed;

static uint32_t random_below(uint32_t n)
{
	seed = seed * 1664525u + 1013904223u;
	return (seed >> 8) % n;
}

/* FDEs on code from the section's start on, as entries hold 32 bits. */
static void build(unsigned int fdes, unsigned int room, bool in_order)
{
	struct rules_sections s;
	size_t cie, at[512], i;
	uint64_t start;

	b.size = 0;
	cie = put_cie(&b, "zR", ENC_ABS8);
	for (i = 0; i < fdes; i++)
		at[i] = put_fde(&b, cie, 0, random_below(9));
	put_u32(&b, 0);
	s = builder_sections(&b);
	for (i = 0; i < fdes; i++) {
		start = s.eh_frame + (in_order ? i * 16 : random_below(room));
		memcpy((void *)(s.eh_frame + at[i] + 8), &start, 8);
	}
	cfi_tables_init(&pass, &s);
	indexed = pass;
	assert_int_equal(cfi_index_make(&indexed), fdes * 8);
	assert_int_equal(indexed.entries, fdes);
}

static void same_answers(unsigned int room)
{
	struct cfi_fde a, c;
	uintptr_t pc;
	int status;

	for (pc = pass.frames - 10; pc < pass.frames + room + 20; pc++) {
		status = cfi_find(&pass, pc, &a);
		assert_int_equal(cfi_find(&indexed, pc, &c), status);
		assert_true(c.valid_start <= pc && pc < c.valid_end);
		if (status)
			continue;
		assert_int_equal(a.start, c.start);
		assert_int_equal(a.program, c.program);
	}
}

/* Equal starts, no length, overlaps: few enough for a look-up's limit. */
static void test_any_order(void **unused)
{
	unsigned int round;

	(void)unused;
	unwind_alloc = builder_alloc;
	for (round = 0; round < 100; round += 4) {
		seed = round;
		build(1 + round * 4, 40 + 40 * round, false);
		same_answers(40 + 40 * round);
	}
	build(500, 0, true);
	same_answers(8000);
}

/* More than an entry can say. */
#define FAR (UINT64_C(0x80001000))

static void test_no_index(void **unused)
{
	struct rules_sections s;
	struct cfi_fde found;
	size_t cie, fde;
	uint64_t far;

	(void)unused;
	unwind_alloc = builder_alloc;
	build(4, 100, false);
	assert_int_equal(cfi_index_make(&indexed), 0);	/* has one */
	builder_alloc_left = 0;
	indexed = pass;
	assert_int_equal(cfi_index_make(&indexed), 0);
	assert_int_equal(indexed.table, 0);
	builder_alloc_left = -1;
	/* Code too far for 32 bits is found by a pass, on either side. */
	b.size = 0;
	cie = put_cie(&b, "zR", ENC_ABS8);
	fde = put_fde(&b, cie, 0, 16);
	s = builder_sections(&b);
	far = s.eh_frame > FAR ? s.eh_frame - FAR : s.eh_frame + FAR;
	memcpy((void *)(s.eh_frame + fde + 8), &far, 8);
	cfi_tables_init(&pass, &s);
	indexed = pass;
	assert_int_equal(cfi_index_make(&indexed), 0);
	same_answers(0);
	assert_int_equal(cfi_find(&indexed, (uintptr_t)far, &found), 0);
	assert_int_equal(cfi_find(&indexed, (uintptr_t)far - 1, &found),
			 -ENOENT);
	assert_true(found.valid_end == far);
	/* Nothing at all. */
	s.eh_frame = 0;
	cfi_tables_init(&indexed, &s);
	assert_int_equal(cfi_index_make(&indexed), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_any_order),
		cmocka_unit_test(test_no_index),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
