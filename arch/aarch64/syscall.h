/* syscall.h (AArch64): raw system calls; errno is not touched. */
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
	register long x8 __asm__("x8") = n;
	register long x0 __asm__("x0") = a;
	register long x1 __asm__("x1") = b;
	register long x2 __asm__("x2") = c;
	register long x3 __asm__("x3") = d;
	register long x4 __asm__("x4") = e;
	register long x5 __asm__("x5") = f;

	__asm__ volatile("svc 0"
			 : "+r"(x0)
			 : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4),
			   "r"(x5)
			 : "memory", "cc");
	return x0;
}

/* Whether this call forks: makes a child that continues at the same point, with
 * a copy of the memory. a, b: the first two arguments. */
static inline bool arch_is_fork(long n, long a, long b)
{
	return n == __NR_clone && !(a & CLONE_VM) && !b;
}

/* System calls of the C library's start-up that only some architectures need,
 * each as X(name). */
#define ARCH_START_CALLS(X)

#endif
