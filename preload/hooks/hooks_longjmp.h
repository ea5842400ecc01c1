/*
 * hooks_longjmp.h: longjmp hooks: functions that may replace the contents of a
 * thread's stack.
 *
 * Runtimes that copy a stack away and back (continuations in Scheme) end with a
 * longjmp or a setcontext into the copy. A barrier may then confirm a stack
 * that is no longer there, even though every word inward of it is equal. So
 * these functions are entered through arch/stubs.S, which calls
 * hooks_longjmp_note and jumps on.
 */
#ifndef GNOMON_HOOKS_LONGJMP_H
#define GNOMON_HOOKS_LONGJMP_H

#include "preload/interpose/real.h"

/*
 * Discards the parts of the calling thread's cached stacks that depend on
 * barriers; returns the real function, NULL if there is none. Any thread at any
 * time, also in signal handlers; keeps errno. Takes no lock, except for a
 * function that did not exist when the allocator was found.
 */
void *hooks_longjmp_note(enum real_slot what);

#endif
