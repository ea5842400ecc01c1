/* test_barrier.c: one stub for one return address, for ever. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <sys/wait.h>
#include <unistd.h>

#include "unwind/barrier.h"

#define FIRST ((uintptr_t)UINT64_C(0x7f0012345678))

static void test_stubs(void **unused)
{
	uintptr_t a, b;

	(void)unused;
	assert_true(barrier_init());
	a = barrier_stub(FIRST);
	b = barrier_stub(FIRST + 5);
	assert_true(a && b && a != b);
	assert_int_equal(barrier_stub(FIRST), a);
	assert_true(barrier_in_stubs(a));
	assert_false(barrier_in_stubs((uintptr_t)arch_stub_table));
	assert_false(barrier_in_stubs((uintptr_t)arch_stubs - 1));
	assert_int_equal(barrier_origin(a), FIRST);
	assert_int_equal(barrier_origin(b), arch_return_address(FIRST + 5));
	/* no stub in use: as it is */
	assert_int_equal(barrier_origin(a + 1), arch_return_address(a + 1));
	assert_int_equal(barrier_origin((uintptr_t)arch_stubs),
			 (uintptr_t)arch_stubs);
	assert_int_equal(barrier_origin(12344), 12344);
	assert_int_not_equal(a, (uintptr_t)arch_stubs);
}

/* Where the function that this is part of keeps its return address. */
static inline __attribute__((always_inline)) uintptr_t *own_slot(void)
{
	uintptr_t *slot = (uintptr_t *)__builtin_frame_address(0);

	while (*slot != (uintptr_t)__builtin_return_address(0))
		slot++;
	return slot;
}

static uintptr_t through;

/* Returns through a stub: that of its own return address. */
static __attribute__((noinline)) int returns(int n)
{
	uintptr_t *slot = own_slot();
	uintptr_t stub = barrier_stub(*slot);

	assert_true(stub != 0);
	through = stub;
	*(volatile uintptr_t *)slot = stub;
	return n + 1;
}

static void test_returns(void **unused)
{
	int i, n = 0;

	(void)unused;
	assert_true(barrier_init());
	for (i = 0; i < 1000; i++)
		n = returns(n);
	assert_int_equal(n, 1000);
	assert_true(barrier_in_stubs(through));
}

/* A forked child returns through what its parent put there. */
static __attribute__((noinline)) int forks(void)
{
	uintptr_t *slot = own_slot();
	int pid;

	*(volatile uintptr_t *)slot = barrier_stub(*slot);
	pid = fork();
	assert_true(pid >= 0);
	return pid;
}

static void test_fork(void **unused)
{
	int pid, status;

	(void)unused;
	assert_true(barrier_init());
	pid = forks();
	if (pid == 0)
		_exit(barrier_init() ? 7 : 8);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 7);
}

/* Full: no stub is given, none that was given changes. Last, for it fills the
 * pool. */
static void test_full(void **unused)
{
	static uintptr_t given[2 * ARCH_STUBS];
	uintptr_t i;
	unsigned n = 0, refused = 0;

	(void)unused;
	assert_true(barrier_init());
	for (i = 0; i < 2 * ARCH_STUBS; i++) {
		given[i] = barrier_stub(FIRST + 64 * i);
		n += given[i] != 0;
		refused += given[i] == 0;
	}
	assert_true(n > ARCH_STUBS / 8 * 7 && n < ARCH_STUBS && refused);
	for (i = 0; i < 2 * ARCH_STUBS; i++)
		if (given[i]) {
			assert_int_equal(barrier_origin(given[i]),
					 FIRST + 64 * i);
			assert_int_equal(barrier_stub(FIRST + 64 * i),
					 given[i]);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_stubs),
		cmocka_unit_test(test_returns),
		cmocka_unit_test(test_fork),
		cmocka_unit_test(test_full),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
// FLAGS: -fno-omit-frame-pointer
