/* syscall.h (x86-64): raw system calls; errno is not touched. */
#ifndef GNOMON_ARCH_SYSCALL_H
#define GNOMON_ARCH_SYSCALL_H

#include <linux/sched.h>
#include <stdbool.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#define ARCH_STAT struct stat	/* filled by newfstatat */

/* Returns the kernel's result: -4095 … -1 is -errno. */
static inline long arch_syscall6(long n, long a, long b, long c, long d,
				 long e, long f)
{
	long ret;
	register long r10 __asm__("r10") = d;
	register long r8 __asm__("r8") = e;
	register long r9 __asm__("r9") = f;

	__asm__ volatile("syscall"
			 : "=a"(ret)
			 : "a"(n), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8),
			   "r"(r9)
			 : "rcx", "r11", "memory");
	return ret;
}

/* Whether this call forks: makes a child that continues at the same point, with
 * a copy of the memory. a, b: the first two arguments. */
static inline bool arch_is_fork(long n, long a, long b)
{
	return n == __NR_fork || (n == __NR_clone && !(a & CLONE_VM) && !b);
}

/* System calls of the C library's start-up that only some architectures need,
 * each as X(name). */
#define ARCH_START_CALLS(X) X(arch_prctl) X(readlink)

#endif
