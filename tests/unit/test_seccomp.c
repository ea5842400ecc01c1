/*
 * test_seccomp.c: what hooks and the writer know of filters of system calls,
 * and who else knows it then.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <asm/unistd.h>
#include <linux/seccomp.h>
#include <string.h>

#include "preload/ring/area.h"
#include "preload/ring/recorder.h"
#include "preload/process/seccomp.h"
#include "preload/ring/forbidden.h"
#include "cli/recorder/seccomp_watch.h"

static struct gl_shared shared;
static struct recording writer = { .shared = &shared };

/* Bits that hooks have seen stay: each case is about others. */
static int each(void **state)
{
	(void)state;
	memset(&shared, 0, sizeof(shared));
	memset(recorder, 0, sizeof(*recorder));
	recorder->shared = &shared;
	forbidden_tell(recorder);
	return 0;
}

static void filter(uint32_t number)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
			 offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { 4, code };

	forbidden_before();
	seccomp_after_filter(&program);
}

static void the_writer_knows_what_hooks_know(void **state)
{
	static struct gl_shared next;

	(void)state;
	assert_true(recording_may(&writer, SECCOMP_NO_ALL));
	forbidden_before();
	assert_false(recording_may(&writer, UNWIND_NO_WAIT));
	forbidden_after(0, false);
	assert_true(recording_may(&writer, SECCOMP_NO_ALL));
	filter(__NR_bind);
	assert_false(recording_may(&writer, SECCOMP_NO_SOCKET));
	assert_true(recording_may(&writer, UNWIND_NO_WAIT));
	assert_int_equal(shared.filters_seen, 1);
	forbidden_tell_start(&next);	/* as its parent's child begins */
	assert_int_equal(next.ban_known, SECCOMP_NO_SOCKET);
	assert_int_equal(next.filters_seen, 1);
}

static void what_was_there_before_is_told_at_the_start(void **state)
{
	(void)state;
	recorder->shared = NULL;
	filter(__NR_mincore);
	assert_int_equal(shared.filters_seen, 1);
	recorder->shared = &shared;
	forbidden_tell(recorder);
	assert_int_equal(shared.filters_seen, 2);
	assert_false(recording_may(&writer, SECCOMP_NO_PAGES));
}

/* Its area is wiped: it has no live mapping. */
static void fork_happens(void)
{
	memset(recorder, 0, sizeof(*recorder));
}

static void a_child_keeps_what_was_taken_over(void **state)
{
	(void)state;
	assert_true(unwind_may(UNWIND_NO_WAIT));
	shared.ban_found = SECCOMP_NO_ALL;
	assert_false(unwind_may(UNWIND_NO_WAIT));
	assert_false(recording_may(&writer, UNWIND_NO_WAIT));
	/* a fork that nobody sees */
	fork_happens();
	assert_true(unwind_may(UNWIND_NO_WAIT));
	each(NULL);
	shared.ban_found = SECCOMP_NO_ALL;
	forbidden_take_over();
	assert_int_equal(shared.ban_known, SECCOMP_NO_ALL);
	fork_happens();
	assert_false(unwind_may(UNWIND_NO_WAIT));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(the_writer_knows_what_hooks_know, each),
		cmocka_unit_test_setup(
			what_was_there_before_is_told_at_the_start, each),
		cmocka_unit_test_setup(a_child_keeps_what_was_taken_over,
				       each),
	};

	if (area_map(UINT64_C(16) << 20))
		return 77;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
