/*
 * thread_writer.c: makes the preload library's writer a thread.
 *
 * Linked into a second copy of the library with --wrap=arch_clone_task: what
 * is not a thread's clone is refused, as qemu-user and valgrind refuse it, so
 * the library takes the road it has for them. Called by the thread that
 * starts the recorder.
 */
#include <errno.h>
#include <sched.h>

#include "arch.h"

long __real_arch_clone_task(unsigned long flags, void *stack_top, void *tls,
			    void (*fn)(void *arg), void *arg);
long __wrap_arch_clone_task(unsigned long flags, void *stack_top, void *tls,
			    void (*fn)(void *arg), void *arg);

long __wrap_arch_clone_task(unsigned long flags, void *stack_top, void *tls,
			    void (*fn)(void *arg), void *arg)
{
	if (!(flags & CLONE_THREAD))
		return -EINVAL;
	return __real_arch_clone_task(flags, stack_top, tls, fn, arg);
}
