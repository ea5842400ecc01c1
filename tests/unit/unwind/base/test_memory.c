/* test_memory.c: what can be read, and what only seems to exist. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <cmocka.h>

#include "unwind/base/memory.h"
#include "unwind/base/signals.h"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

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
	assert_true(unwind_readable((uintptr_t)p + 4096 - SIGNALS_SET));
	assert_false(unwind_readable((uintptr_t)p + 4096 - 7));
	assert_false(unwind_readable((uintptr_t)p + 4096));
	assert_false(unwind_readable((uintptr_t)p + 2 * 4096));
	assert_false(unwind_readable(0));
	assert_false(unwind_readable(8));
	assert_false(unwind_readable(UINTPTR_MAX - 8));
	assert_false(unwind_readable(UINTPTR_MAX / 2 + 1));
	assert_false(unwind_read((uintptr_t)p + 4096, &value));
	assert_int_equal(value, 7);
}

/* An emulator takes all for readable, if it is asked as usual. */
static void test_choose(void **unused)
{
	char *p = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
		       0);
	bool emulated = unwind_emulated;
	uint64_t word = 0;

	(void)unused;
	assert_true(unwind_choose_probe((uintptr_t)p, (uintptr_t)&word));
	assert_int_equal(unwind_emulated, emulated);
	assert_int_equal(unwind_ban, 0);
	assert_false(unwind_choose_probe((uintptr_t)&word, (uintptr_t)&word));
	assert_false(unwind_emulated);
	assert_int_equal(unwind_ban, UNWIND_NO_PROBE);
	assert_false(unwind_readable((uintptr_t)&word));
	unwind_emulated = emulated;
	unwind_ban = 0;
	munmap(p, 4096);
}

static unsigned pages_there(char *p, size_t n)
{
	unsigned char there[1024];
	unsigned count = 0;
	size_t i;

	assert_true(n / 4096 <= sizeof(there));
	assert_int_equal(mincore(p, n, there), 0);
	for (i = 0; i < n / 4096; i++)
		count += there[i] & 1;
	return count;
}

static void test_want_pages(void **unused)
{
	const size_t n = 384 * 4096;
	char *p = mmap(NULL, n, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	bool known;	/* not by older kernels, nor by emulators */

	(void)unused;
	errno = 77;
	/* too small to be worth a call */
	unwind_want_pages(p, 64 * 4096);
	assert_int_equal(pages_there(p, n), 0);
	atomic_store(&unwind_ban, UNWIND_NO_ADVICE);
	unwind_want_pages(p, n);
	assert_int_equal(pages_there(p, n), 0);
	atomic_store(&unwind_ban, 0);
	/* whole pages only */
	unwind_want_pages(p + 64, n - 64);
	assert_int_equal(errno, 77);
	known = madvise(p, 4096, MADV_POPULATE_WRITE) == 0 &&
		pages_there(p, 4096) == 1;
	assert_int_equal(pages_there(p, n), known ? 384 : 0);
	munmap(p, n);
}

static void copy_all_ways(char *p)
{
	char to[3 * 4096];

	memset(to, 0, sizeof(to));
	errno = 77;
	assert_int_equal(unwind_copy(to, (uintptr_t)p + 1, 4), 4);
	assert_memory_equal(to, "ello", 4);
	/* up to what cannot be read */
	assert_int_equal(unwind_copy(to, (uintptr_t)p + 4000, 200), 96);
	assert_int_equal(unwind_copy(to, (uintptr_t)p, sizeof(to)), 4096);
	assert_memory_equal(to, p, 4096);
	assert_int_equal(unwind_copy(to, (uintptr_t)p + 4096, 8), 0);
	assert_int_equal(unwind_copy(to, (uintptr_t)p + 2 * 4096, 8), 0);
	assert_int_equal(unwind_copy(to, 0, 8), 0);
	assert_int_equal(unwind_copy(to, UINTPTR_MAX - 3, 8), 0);
	assert_int_equal(unwind_copy(to, (uintptr_t)p, 0), 0);
	assert_int_equal(errno, 77);
}

/* With the call for it, and without. */
static void test_copy(void **unused)
{
	char *p = mmap(NULL, 3 * 4096, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char to[8];

	(void)unused;
	strcpy(p, "hello");
	assert_int_equal(mprotect(p + 4096, 4096, PROT_NONE), 0);
	assert_int_equal(munmap(p + 2 * 4096, 4096), 0);
	copy_all_ways(p);
	unwind_ban = UNWIND_NO_COPY;
	copy_all_ways(p);
	unwind_ban = UNWIND_NO_IDS;
	copy_all_ways(p);
	unwind_ban = UNWIND_NO_COPY | UNWIND_NO_PROBE;
	assert_int_equal(unwind_copy(to, (uintptr_t)p, 4), 0);
	unwind_ban = 0;
}

int main(void)
{
	void *none;
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_readable),
		cmocka_unit_test(test_unreadable),
		cmocka_unit_test(test_choose),
		cmocka_unit_test(test_want_pages),
		cmocka_unit_test(test_copy),
	};

	/* of a port, by an emulator */
	none = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (!unwind_choose_probe((uintptr_t)none, (uintptr_t)&none))
		return 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
