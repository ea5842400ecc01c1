/*
 * fault.c: part of the library, and of the recorder, that fails on purpose.
 * Every raw system call of theirs comes here, and by the linker's --wrap what
 * fault_library.c and fault_recorder.c have. All are written to a log, and some
 * are refused:
 *
 *	GNOMON_FAULT_LOG=FILE	the log: struct fault_log
 *	GNOMON_FAULT=KEY=N,…	what fails, numbers in decimal:
 *		nr	number of the system call, or of enum format_error
 *		site	where the call returns to: offset in the library; in
 *			the recorder, with FAULT_RECORDER
 *		nth	the first that fails, of those that agree with the
 *			above, counted from 1 in each process
 *		count	how many fail, 0 for all from there on
 *		error	what it answers: -error
 *		short	instead, a read or write moves a third of the bytes
 *		void	instead, it answers 0 and does nothing
 *
 * Threads of the target, tasks that share its memory, the recorder, children.
 * State is static on purpose: a child goes on counting where its parent was.
 *
 * I1: no TLS, no C library: tasks without either come here, too.
 */
#include "tests/fault/fault.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <asm/unistd.h>

#include "arch.h"

#define FAULT_LOG_CALLS 65536
#define FAULT_ENVIRONMENT 65536

struct fault_call {
	uint32_t pid, nr;
	uint64_t site;
	int64_t result;
	uint64_t failed;	/* by us */
};

struct fault_log {
	_Atomic uint64_t count;	/* may exceed FAULT_LOG_CALLS */
	uint64_t reserved[3];
	struct fault_call calls[FAULT_LOG_CALLS];
};

enum {
	FAULT_NR, FAULT_SITE, FAULT_NTH, FAULT_COUNT, FAULT_ERROR, FAULT_SHORT,
	FAULT_VOID, FAULT_KEYS
};

static const char *const fault_keys[FAULT_KEYS] = {
	"nr=", "site=", "nth=", "count=", "error=", "short=", "void=",
};

static uint64_t fault_wanted[FAULT_KEYS];
static bool fault_given[FAULT_KEYS];
static _Atomic uint64_t fault_seen;
static struct fault_log *fault_log;
static _Atomic uint32_t fault_ready;

extern const char __ehdr_start[] __attribute__((visibility("hidden")));

static long fault_raw3(long n, long a, long b, long c)
{
	return fault_real_syscall6(n, a, b, c, 0, 0, 0);
}

/* Behind the prefix, or NULL. */
static const char *fault_after(const char *text, const char *prefix)
{
	while (*prefix)
		if (*text++ != *prefix++)
			return NULL;
	return text;
}

static void fault_parse(const char *text)
{
	while (*text) {
		const char *value = NULL;
		uint64_t number = 0;
		unsigned key;

		for (key = 0; key < FAULT_KEYS && !value; key++)
			value = fault_after(text, fault_keys[key]);
		if (!value)
			return;
		for (; *value >= '0' && *value <= '9'; value++)
			number = number * 10 + (*value - '0');
		fault_wanted[key - 1] = number;
		fault_given[key - 1] = true;
		text = *value ? value + 1 : value;
	}
}

static void fault_open_log(const char *path)
{
	long fd = fault_real_syscall6(__NR_openat, AT_FDCWD, (long)path,
				      O_RDWR | O_CLOEXEC, 0, 0, 0);
	long at;

	if (fd < 0)
		return;
	at = fault_real_syscall6(__NR_mmap, 0, sizeof(struct fault_log),
				 PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	fault_raw3(__NR_close, fd, 0, 0);
	if (at > 0)
		fault_log = (struct fault_log *)at;
}

static void fault_entry(const char *entry)
{
	const char *value;

	if ((value = fault_after(entry, "GNOMON_FAULT_LOG=")))
		fault_open_log(value);
	else if ((value = fault_after(entry, "GNOMON_FAULT=")))
		fault_parse(value);
}

/* At the first call, which comes before the target's first thread. */
static void fault_read(void)
{
	long fd = fault_real_syscall6(__NR_openat, AT_FDCWD,
				      (long)"/proc/self/environ",
				      O_RDONLY | O_CLOEXEC, 0, 0, 0);
	long at = fault_real_syscall6(__NR_mmap, 0, FAULT_ENVIRONMENT,
				      PROT_READ | PROT_WRITE,
				      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	long done = 0, n, i;
	char *text = (char *)at;

	if (fd < 0 || at < 0)
		return;
	while ((n = fault_raw3(__NR_read, fd, at + done,
			       FAULT_ENVIRONMENT - 1 - done)) > 0)
		done += n;
	for (i = 0; i < done; i++)
		if (i == 0 || !text[i - 1])
			fault_entry(text + i);
	fault_raw3(__NR_close, fd, 0, 0);
	fault_raw3(__NR_munmap, at, FAULT_ENVIRONMENT, 0);
}

static bool fault_agrees(uint32_t nr, uint64_t site)
{
	return (!fault_given[FAULT_NR] || fault_wanted[FAULT_NR] == nr) &&
	       (!fault_given[FAULT_SITE] || fault_wanted[FAULT_SITE] == site);
}

bool fault_hits(uint32_t nr, uint64_t site)
{
	uint64_t nth;

	if (!atomic_exchange_explicit(&fault_ready, 1, memory_order_acq_rel))
		fault_read();
	if (!fault_given[FAULT_NTH] || !fault_agrees(nr, site))
		return false;
	nth = atomic_fetch_add_explicit(&fault_seen, 1,
					memory_order_relaxed) + 1;
	return nth >= fault_wanted[FAULT_NTH] &&
	       (!fault_wanted[FAULT_COUNT] ||
		nth < fault_wanted[FAULT_NTH] + fault_wanted[FAULT_COUNT]);
}

void fault_note(uint32_t nr, uint64_t site, long result, bool failed)
{
	struct fault_call *call;
	uint64_t i;

	if (!fault_log)
		return;
	i = atomic_fetch_add_explicit(&fault_log->count, 1,
				      memory_order_relaxed);
	if (i >= FAULT_LOG_CALLS)
		return;
	call = &fault_log->calls[i];
	call->site = site;
	call->result = result;
	call->failed = failed;
	call->nr = nr;
	call->pid = fault_raw3(__NR_getpid, 0, 0, 0);
}

uint64_t fault_site(const void *returns_to)
{
	return ((uintptr_t)returns_to - (uintptr_t)__ehdr_start) |
	       fault_whose;
}

long fault_answer(void)
{
	return fault_wanted[FAULT_VOID] ? 0 : -(long)fault_wanted[FAULT_ERROR];
}

bool fault_is_short(void)
{
	return fault_wanted[FAULT_SHORT];
}

long arch_syscall6(long n, long a, long b, long c, long d, long e, long f)
{
	uint64_t site = fault_site(__builtin_return_address(0));
	bool hit = fault_hits(n, site);
	long result;

	if (n == __NR_exit)	/* or there would be no note of it */
		fault_note(n, site, 0, false);
	if (hit && !fault_is_short())
		result = fault_answer();
	else
		result = fault_real_syscall6(n, a, b,
					     hit ? (c + 2) / 3 : c, d, e, f);
	fault_note(n, site, result, hit);
	return result;
}
