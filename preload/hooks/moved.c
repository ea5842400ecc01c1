/*
 * moved.c: see moved.h.
 *
 * Whether the stack really is another one cannot be seen from here, and need
 * not be: a thread without barriers has nothing to forget, and one with them
 * compares the words outward of them once, at its next capture.
 *
 * A C library may lack some of them (musl has no contexts), and a library
 * that has them may be loaded late: so what was not found at first is looked
 * for when it is called. Who links against a function that nobody has fails
 * before it runs; not so with ours. It answers -1 then, and who asks for one
 * weakly, or by dlsym, finds it.
 *
 * I1  Thread-local data is touched only once real.malloc is set: before that
 *     this library may not be relocated.
 */
#include "preload/hooks/moved.h"
#include "preload/ring/recorder.h"

void *moved_note(enum real_slot what)
{
	struct thread *thread;

	if (real.malloc || real_resolve()) {
		thread = recorder_tls;
		if (thread && thread->capture)
			capture_thread_moved(thread->capture);
	}
	return real_late(what);
}
