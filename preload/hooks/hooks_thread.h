/*
 * hooks_thread.h: threads are given names.
 */
#ifndef GNOMON_HOOKS_THREAD_H
#define GNOMON_HOOKS_THREAD_H

#include "preload/hooks/hooks.h"

/*
 * A thread has got this name, of which the first 15 bytes count and can be
 * read: the one with this pthread_t, 0 for the calling one. Any thread; keeps
 * errno.
 */
void hooks_thread_named(uintptr_t thread, const char *name,
			struct hooks_caller caller);

#endif
