/* test_memory.c: what can be read, and what only seems to exist. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <errno.h>
#include <signal.h>
#include <sys/mman.h>
#include <cmocka.h>

#include "unwind/memory.h"

static void test_readable(void **unused)
{
	static const char constant[16];
	uint64_t word = 42, value = 0;
	sigset_t before, after;

	(void)unused;
	sigprocmask(SIG_SETMASK, NULL, &before);
	errno = 77;
	assert_true(unwind_readable((uintptr_t)&word));
	assert_true(unwind_readable((uintptr_t)constant));
	assert_true(unwind_read((uintptr_t)&word, &value));
	assert_int_equal(value, 42);
	assert_int_equal(errno, 77);
	sigprocmask(SIG_SETMASK, NULL, &after);
	assert_memory_equal(&before, &after, 8);	/* as the kernel has it */
}

static void test_unreadable(void **unused)
{
	char *p = mmap(NULL, 3 * 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS,
		       -1, 0);
	uint64_t value = 7;

	(void)unused;
	assert_int_equal(mprotect(p + 4096, 4096, PROT_NONE), 0);
	assert_int_equal(munmap(p + 2 * 4096, 4096), 0);
	assert_true(unwind_readable((uintptr_t)p));
	assert_true(unwind_readable((uintptr_t)p + 4096 - 8));
	assert_false(unwind_readable((uintptr_t)p + 4096 - 7));
	assert_false(unwind_readable((uintptr_t)p + 4096));
	assert_false(unwind_readable((uintptr_t)p + 2 * 4096));
	assert_false(unwind_readable(0));
	assert_false(unwind_readable(8));
	assert_false(unwind_readable(UINTPTR_MAX - 8));
	assert_false(unwind_readable((uintptr_t)1 << 63));
	assert_false(unwind_read((uintptr_t)p + 4096, &value));
	assert_int_equal(value, 7);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_readable),
		cmocka_unit_test(test_unreadable),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
