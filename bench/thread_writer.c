/*
 * thread_writer.c: makes the preload library's writer a thread that valgrind
 * can follow.
 *
 * Linked into a second copy of the library with --wrap=arch_clone_task. A
 * clone that is not a thread's is refused, so the library takes the road it
 * has for systems that cannot run its writer as a process. valgrind wants
 * threads to share descriptors and directory; the writer is not made for
 * that, so it gets its own as soon as it runs. The real function asks for
 * valgrind and refuses, so the half of it that does not ask is called. Called
 * by the thread that starts the recorder.
 */
#include <asm/unistd.h>
#include <errno.h>
#include <sched.h>

#include "arch.h"

long arch_clone_unasked(unsigned long flags, void *stack_top, void *tls,
			void (*fn)(void *arg), void *arg);
long __wrap_arch_clone_task(unsigned long flags, void *stack_top, void *tls,
			    void (*fn)(void *arg), void *arg);

static void (*thread_writer_fn)(void *arg);

static void thread_writer_task(void *arg)
{
	/* a failure leaves them shared, which the count survives */
	arch_syscall1(__NR_unshare, CLONE_FS | CLONE_FILES);
	thread_writer_fn(arg);
}

long __wrap_arch_clone_task(unsigned long flags, void *stack_top, void *tls,
			    void (*fn)(void *arg), void *arg)
{
	if (!(flags & CLONE_THREAD))
		return -EINVAL;
	thread_writer_fn = fn;
	return arch_clone_unasked(flags | CLONE_FS | CLONE_FILES, stack_top,
				  tls, thread_writer_task, arg);
}
