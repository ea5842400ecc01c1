// FLAGS: -pthread
/*
 * jail.c WAY: threads forbid themselves nearly every system call (a forbidden
 * one kills), and then allocate, with deep and always new stacks.
 *
 *	jail tight	all but what the allocator needs, by syscall(), for all
 *			threads
 *	jail prctl	the same by prctl(), for one thread
 *	jail raw	by a system call that passes no library
 *	jail ids	only who they are: new threads and children come later
 *	jail forks	one call more each time, and then children
 *	jail strict	mode strict: read, write, exit
 *	jail tsc	may not read the processor's counter
 *	jail refused	a filter that the kernel does not take
 */
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>

#include "tgt.h"

#define THREADS 4
#define BLOCKS 250000		/* a million in all */
#define DEPTH 60

#define NUMBER BPF_STMT(BPF_LD | BPF_W | BPF_ABS, \
			offsetof(struct seccomp_data, nr))
#define ON(call, what) \
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##call, 0, 1), \
	BPF_STMT(BPF_RET | BPF_K, what)
#define ALLOW(call) ON(call, SECCOMP_RET_ALLOW)
#define DENY(call) ON(call, SECCOMP_RET_KILL_PROCESS)

static struct sock_filter tight[] = {
	NUMBER, ALLOW(read), ALLOW(write), ALLOW(exit), ALLOW(exit_group),
	ALLOW(rt_sigreturn), ALLOW(brk), ALLOW(mmap), ALLOW(munmap),
	BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
};

static struct sock_filter nameless[] = {
	NUMBER, DENY(gettid), DENY(getpid), DENY(sched_yield), DENY(mincore),
	DENY(tgkill), DENY(openat), DENY(wait4), DENY(pidfd_open),
	BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
};

#define PROGRAM(filter) \
	{ sizeof(filter) / sizeof((filter)[0]), filter }

static int arrived, let_go, finished;

static void spin_until(int *word, int value)
{
	while (__atomic_load_n(word, __ATOMIC_ACQUIRE) < value)
		__builtin_ia32_pause();
}

static __attribute__((noinline)) void *deep(unsigned seed, int depth)
{
	void *p;

	if (depth == 0)
		return tgt_malloc(16 + (seed & 255));
	if (seed >> (depth & 15) & 1)
		p = deep(seed, depth - 1);
	else
		p = deep(seed, depth - 1);
	tgt_sink = p;
	return p;
}

static void allocate(unsigned seed, int blocks)
{
	for (int i = 0; i < blocks; i++) {
		int depth = i % 1000 ? 2 : DEPTH;

		seed = seed * 1664525u + 1013904223u;
		tgt_free(deep(seed >> 8, depth), 16 + (seed >> 8 & 255));
	}
}

/* What must be there before: the arena, and stack pages. */
static void warm_up(void)
{
	void *blocks[64];

	for (int i = 0; i < 64; i++)
		blocks[i] = tgt_malloc(1000);
	for (int i = 0; i < 64; i++)
		tgt_free(blocks[i], 1000);
}

static void *work(void *argument)
{
	warm_up();
	__atomic_fetch_add(&arrived, 1, __ATOMIC_RELEASE);
	spin_until(&let_go, 1);
	allocate((unsigned)(uintptr_t)argument, BLOCKS);
	__atomic_fetch_add(&finished, 1, __ATOMIC_RELEASE);
	spin_until(&let_go, 2);
	return NULL;
}

static void be_modest(void)
{
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		_exit(77);
}

static void jail_all(void)
{
	struct sock_fprog program = PROGRAM(tight);

	be_modest();
	if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
		    SECCOMP_FILTER_FLAG_TSYNC, &program))
		_exit(77);
}

static void jail_one(void)
{
	struct sock_fprog program = PROGRAM(tight);

	be_modest();
	if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
		_exit(77);
}

static long seconds_hundredths(void)
{
	struct timespec now;

	/* of the vDSO: no system call */
	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 100 + now.tv_nsec / 10000000;
}

static long raw_seccomp(long flags, const struct sock_fprog *program)
{
	long result;

	__asm__ volatile("syscall"
			 : "=a"(result)
			 : "a"(SYS_seccomp), "D"(SECCOMP_SET_MODE_FILTER),
			   "S"(flags), "d"(program)
			 : "rcx", "r11", "memory");
	return result;
}

