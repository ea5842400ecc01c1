/* syscall.h (ARM): raw system calls; errno is not touched. */
#ifndef GNOMON_ARCH_SYSCALL_H
#define GNOMON_ARCH_SYSCALL_H

#include <linux/sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#define ARCH_STAT struct stat64	/* filled by fstatat64 */

/* Returns the kernel's result: -4095 … -1 is -errno. (The number goes into r7,
 * which may be the frame pointer.) */
static inline long arch_syscall6(long n, long a, long b, long c, long d,
				 long e, long f)
{
	register long r0 __asm__("r0") = a;
	register long r1 __asm__("r1") = b;
	register long r2 __asm__("r2") = c;
	register long r3 __asm__("r3") = d;
	register long r4 __asm__("r4") = e;
	register long r5 __asm__("r5") = f;
	long kept;

	__asm__ volatile("mov %1, r7\n\t"
			 "mov r7, %2\n\t"
			 "svc 0\n\t"
			 "mov r7, %1"
			 : "+r"(r0), "=&r"(kept)
			 : "r"(n), "r"(r1), "r"(r2), "r"(r3), "r"(r4), "r"(r5)
			 : "memory", "cc");
	return r0;
}

/* Whether this call forks: makes a child that continues at the same point, with
 * a copy of the memory. a, b: the first two arguments. */
static inline bool arch_is_fork(long n, long a, long b)
{
	return n == __NR_fork ||
	       (n == __NR_clone && !(a & CLONE_VM) && !b);
}

/* System calls of the C library's start-up that only some architectures need,
 * each as X(name). */
#define ARCH_START_CALLS(X)

#define ARCH_NR_ID(name) __NR_##name##32

/* ---- calls with numbers of 64 bits (arch.h) ---- */

#define ARCH_WIDE_CALLS 1
#define ARCH_NR_MMAP __NR_mmap2
#define ARCH_NR_FSTATAT __NR_fstatat64
#define ARCH_MMAP_UNIT_SHIFT 12		/* of offsets, on all kernels */

static inline long arch_low(uint64_t number)
{
	return (long)(uint32_t)number;
}

static inline long arch_high(uint64_t number)
{
	return (long)(number >> 32);
}

static inline long arch_mmap(void *at, size_t size, int prot, int flags,
			     int fd, uint64_t offset)
{
	return arch_syscall6(__NR_mmap2, (long)at, (long)size, prot, flags, fd,
			     (long)(offset >> ARCH_MMAP_UNIT_SHIFT));
}

/* A 64-bit argument starts in an even register. */
static inline long arch_pread(int fd, void *to, size_t size, uint64_t offset)
{
	return arch_syscall6(__NR_pread64, fd, (long)to, (long)size, 0,
			     arch_low(offset), arch_high(offset));
}

static inline long arch_ftruncate(int fd, uint64_t size)
{
	return arch_syscall6(__NR_ftruncate64, fd, 0, arch_low(size),
			     arch_high(size), 0, 0);
}

static inline long arch_fallocate(int fd, int mode, uint64_t offset,
				  uint64_t size)
{
	return arch_syscall6(__NR_fallocate, fd, mode, arch_low(offset),
			     arch_high(offset), arch_low(size),
			     arch_high(size));
}

#endif
