/*
 * syscall.h (fault injection): stands before the architecture's own in the
 * include path of the library that fails (mk/fault.mk), so that each system
 * call goes through fault.c, and production code knows nothing of it.
 */
#ifndef GNOMON_FAULT_SYSCALL_H
#define GNOMON_FAULT_SYSCALL_H

#define arch_syscall6 fault_real_syscall6
#include_next "syscall.h"
#undef arch_syscall6

/* Out of line: where it returns to is the call's site. */
__attribute__((visibility("hidden")))
long arch_syscall6(long n, long a, long b, long c, long d, long e, long f);

#endif
