/*
 * sys.h: wrappers of the system calls that the library makes. Results are the
 * kernel's: -errno on failure. errno is never changed. Any thread, also signal
 * handlers.
 */
#ifndef GNOMON_SYS_H
#define GNOMON_SYS_H

#include <asm/unistd.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>

#include "arch.h"

#define SYS_NS 1000000000

static inline bool sys_failed(long result)
{
	return (unsigned long)result > -4096ul;
}

static inline long sys_open(const char *path, int flags, int mode)
{
	return arch_syscall4(__NR_openat, AT_FDCWD, (long)path, flags, mode);
}

static inline long sys_close(int fd)
{
	return arch_syscall1(__NR_close, fd);
}

static inline long sys_read(int fd, void *to, size_t n)
{
	return arch_syscall3(__NR_read, fd, (long)to, n);
}

static inline long sys_write(int fd, const void *from, size_t n)
{
	return arch_syscall3(__NR_write, fd, (long)from, n);
}

static inline long sys_unlink(const char *path)
{
	return arch_syscall3(__NR_unlinkat, AT_FDCWD, (long)path, 0);
}

static inline long sys_fstat(int fd, ARCH_STAT *st)
{
	return arch_syscall4(ARCH_NR_FSTATAT, fd, (long)"", (long)st,
			     AT_EMPTY_PATH);
}

static inline long sys_mmap(void *at, size_t n, int prot, int flags, int fd,
			    uint64_t offset)
{
	return arch_mmap(at, n, prot, flags, fd, offset);
}

/* Maps private zero pages; NULL: refused. */
static inline void *sys_map_pages(size_t n)
{
	long at = sys_mmap(NULL, n, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return sys_failed(at) ? NULL : (void *)at;
}

static inline long sys_munmap(void *at, size_t n)
{
	return arch_syscall2(__NR_munmap, (long)at, n);
}

static inline long sys_mremap(void *at, size_t old, size_t n, int flags)
{
	return arch_syscall4(__NR_mremap, (long)at, old, n, flags);
}

static inline long sys_madvise(void *at, size_t n, int advice)
{
	return arch_syscall3(__NR_madvise, (long)at, n, advice);
}

static inline int sys_getpid(void)
{
	return arch_syscall0(__NR_getpid);
}

static inline int sys_gettid(void)
{
	return arch_syscall0(__NR_gettid);
}

static inline uint64_t sys_clock(int clock)
{
	struct timespec ts = { 0, 0 };

	/* these clocks always exist */
	arch_syscall2(__NR_clock_gettime, clock, (long)&ts);
	return ts.tv_sec * UINT64_C(1000000000) + ts.tv_nsec;
}

static inline uint64_t sys_now_ns(void)
{
	return sys_clock(CLOCK_MONOTONIC);
}

/* Counter and clock at the same moment: takes the shortest of three readings,
 * so that neither a page fault nor another task lies between the two. */
static inline uint64_t sys_moment(uint64_t *cycles)
{
	uint64_t before = arch_cycles(), when = sys_now_ns();
	uint64_t after = arch_cycles(), best = after - before, ns;
	int i;

	*cycles = before + best / 2;
	for (i = 0; i < 2; i++) {
		before = arch_cycles();
		ns = sys_now_ns();
		after = arch_cycles();
		if (after - before >= best)
			continue;
		best = after - before;
		*cycles = before + best / 2;
		when = ns;
	}
	return when;
}

/* For names and secrets; a weaker number if the kernel gives none. */
static inline uint64_t sys_random(void)
{
	uint64_t value;

	if (arch_syscall3(__NR_getrandom, (long)&value, sizeof(value), 1) ==
	    sizeof(value))
		return value;
	return arch_cycles() * UINT64_C(0x9e3779b97f4a7c15) ^ sys_now_ns();
}

/* Sleeps while *word == value, at most ns. May return spuriously. */
static inline long sys_futex_wait(const void *word, uint32_t value,
				  uint64_t ns)
{
	struct timespec ts = { ns / SYS_NS, ns % SYS_NS };

	return arch_syscall6(__NR_futex, (long)word, FUTEX_WAIT, value,
			     (long)&ts, 0, 0);
}

/* Wakes at most `most` waiters; returns how many. */
static inline long sys_futex_wake_some(const void *word, uint32_t most)
{
	/* no waiter is no error, and no other can happen */
	return arch_syscall6(__NR_futex, (long)word, FUTEX_WAKE, most,
			     0, 0, 0);
}

static inline void sys_futex_wake(const void *word)
{
	sys_futex_wake_some(word, INT32_MAX);
}

#endif
