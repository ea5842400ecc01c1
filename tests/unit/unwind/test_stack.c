/* test_stack.c: which addresses count as a thread's own stack. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <cmocka.h>

#include "tests/unit/test_unwinder.h"
#include "unwind/stack.h"

#define PAGES 16

/* A made-up stack of PAGES with a page below it that cannot be read. */
static uintptr_t make(struct capture_thread *t)
{
	char *p = mmap(NULL, (PAGES + 1) * UNWIND_PAGE, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert_int_equal(mprotect(p, UNWIND_PAGE, PROT_NONE), 0);
	memset(t, 0, sizeof(*t));
	t->hi = (uintptr_t)p + (PAGES + 1) * UNWIND_PAGE - 256;
	t->lo = t->hi;
	return t->hi;
}

static void test_proof(void **unused)
{
	struct capture_thread t;
	uintptr_t hi = make(&t), floor = hi + 256 - PAGES * UNWIND_PAGE;

	(void)unused;
	assert_false(stack_is_base(&t, hi));
	assert_false(stack_is_base(&t, hi + 64));
	assert_true(stack_is_base(&t, hi - 64));
	assert_true(t.lo <= hi - 64 && t.lo > hi - 64 - UNWIND_PAGE);
	assert_true(stack_is_base(&t, hi - 5 * UNWIND_PAGE));
	assert_true(stack_is_base(&t, hi - 64));
	assert_true(stack_is_base(&t, floor));
	assert_int_equal(t.lo, floor);
	assert_false(stack_is_base(&t, floor - 8));
	assert_int_equal(t.floor, floor);
	assert_true(stack_is_base(&t, floor));
}

static void test_elsewhere(void **unused)
{
	struct capture_thread t;
	uintptr_t hi = make(&t);

	(void)unused;
	/* Too far away to be looked for page by page. */
	assert_false(stack_is_base(&t, hi - (UINT64_C(100) << 20)));
	assert_false(stack_is_base(&t, 0x1000));
	assert_int_equal(t.lo, t.hi);
}

static void test_read(void **unused)
{
	struct capture_thread t;
	uintptr_t hi = make(&t), value = 0;
	struct stack_reader r = { 0 };

	(void)unused;
	*(uintptr_t *)(hi - 8) = 99;
	assert_true(stack_read(&r, hi - 8, &value));
	assert_int_equal(value, 99);
	assert_false(stack_read(&r, hi - 7, &value));
	assert_false(stack_read(&r, hi + 256 - (PAGES + 1) * UNWIND_PAGE,
				&value));
	r.lo = hi - 64;
	r.hi = hi;
	value = 0;
	assert_true(stack_read(&r, hi - 8, &value));
	assert_int_equal(value, 99);
}

static void test_grow(void **unused)
{
	struct capture_report report = { 0 };
	struct capture_thread t = { .report = &report };
	uint32_t i;

	(void)unused;
	unwind_alloc = test_unwinder_alloc;
	assert_true(stack_grow(&t));
	for (i = 0; i < 5000; i++) {
		while (t.count >= t.capacity)
			assert_true(stack_grow(&t));
		t.frames[t.count++].slot = i;
		t.scratch[0].ra = 7;
	}
	for (i = 0; i < 5000; i++)
		assert_int_equal(t.frames[i].slot, i);
	assert_int_equal(t.scratch[0].ra, 7);
	while (stack_grow(&t))
		;
	assert_true(t.capacity >= 1u << 19);
	assert_int_equal(report.stack_bytes, stack_bytes(&t));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_proof),
		cmocka_unit_test(test_elsewhere),
		cmocka_unit_test(test_read),
		cmocka_unit_test(test_grow),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
