/* syscall.h (MIPS64): raw system calls; errno is not touched. */
#ifndef GNOMON_ARCH_SYSCALL_H
#define GNOMON_ARCH_SYSCALL_H

#include <linux/sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/syscall.h>

/* The structure that newfstatat fills, from asm/stat.h; the C library's struct
 * stat differs. */
#define ARCH_STAT struct arch_stat

struct arch_stat {
	uint32_t st_dev, unused_dev[3];
	uint64_t st_ino;
	uint32_t st_mode, st_nlink, st_uid, st_gid;
	uint32_t st_rdev, unused_rdev[3];
	int64_t st_size;
	struct {
		uint32_t s, ns;
	} times[3];		/* of access, change, change of state */
	uint32_t st_blksize, unused;
	uint64_t st_blocks;
};

/* Returns the kernel's result: -4095 … -1 is -errno. (The kernel returns errno,
 * and sets $7 if it is an error.) */
static inline long arch_syscall6(long n, long a, long b, long c, long d,
				 long e, long f)
{
	register long v0 __asm__("$2") = n;
	register long a0 __asm__("$4") = a;
	register long a1 __asm__("$5") = b;
	register long a2 __asm__("$6") = c;
	register long a3 __asm__("$7") = d;
	register long a4 __asm__("$8") = e;
	register long a5 __asm__("$9") = f;

	__asm__ volatile("syscall"
			 : "+r"(v0), "+r"(a3), "+r"(a4), "+r"(a5)
			 : "r"(a0), "r"(a1), "r"(a2)
			 : "$1", "$3", "$10", "$11", "$12", "$13", "$14",
			   "$15", "$24", "$25", "hi", "lo", "memory");
	return a3 ? -v0 : v0;
}

/* Whether this call forks: makes a child that continues at the same point, with
 * a copy of the memory. a, b: the first two arguments. */
static inline bool arch_is_fork(long n, long a, long b)
{
	return n == __NR_fork || (n == __NR_clone && !(a & CLONE_VM) && !b);
}

/* System calls of the C library's start-up that only some architectures need,
 * each as X(name). */
#define ARCH_START_CALLS(X) X(set_thread_area) X(readlink)

#endif
