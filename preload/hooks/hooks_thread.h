/*
 * hooks_thread.h: hooks of functions that name threads.
 */
#ifndef GNOMON_HOOKS_THREAD_H
#define GNOMON_HOOKS_THREAD_H

#include "preload/hooks/hooks.h"

/*
 * Records a thread's new name, of which the first 15 bytes are significant and
 * readable. thread: its pthread_t, 0 for the calling thread. Any thread; keeps
 * errno.
 */
void hooks_thread_named(uintptr_t thread, const char *name,
			struct hooks_caller caller);

#endif
