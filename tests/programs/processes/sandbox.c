/*
 * sandbox.c: forbids itself every system call except those of an allocator
 * (others kill); then allocates with always new stacks, and grows. The profiler
 * in its threads must respect that.
 */
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "tgt.h"

#define ALLOW(call) \
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##call, 0, 1), \
	BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)

static void enter_sandbox(void)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
			 offsetof(struct seccomp_data, nr)),
		ALLOW(write), ALLOW(exit_group), ALLOW(exit), ALLOW(brk),
		ALLOW(mmap), ALLOW(munmap), ALLOW(mremap), ALLOW(madvise),
		ALLOW(mprotect), ALLOW(futex), ALLOW(rt_sigreturn),
		ALLOW(rt_sigprocmask), ALLOW(clock_gettime),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
	};
	struct sock_fprog program = {
		sizeof(filter) / sizeof(filter[0]), filter
	};

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
		_exit(77);
}

static void *spread(unsigned seed, int depth)
{
	void *p;

	if (depth == 0)
		return tgt_malloc(16 + (seed & 1023));
	if (seed >> depth & 1)
		p = spread(seed, depth - 1);
	else
		p = spread(seed, depth - 1);
	tgt_sink = p;
	return p;
}

int main(void)
{
	unsigned seed = 42;

	tgt_free(tgt_malloc(10), 10);
	enter_sandbox();
	for (int i = 0; i < 200000; i++) {
		void *p;

		seed = seed * 1664525u + 1013904223u;
		p = spread(seed >> 8, 12);
		if (i % 16)
			tgt_free(p, 16 + (seed >> 8 & 1023));
	}
	tgt_report();
	return 0;
}