static void jail_raw(void)
{
	struct sock_fprog program = PROGRAM(tight);
	long end;

	be_modest();
	if (raw_seccomp(SECCOMP_FILTER_FLAG_TSYNC, &program))
		_exit(77);
	/* time for whoever wants to see it; no call is allowed any more */
	end = seconds_hundredths() + 80;
	while (seconds_hundredths() < end)
		;
}

static void tight_threads(void (*jail)(void))
{
	pthread_t thread[THREADS];

	warm_up();
	/* one after the other, so that each gets an arena of its own: the
	 * allocator would wait for a lock by futex */
	for (long i = 0; i < THREADS; i++) {
		pthread_create(&thread[i], NULL, work, (void *)(i + 1));
		spin_until(&arrived, (int)i + 1);
	}
	jail();
	__atomic_store_n(&let_go, 1, __ATOMIC_RELEASE);
	allocate(7, BLOCKS / 10);
	spin_until(&finished, THREADS);
	tgt_report();
	_exit(0);
}

static void *late(void *argument)
{
	allocate((unsigned)(uintptr_t)argument, 1000);
	return NULL;
}

static void nameless_ones(void)
{
	struct sock_fprog program = PROGRAM(nameless);
	pthread_t thread[THREADS];

	warm_up();
	be_modest();
	if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
		_exit(77);
	for (int round = 0; round < 20; round++) {
		for (long i = 0; i < THREADS; i++)
			pthread_create(&thread[i], NULL, late, (void *)i);
		for (int i = 0; i < THREADS; i++)
			pthread_join(thread[i], NULL);
	}
	if (fork() == 0) {
		allocate(1, 1000);
		_exit(0);
	}
	waitid(P_ALL, 0, &(siginfo_t){ 0 }, WEXITED);
	tgt_report();
}

static void forbid(unsigned number)
{
	struct sock_filter filter[] = {
		NUMBER, BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = PROGRAM(filter);

	if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
		_exit(77);
}

/* Calls that a fork needs for us alone. */
static void forks(void)
{
	static const unsigned calls[] = {
		SYS_sysinfo, SYS_mincore, SYS_madvise, SYS_getpid,
	};
	siginfo_t ended = { 0 };

	warm_up();
	be_modest();
	for (unsigned i = 0; i < sizeof(calls) / sizeof(*calls); i++) {
		forbid(calls[i]);
		if (fork() == 0) {
			allocate(1, 100);
			_exit(0);
		}
		waitid(P_ALL, 0, &ended, WEXITED);
		if (ended.si_code != CLD_EXITED || ended.si_status)
			_exit(3);
	}
	tgt_report();
}

static void strict(void)
{
	warm_up();
	if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT))
		_exit(77);
	allocate(3, 1000);
	tgt_report();
	syscall(SYS_exit, 0);
}

static void timeless(void)
{
	warm_up();
	if (prctl(PR_SET_TSC, PR_TSC_SIGSEGV))
		_exit(77);
	allocate(3, 1000);
	if (prctl(PR_SET_TSC, PR_TSC_ENABLE))
		_exit(78);
	allocate(3, 1000);
	tgt_report();
}

/* Wrong calls are answered as they were, and nothing changes. */
static void refused(void)
{
	struct sock_fprog none = { 0, NULL };
	struct sock_fprog nowhere = { 3, (void *)8 };

	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	tgt_print("prctl", prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &none));
	tgt_print("errno", errno);
	tgt_print("fault", syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0,
				   &nowhere));
	tgt_print("errno", errno);
	tgt_print("mode", prctl(PR_SET_SECCOMP, 17, 0));
	tgt_print("errno", errno);
	allocate(5, 1000);
	tgt_report();
}

int main(int argc, char **argv)
{
	const char *way = argc > 1 ? argv[1] : "tight";

	if (!strcmp(way, "tight"))
		tight_threads(jail_all);
	if (!strcmp(way, "prctl"))
		tight_threads(jail_one);
	if (!strcmp(way, "raw"))
		tight_threads(jail_raw);
	if (!strcmp(way, "ids"))
		nameless_ones();
	if (!strcmp(way, "forks"))
		forks();
	if (!strcmp(way, "strict"))
		strict();
	if (!strcmp(way, "tsc"))
		timeless();
	if (!strcmp(way, "refused"))
		refused();
	return 0;
}
