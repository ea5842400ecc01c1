/*
 * fault_recorder.c: what fails in the recorder besides raw system calls: calls
 * of the C library that are one system call each, by that one's number; its
 * memory, and what it reserves in the live mapping.
 */
#include <asm/unistd.h>
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "cli/recorder/live/live.h"
#include "tests/fault/fault.h"

const uint64_t fault_whose = FAULT_RECORDER;

/* (type, name as it is linked, number, parameters, arguments); mk/fault.mk has
 * the names. */
#define FAULT_CALLS(X) \
X(int, accept4, __NR_accept4, (int a, void *b, void *c, int d), (a, b, c, d)) \
X(int, access, __NR_faccessat, (const char *a, int b), (a, b)) \
X(int, bind, __NR_bind, (int a, const void *b, unsigned c), (a, b, c)) \
X(int, close, __NR_close, (int a), (a)) \
X(int, fallocate64, __NR_fallocate, (int a, int b, off_t c, off_t d), \
  (a, b, c, d)) \
X(int, fchown, __NR_fchown, (int a, uid_t b, gid_t c), (a, b, c)) \
X(int, flock, __NR_flock, (int a, int b), (a, b)) \
X(int, fstat64, __NR_newfstatat, (int a, void *b), (a, b)) \
X(int, ftruncate64, __NR_ftruncate, (int a, off_t b), (a, b)) \
X(int, getsockopt, __NR_getsockopt, \
  (int a, int b, int c, void *d, void *e), (a, b, c, d, e)) \
X(int, kill, __NR_kill, (int a, int b), (a, b)) \
X(int, linkat, __NR_linkat, \
  (int a, const char *b, int c, const char *d, int e), (a, b, c, d, e)) \
X(int, listen, __NR_listen, (int a, int b), (a, b)) \
X(off_t, lseek64, __NR_lseek, (int a, off_t b, int c), (a, b, c)) \
X(int, lstat64, __NR_newfstatat, (const char *a, void *b), (a, b)) \
X(int, mkdir, __NR_mkdirat, (const char *a, mode_t b), (a, b)) \
X(void *, mmap64, __NR_mmap, \
  (void *a, size_t b, int c, int d, int e, off_t f), (a, b, c, d, e, f)) \
X(int, nanosleep, __NR_nanosleep, (const void *a, void *b), (a, b)) \
X(int, open64, __NR_openat, (const char *a, int b, long c), (a, b, c)) \
X(int, poll, __NR_ppoll, (void *a, unsigned long b, int c), (a, b, c)) \
X(int, rename, __NR_renameat2, (const char *a, const char *b), (a, b)) \
X(int, renameat2, __NR_renameat2, \
  (int a, const char *b, int c, const char *d, unsigned e), (a, b, c, d, e)) \
X(int, setgroups, __NR_setgroups, (size_t a, const gid_t *b), (a, b)) \
X(int, setns, __NR_setns, (int a, int b), (a, b)) \
X(void *, shmat, __NR_shmat, (int a, const void *b, int c), (a, b, c)) \
X(int, socket, __NR_socket, (int a, int b, int c), (a, b, c)) \
X(int, stat64, __NR_newfstatat, (const char *a, void *b), (a, b)) \
X(long, syscall, (uint32_t)a, \
  (long a, long b, long c, long d, long e, long f, long g), \
  (a, b, c, d, e, f, g)) \
X(int, tgkill, __NR_tgkill, (pid_t a, pid_t b, int c), (a, b, c)) \
X(int, uname, __NR_uname, (void *a), (a)) \
X(int, unlink, __NR_unlinkat, (const char *a), (a))

/* Those that may move a part of n bytes. */
#define FAULT_PARTS(X) \
X(ssize_t, pread64, __NR_pread64, (int a, void *b, size_t n, off_t c), \
  (a, b, n, c)) \
X(ssize_t, read, __NR_read, (int a, void *b, size_t n), (a, b, n)) \
X(ssize_t, recv, __NR_recvfrom, (int a, void *b, size_t n, int c), \
  (a, b, n, c)) \
