/*
 * hooks_longjmp.h: hooks of longjmp and similar functions, which leave several
 * frames at once and may follow a replacement of the stack's contents.
 *
 * Runtimes that copy a stack away and back (continuations in Scheme) end with a
 * longjmp or a setcontext into the copy. A barrier may then confirm a stack
 * that is no longer there, because every word inward of it is equal. So these
 * functions are entered through stubs.S (arch/), which calls hooks_longjmp_note
 * and jumps on.
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
