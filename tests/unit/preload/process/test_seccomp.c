/*
 * test_seccomp.c: what hooks and the recorder know of filters of system calls,
 * and who else knows it then.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <asm/unistd.h>
#include <errno.h>
#include <linux/seccomp.h>
#include <string.h>

#include "preload/ring/area.h"
#include "preload/ring/producer.h"
#include "preload/ring/forbidden.h"
#include "cli/recorder/process/seccomp_verdict.h"
#include "cli/recorder/process/seccomp_watch.h"

static struct gl_shared shared;
static struct recording seen = { .shared = &shared };

/* Bits that hooks have seen stay: each case is about others. */
static int each(void **state)
{
	(void)state;
	memset(&shared, 0, sizeof(shared));
	memset(producer, 0, sizeof(*producer));
	producer->shared = &shared;
	forbidden_report(producer);
	return 0;
}

/* Kills who makes this call. */
#define FILTER 4
#define FILTER_OF(number) {                                            \
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,                     \
			 offsetof(struct seccomp_data, nr)),           \
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1),     \
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),   \
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),          \
	}

static void filter(uint32_t number)
{
	struct sock_filter code[FILTER] = FILTER_OF(number);
	struct sock_fprog program = { FILTER, code };

	forbidden_before();
	forbidden_after(seccomp_verdict(&program), true);
}

static void a_filter_comes_in_parts(void **state)
{
	const struct sock_filter a[FILTER] = FILTER_OF(__NR_bind);
	const struct sock_filter b[FILTER] = FILTER_OF(__NR_mincore);
	static struct seccomp_parts parts;

	(void)state;
	assert_int_equal(seccomp_verdict_part(&parts, 1, FILTER, 0, a, 3), 0);
	assert_int_equal(seccomp_verdict_part(&parts, 1, FILTER, 3, a + 3, 1),
			 SECCOMP_NO_SOCKET);
	assert_int_equal(seccomp_verdict_part(&parts, 2, FILTER, 0, b, FILTER),
			 SECCOMP_NO_PAGES);
	/* begun again meanwhile, by another one or by itself */
	assert_int_equal(seccomp_verdict_part(&parts, 1, FILTER, 0, a, 3), 0);
	assert_int_equal(seccomp_verdict_part(&parts, 2, FILTER, 0, b, 3), 0);
	assert_int_equal(seccomp_verdict_part(&parts, 1, FILTER, 3, a + 3, 1),
			 -EAGAIN);
	assert_int_equal(seccomp_verdict_part(&parts, 2, FILTER, 2, b + 2, 2),
			 -EAGAIN);
}

static void what_is_no_filter_is_refused(void **state)
{
	static const struct sock_filter code[BPF_MAXINSNS];
	static struct seccomp_parts parts;

	(void)state;
	assert_int_equal(seccomp_verdict_part(&parts, 1, BPF_MAXINSNS + 1, 0,
					      code, 1), -EINVAL);
	assert_int_equal(seccomp_verdict_part(&parts, 1, 2, 0, code, 3),
			 -EINVAL);
	assert_int_equal(seccomp_verdict_part(&parts, 1, 2, UINT64_MAX, code,
					      2), -EINVAL);
	assert_int_equal(seccomp_verdict_part(&parts, 1, 2, 0, code, 0),
			 -EINVAL);
	/* one that loads and never returns allows nothing */
	assert_int_equal(seccomp_verdict_part(&parts, 1, BPF_MAXINSNS, 0, code,
					      BPF_MAXINSNS), SECCOMP_NO_ALL);
}

static void the_recorder_knows_what_hooks_know(void **state)
{
	static struct gl_shared next;

	(void)state;
	assert_true(recording_may(&seen, SECCOMP_NO_ALL));
	forbidden_before();
	assert_false(recording_may(&seen, UNWIND_NO_WAIT));
	forbidden_after(0, false);
	assert_true(recording_may(&seen, SECCOMP_NO_ALL));
	filter(__NR_bind);
	assert_false(recording_may(&seen, SECCOMP_NO_SOCKET));
	assert_true(recording_may(&seen, UNWIND_NO_WAIT));
	assert_int_equal(shared.filters_seen, 1);
	forbidden_report_start(&next);	/* as its parent's child begins */
	assert_int_equal(next.ban_known, SECCOMP_NO_SOCKET);
	assert_int_equal(next.filters_seen, 1);
}

static void what_was_there_before_is_told_at_the_start(void **state)
{
	(void)state;
	producer->shared = NULL;
	filter(__NR_mincore);
	assert_int_equal(shared.filters_seen, 1);
	producer->shared = &shared;
	forbidden_report(producer);
	assert_int_equal(shared.filters_seen, 2);
	assert_false(recording_may(&seen, SECCOMP_NO_PAGES));
}

/* Its area is wiped: it has no live mapping. */
static void fork_happens(void)
{
	memset(producer, 0, sizeof(*producer));
}

static void a_child_keeps_what_was_taken_over(void **state)
{
	(void)state;
	assert_true(unwind_may(UNWIND_NO_WAIT));
	shared.ban_found = SECCOMP_NO_ALL;
	assert_false(unwind_may(UNWIND_NO_WAIT));
	assert_false(recording_may(&seen, UNWIND_NO_WAIT));
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
		cmocka_unit_test(a_filter_comes_in_parts),
		cmocka_unit_test(what_is_no_filter_is_refused),
		cmocka_unit_test_setup(the_recorder_knows_what_hooks_know,
				       each),
		cmocka_unit_test_setup(
			what_was_there_before_is_told_at_the_start, each),
		cmocka_unit_test_setup(a_child_keeps_what_was_taken_over,
				       each),
	};

	if (area_map(UINT64_C(16) << 20))
		return 77;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
