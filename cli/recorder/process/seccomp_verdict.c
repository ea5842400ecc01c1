/*
 * seccomp_verdict.c: see seccomp_verdict.h.
 */
#include "cli/recorder/process/seccomp_verdict.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/futex.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include "arch.h"
#include "cli/recorder/process/bpf.h"
#include "preload/base/ban.h"
#include "unwind/base/assertion.h"

#define SECCOMP_HOW_INVALID (~0L)	/* the same as in unwind_probe */
/* PIDFD_GET_INFO: reads how a process ended (target.c). */
#define SECCOMP_GET_INFO 0xc040ff0bu

struct seccomp_call {
	uint32_t bits;
	int number;
	long first, second;	/* arguments that a filter may check */
};

#define SECCOMP_SOCKET(name, first) \
	{ SECCOMP_NO_SOCKET, __NR_##name, first, 0 }
#define SECCOMP_START(name) { SECCOMP_NO_START, __NR_##name, 0, 0 }

/* Our system calls: in threads of the target, and (SECCOMP_NO_START) to start a
 * recorder and in the recorder itself. */
static const struct seccomp_call seccomp_calls[] = {
	{ UNWIND_NO_PROBE | SECCOMP_NO_START, __NR_rt_sigprocmask,
	  SECCOMP_HOW_INVALID, 0 },
	{ UNWIND_NO_WAIT | SECCOMP_NO_START, __NR_futex, 0,
	  FUTEX_WAIT },
	{ UNWIND_NO_WAIT | SECCOMP_NO_START, __NR_futex, 0,
	  FUTEX_WAKE },
	{ UNWIND_NO_IDS | SECCOMP_NO_START, __NR_getpid, 0, 0 },
	{ UNWIND_NO_IDS, __NR_getppid, 0, 0 },
	{ UNWIND_NO_IDS | SECCOMP_NO_START, __NR_gettid, 0, 0 },
	{ UNWIND_NO_IDS | SECCOMP_NO_START, __NR_prctl, PR_GET_NAME, 0 },
	{ UNWIND_NO_ADVICE | SECCOMP_NO_GROWTH | SECCOMP_NO_START,
	  __NR_madvise, 0, 0 },
	{ UNWIND_NO_COPY | SECCOMP_NO_START, __NR_process_vm_readv, 0, 0 },
	{ UNWIND_NO_FILES | SECCOMP_NO_START, __NR_openat, AT_FDCWD, 0 },
	{ UNWIND_NO_FILES | SECCOMP_NO_START, ARCH_NR_FSTATAT, 0, 0 },
	{ UNWIND_NO_FILES | SECCOMP_NO_GROWTH | SECCOMP_NO_START,
	  ARCH_NR_MMAP, 0, 0 },
	{ UNWIND_NO_FILES | SECCOMP_NO_GROWTH | SECCOMP_NO_START,
	  __NR_munmap, 0, 0 },
	{ SECCOMP_NO_GROWTH, __NR_mremap, 0, 0 },
	{ SECCOMP_NO_PAGES, __NR_mincore, 0, 0 },
	{ SECCOMP_NO_PAGES, __NR_sysinfo, 0, 0 },
	{ UNWIND_NO_FILES | SECCOMP_NO_START, __NR_close, 0, 0 },
	{ UNWIND_NO_READ | SECCOMP_NO_START, __NR_read, 0, 0 },
	{ UNWIND_NO_READ | SECCOMP_NO_START, __NR_pread64, 0, 0 },
	{ SECCOMP_NO_STATUS, __NR_ioctl, 0, SECCOMP_GET_INFO },
	{ SECCOMP_NO_LOCK, __NR_capget, 0, 0 },
	{ SECCOMP_NO_LOCK, __NR_prlimit64, 0, 0 },
	{ SECCOMP_NO_LOCK, __NR_mlock, 0, 0 },
	{ SECCOMP_NO_LOCK, __NR_mlock2, 0, 0 },
	SECCOMP_SOCKET(socket, AF_UNIX), SECCOMP_SOCKET(bind, 0),
	SECCOMP_SOCKET(listen, 0), SECCOMP_SOCKET(accept4, 0),
	SECCOMP_SOCKET(getsockopt, 0), SECCOMP_SOCKET(recvfrom, 0),
	SECCOMP_SOCKET(sendto, 0),
#define SECCOMP_ARCH(name) SECCOMP_START(name),
	ARCH_START_CALLS(SECCOMP_ARCH)
	SECCOMP_START(brk),
	SECCOMP_START(clock_gettime), SECCOMP_START(clone),
	SECCOMP_START(close_range), SECCOMP_START(dup3), SECCOMP_START(execve),
	SECCOMP_START(exit), SECCOMP_START(faccessat),
	SECCOMP_START(fallocate), SECCOMP_START(fcntl), SECCOMP_START(flock),
	SECCOMP_START(fstatfs), SECCOMP_START(ftruncate),
	SECCOMP_START(getcwd),
	SECCOMP_START(getegid), SECCOMP_START(geteuid),
	SECCOMP_START(getrandom), SECCOMP_START(kill),
	SECCOMP_START(linkat),
	SECCOMP_START(lseek), SECCOMP_START(mkdirat), SECCOMP_START(mprotect),
	SECCOMP_START(munmap), SECCOMP_START(nanosleep),
	SECCOMP_START(pidfd_open), SECCOMP_START(pipe2), SECCOMP_START(ppoll),
	SECCOMP_START(prctl),
	SECCOMP_START(pread64), SECCOMP_START(prlimit64),
	SECCOMP_START(readlinkat),
	SECCOMP_START(renameat), SECCOMP_START(renameat2),
	SECCOMP_START(rseq),
	SECCOMP_START(rt_sigaction), SECCOMP_START(rt_sigpending),
	SECCOMP_START(rt_sigtimedwait),
	SECCOMP_START(sched_setaffinity), SECCOMP_START(sched_setscheduler),
	SECCOMP_START(sched_yield), SECCOMP_START(set_robust_list),
	SECCOMP_START(set_tid_address), SECCOMP_START(setsid),
	SECCOMP_START(memfd_create), SECCOMP_START(shmat),
	SECCOMP_START(shmctl), SECCOMP_START(shmget),
	SECCOMP_START(statfs), SECCOMP_START(tgkill), SECCOMP_START(uname),
	SECCOMP_START(unlinkat), SECCOMP_START(wait4), SECCOMP_START(write),
};

uint32_t seccomp_verdict(const struct sock_fprog *program)
{
	const size_t count = sizeof(seccomp_calls) / sizeof(seccomp_calls[0]);
	uint32_t bits = 0;
	size_t i;

	for (i = 0; i < count; i++) {
		const struct seccomp_call *call = &seccomp_calls[i];
		struct seccomp_data data = {
			.nr = call->number,
			.arch = ARCH_AUDIT,
			.args = { call->first, call->second },
		};

		if ((bits & call->bits) != call->bits &&
		    !bpf_allows(program, &data))
			bits |= call->bits;
	}
	return bits;
}

long seccomp_verdict_part(struct seccomp_parts *rotation, int64_t asker,
			  uint64_t count, uint64_t from,
			  const struct sock_filter *code, uint64_t n)
{
	const struct sock_fprog program = { count, rotation->code };

	if (!n || count > BPF_MAXINSNS || from > count || n > count - from)
		return -EINVAL;
	if (!from) {
		rotation->asker = asker;
		rotation->filled = 0;
	}
	if (rotation->asker != asker || rotation->filled != from)
		return -EAGAIN;
	DEBUG_ASSERT(rotation->filled + n <= BPF_MAXINSNS);
	memcpy(rotation->code + from, code, n * sizeof(*code));
	rotation->filled += n;
	return rotation->filled < count ? 0 : seccomp_verdict(&program);
}
