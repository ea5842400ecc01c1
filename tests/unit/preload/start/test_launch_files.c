/* test_launch_files.c: closing descriptors on kernels without close_range. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "preload/start/launch_job.h"

#define LARGE 70000

static int large = LARGE;

static int refuse_close_range(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
			 offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_close_range, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { 4, code };

	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	       prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

static int child(void)
{
	const int keep[] = { 2, 5 };

	if (dup2(2, 5) < 0 || dup2(2, 6) < 0 || dup2(2, large) < 0 ||
	    refuse_close_range())
		return 77;
	launch_files_close(keep, 2);
	return (fcntl(2, F_GETFD) >= 0 && fcntl(5, F_GETFD) >= 0 ? 0 : 1) |
	       (fcntl(6, F_GETFD) < 0 ? 0 : 2) |
	       (fcntl(large, F_GETFD) < 0 ? 0 : 4);
}

static void without_close_range(void **state)
{
	struct rlimit limit;
	int status;
	pid_t pid;

	(void)state;
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
	limit.rlim_cur = LARGE + 1;
	if (limit.rlim_max <= LARGE)	/* root may raise it */
		limit.rlim_max = LARGE + 1;
	if (setrlimit(RLIMIT_NOFILE, &limit)) {
		/* not permitted: the largest that is */
		assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
		limit.rlim_cur = limit.rlim_max;
		assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
		large = limit.rlim_max - 1;
	}
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0)
		_exit(child());
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_close_range),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
