/*
 * moved.c: see moved.h.
 *
 * Whether the stack really is another one cannot be seen from here, and need
 * not be: a thread without barriers has nothing to forget, and for one with
 * them the price is one walk of its whole stack at its next capture.
 *
 * A C library may lack some of them (musl has no contexts). Who links against
 * such a function without having it fails before it runs; who asks for it
 * weakly finds ours, which answers -1.
 *
 * I1  Thread-local data is touched only once real.malloc is set: before that
 *     this library may not be relocated.
 */
#include "preload/moved.h"
#include "preload/real.h"
#include "preload/recorder.h"

void *moved_note(unsigned what)
{
	struct thread *thread;

	if (!real.malloc && !real_resolve())
		return NULL;
	thread = recorder_tls;
	if (thread && thread->capture)
		capture_thread_moved(thread->capture);
	return real_moved[what];
}