X(ssize_t, send, __NR_sendto, (int a, const void *b, size_t n, int c), \
  (a, b, n, c)) \
X(ssize_t, write, __NR_write, (int a, const void *b, size_t n), (a, b, n))

/* What a refused call answers, errno with it. */
static long fault_refused(void)
{
	long answer = fault_answer();

	if (answer >= 0)
		return answer;
	errno = (int)-answer;
	return -1;
}

#define FAULT_WRAP(type, name, number, parameters, arguments, shorten)	\
type __real_##name parameters;						\
type __wrap_##name parameters;						\
type __wrap_##name parameters						\
{									\
	uint64_t site = fault_site(__builtin_return_address(0));	\
	uint32_t nr = number;						\
	bool hit = fault_hits(nr, site);				\
	type result;							\
									\
	if (hit && fault_is_short())					\
		shorten;						\
	if (hit && !fault_is_short())					\
		result = (type)fault_refused();				\
	else								\
		result = __real_##name arguments;			\
	fault_note(nr, site, (long)result == -1 ? -errno : (long)result, \
		   hit);						\
	return result;							\
}

#define FAULT_CALL(...) FAULT_WRAP(__VA_ARGS__, (void)0)
#define FAULT_PART(...) FAULT_WRAP(__VA_ARGS__, n = (n + 2) / 3)

FAULT_CALLS(FAULT_CALL)
FAULT_PARTS(FAULT_PART)

void *__real_zeroed_alloc(size_t size);
void *__wrap_zeroed_alloc(size_t size);
void *__real_try_alloc_resize(void *old, size_t count, size_t size);
void *__wrap_try_alloc_resize(void *old, size_t count, size_t size);
void *__real_try_alloc_lines(void *old, size_t used, size_t size);
void *__wrap_try_alloc_lines(void *old, size_t used, size_t size);
void *__real_try_alloc_pages(void *old, size_t old_size, size_t size);
void *__wrap_try_alloc_pages(void *old, size_t old_size, size_t size);
int __real_live_reserve(struct live *live, uint64_t from, uint64_t to);
int __wrap_live_reserve(struct live *live, uint64_t from, uint64_t to);

void *__wrap_zeroed_alloc(size_t size)
{
	uint64_t site = fault_site(__builtin_return_address(0));
	bool hit = fault_hits(FAULT_ALLOC, site);

	fault_note(FAULT_ALLOC, site, size, hit);
	return hit ? NULL : __real_zeroed_alloc(size);
}

void *__wrap_try_alloc_resize(void *old, size_t count, size_t size)
{
	uint64_t site = fault_site(__builtin_return_address(0));
	bool hit = fault_hits(FAULT_ALLOC, site);

	fault_note(FAULT_ALLOC, site, count * size, hit);
	return hit ? NULL : __real_try_alloc_resize(old, count, size);
}

void *__wrap_try_alloc_lines(void *old, size_t used, size_t size)
{
	uint64_t site = fault_site(__builtin_return_address(0));
	bool hit = fault_hits(FAULT_ALLOC, site);

	fault_note(FAULT_ALLOC, site, size, hit);
	return hit ? NULL : __real_try_alloc_lines(old, used, size);
}

void *__wrap_try_alloc_pages(void *old, size_t old_size, size_t size)
{
	uint64_t site = fault_site(__builtin_return_address(0));
	bool hit = fault_hits(FAULT_ALLOC, site);

	fault_note(FAULT_ALLOC, site, size, hit);
	return hit ? NULL : __real_try_alloc_pages(old, old_size, size);
}

int __wrap_live_reserve(struct live *live, uint64_t from, uint64_t to)
{
	uint64_t site = fault_site(__builtin_return_address(0));
	bool hit = fault_hits(FAULT_RESERVE, site);

	fault_note(FAULT_RESERVE, site, to - from, hit);
	return hit ? -ENOSPC : __real_live_reserve(live, from, to);
}
