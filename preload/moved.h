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

#include "preload/base.h"

/* In the order that stubs.S counts them. */
enum moved_what {
	MOVED_LONGJMP,
	MOVED_UNDERSCORE_LONGJMP,
	MOVED_SIGLONGJMP,
	MOVED_LONGJMP_CHK,
	MOVED_SETCONTEXT,
	MOVED_SWAPCONTEXT,
	MOVED_COUNT
};

/*
 * Makes the calling thread's captures forget what depends on barriers; answers
 * the real function, NULL if there is none. Any thread at any time, also in
 * signal handlers; keeps errno, and takes no lock but for a function that was
 * not there when the allocator was found.
 */
void *moved_note(unsigned what);

#endif
