/*
 * seccomp.c: see seccomp.h.
 *
 * I1  A bit of unwind_ban that is set because of a filter stays: filters
 *     cannot be taken away. Only what seccomp_before sets in advance is taken
 *     back by seccomp_after_*.
 */
#include "preload/seccomp.h"

#include <linux/audit.h>
#include <linux/prctl.h>
#include <string.h>
#include <sys/socket.h>

#include "preload/filter.h"
#include "preload/proc.h"
#include "preload/recorder.h"
#include "preload/sys.h"
#include "preload/target.h"
#include "preload/text.h"

#define SECCOMP_STATUS_MAX 4096	/* of /proc/PID/status, more than it has */
#define SECCOMP_LOOKS 2		/* threads a look */
#define SECCOMP_HOW_INVALID (~0L)	/* as unwind_probe has it */

/* Bits for filters that are in force, and how many calls are under way. */
static _Atomic uint32_t seccomp_known;
static _Atomic uint32_t seccomp_pending;
/* Filters that the hooks have seen; those of a parent count. */
static _Atomic uint32_t seccomp_seen;

struct seccomp_call {
	uint32_t bits;
	int number;
	long first, second;	/* arguments that a filter may look at */
};

#define SECCOMP_SOCKET(name, first) \
	{ SECCOMP_NO_SOCKET, __NR_##name, first, 0 }
#define SECCOMP_START(name) { SECCOMP_NO_START, __NR_##name, 0, 0 }

/* What we call: in threads of the target, and (SECCOMP_NO_START) to start a
 * recorder, its writer's whole life included. */
static const struct seccomp_call seccomp_calls[] = {
	{ UNWIND_NO_PROBE | SECCOMP_NO_START, __NR_rt_sigprocmask,
	  SECCOMP_HOW_INVALID, 0 },
	{ UNWIND_NO_WAIT | SECCOMP_NO_START, __NR_futex, 0,
	  FUTEX_WAIT },
	{ UNWIND_NO_WAIT | SECCOMP_NO_START, __NR_futex, 0,
	  FUTEX_WAKE },
	{ UNWIND_NO_IDS | SECCOMP_NO_START, __NR_getpid, 0, 0 },
	{ UNWIND_NO_IDS | SECCOMP_NO_START, __NR_gettid, 0, 0 },
	{ UNWIND_NO_IDS | SECCOMP_NO_START, __NR_prctl, PR_GET_NAME, 0 },
	{ UNWIND_NO_ADVICE | SECCOMP_NO_START, __NR_madvise, 0, 0 },
	{ UNWIND_NO_COPY | SECCOMP_NO_START, __NR_process_vm_readv, 0, 0 },
	{ SECCOMP_NO_FILES | SECCOMP_NO_START, __NR_openat, AT_FDCWD, 0 },
	{ SECCOMP_NO_FILES | SECCOMP_NO_START, __NR_newfstatat, 0, 0 },
	{ SECCOMP_NO_FILES | SECCOMP_NO_START, __NR_mmap, 0, 0 },
	{ SECCOMP_NO_FILES | SECCOMP_NO_START, __NR_munmap, 0, 0 },
	{ SECCOMP_NO_PAGES, __NR_mincore, 0, 0 },
	{ SECCOMP_NO_PAGES, __NR_sysinfo, 0, 0 },
	{ SECCOMP_NO_FILES | SECCOMP_NO_START, __NR_close, 0, 0 },
	{ SECCOMP_NO_STATUS, __NR_ioctl, 0, TARGET_GET_INFO },
	{ SECCOMP_NO_LOCK, __NR_capget, 0, 0 },
	{ SECCOMP_NO_LOCK, __NR_prlimit64, 0, 0 },
	{ SECCOMP_NO_LOCK, __NR_mlock, 0, 0 },
	{ SECCOMP_NO_LOCK, __NR_mlock2, 0, 0 },
	SECCOMP_SOCKET(socket, AF_UNIX), SECCOMP_SOCKET(bind, 0),
	SECCOMP_SOCKET(listen, 0), SECCOMP_SOCKET(accept4, 0),
	SECCOMP_SOCKET(getsockopt, 0), SECCOMP_SOCKET(recvfrom, 0),
	SECCOMP_SOCKET(sendto, 0),
	SECCOMP_START(clone), SECCOMP_START(clock_gettime),
	SECCOMP_START(close_range), SECCOMP_START(exit), SECCOMP_START(faccessat),
	SECCOMP_START(fallocate), SECCOMP_START(fcntl), SECCOMP_START(flock),
	SECCOMP_START(ftruncate), SECCOMP_START(getcwd),
	SECCOMP_START(geteuid), SECCOMP_START(getrandom), SECCOMP_START(kcmp),
	SECCOMP_START(kill), SECCOMP_START(lseek), SECCOMP_START(mkdirat),
	SECCOMP_START(mprotect), SECCOMP_START(nanosleep),
	SECCOMP_START(pidfd_getfd), SECCOMP_START(pidfd_open), SECCOMP_START(ppoll),
	SECCOMP_START(pread64),
	SECCOMP_START(prlimit64), SECCOMP_START(read),
	SECCOMP_START(readlinkat), SECCOMP_START(renameat2),
	SECCOMP_START(sched_setscheduler), SECCOMP_START(sched_yield),
	SECCOMP_START(set_tid_address), SECCOMP_START(setsid),
	SECCOMP_START(statfs), SECCOMP_START(tgkill), SECCOMP_START(uname),
	SECCOMP_START(unlinkat), SECCOMP_START(wait4), SECCOMP_START(write),
};

static void seccomp_publish(void)
{
	uint32_t ban = atomic_load_explicit(&seccomp_known,
					    memory_order_seq_cst);

	if (atomic_load_explicit(&seccomp_pending, memory_order_seq_cst))
		ban = SECCOMP_NO_ALL;
	atomic_store_explicit(&unwind_ban, ban, memory_order_seq_cst);
}

static void seccomp_add(uint32_t bits)
{
	atomic_fetch_or_explicit(&seccomp_known, bits, memory_order_seq_cst);
}

void seccomp_before(void)
{
	atomic_fetch_add_explicit(&seccomp_pending, 1, memory_order_seq_cst);
	seccomp_publish();
}

static void seccomp_after(void)
{
	atomic_fetch_sub_explicit(&seccomp_pending, 1, memory_order_seq_cst);
	seccomp_publish();
}

void seccomp_after_failure(void)
{
	seccomp_after();
}

void seccomp_after_strict(void)
{
	seccomp_add(SECCOMP_NO_ALL);
	seccomp_after();
}

static uint32_t seccomp_verdict(const struct sock_fprog *program)
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
		    !filter_allows(program, &data))
			bits |= call->bits;
	}
	return bits;
}

