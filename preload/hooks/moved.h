/*
 * moved.h: the functions that may exchange a thread's stack for another one in
 * the same place.
 *
 * Runtimes that copy a stack away and back (continuations of Schemes) end with
 * a longjmp or a setcontext into the copy. What barriers vouched for is then not
 * the stack that is there, though every word inward of them may be equal. So
 * these are entered through arch/stubs.S, which asks moved_note and jumps on.
 */
#ifndef GNOMON_MOVED_H
#define GNOMON_MOVED_H

#include "preload/interpose/real.h"

/*
 * Makes the calling thread's captures forget what depends on barriers; answers
 * the real function, NULL if there is none. Any thread at any time, also in
 * signal handlers; keeps errno, and takes no lock but for a function that was
 * not there when the allocator was found.
 */
void *moved_note(enum real_slot what);

#endif
