/*
 * hooks_longjmp.c: see hooks_longjmp.h.
 *
 * Whether the stack was really replaced cannot be seen from here, and need not
 * be: a thread without barriers has nothing to discard, and a thread with
 * barriers compares the words outward of them once, at its next capture.
 *
 * A C library may lack some of the functions (musl has no contexts), and a
 * library that has them may be loaded late: so a function that was not found at
 * first is looked up when it is called. A program that links a function that no
 * library has normally fails before it runs, but our entry exists: it then
 * returns -1. Weak references and dlsym also find our entry.
 *
 * I1  Thread-local data is touched only once real.malloc is set: before that
 *     this library may not be relocated.
 */
#include "preload/hooks/hooks_longjmp.h"
#include "preload/ring/producer.h"

void *hooks_longjmp_note(enum real_slot what)
{
	struct thread *thread;

	if (real.malloc || real_resolve()) {
		thread = producer_tls;
		if (thread && thread->capture)
			capture_stack_replaced(thread->capture);
	}
	return real_late(what);
}