void seccomp_after_filter(const struct sock_fprog *program)
{
	atomic_fetch_add_explicit(&seccomp_seen, 1, memory_order_relaxed);
	seccomp_add(seccomp_verdict(program));
	seccomp_after();
}

static uint64_t seccomp_field(const char *status, const char *name)
{
	size_t n = strlen(name);
	const char *at;

	for (at = status; *at; at++) {
		if (*at != '\n' || strncmp(at + 1, name, n) != 0)
			continue;
		at += 1 + n;
		while (*at == ' ' || *at == '\t')
			at++;
		return text_parse(&at);
	}
	return 0;
}

static bool seccomp_read(int pid, int tid, unsigned *mode, unsigned *filters)
{
	char name[64], status[SECCOMP_STATUS_MAX];
	struct text text;

	text_init(&text, name, sizeof(name));
	text_put(&text, "task/");
	text_number(&text, tid);
	text_put(&text, "/status");
	if (proc_read_of(pid, name, status, sizeof(status)) <= 0)
		return false;
	*mode = seccomp_field(status, "Seccomp:");
	*filters = seccomp_field(status, "Seccomp_filters:");
	return true;
}

/* The writer has what its starter had when it was made. */
void seccomp_watch_begin(struct seccomp_watch *watch)
{
	if (!seccomp_read(sys_getpid(), sys_gettid(), &watch->own_mode,
			  &watch->own_filters))
		watch->own_mode = watch->own_filters = 0;
	watch->next = 0;
}

bool seccomp_unseen(const struct seccomp_watch *watch)
{
	return watch->own_mode == SECCOMP_MODE_FILTER &&
	       (!watch->own_filters ||
		watch->own_filters >
			atomic_load_explicit(&seccomp_seen,
					     memory_order_relaxed));
}

static void seccomp_look_at(const struct seccomp_watch *watch, int pid,
			    int tid)
{
	unsigned mode, filters, known;

	if (!tid || !seccomp_read(pid, tid, &mode, &filters))
		return;
	known = atomic_load_explicit(&seccomp_seen, memory_order_relaxed);
	if (mode == watch->own_mode && filters <= watch->own_filters)
		return;
	/* kernels before 5.9 do not say how many there are */
	if (mode == SECCOMP_MODE_FILTER && known &&
	    filters <= watch->own_filters + known)
		return;
	seccomp_add(SECCOMP_NO_ALL);
	seccomp_publish();
}

void seccomp_look(struct seccomp_watch *watch, struct recorder *r)
{
	uint32_t count = atomic_load_explicit(&r->live->ring_count,
					      memory_order_acquire);
	uint32_t looks = 0, tried;

	if (atomic_load_explicit(&seccomp_known, memory_order_relaxed) ==
	    SECCOMP_NO_ALL)
		return;
	for (tried = 0; tried < count && looks < SECCOMP_LOOKS; tried++) {
		const struct gl_ring *ring;

		watch->next = (watch->next + 1) % count;
		ring = &r->rings[watch->next];
		if (__atomic_load_n(&ring->state, __ATOMIC_ACQUIRE) !=
			    GL_RING_ACTIVE ||
		    ring->flags & GT_THREAD_NESTED)
			continue;
		seccomp_look_at(watch, r->pid, ring->tid);
		looks++;
	}
}
