/*
 * abandoned.h: whether a function of ours was left by a jump (siglongjmp out
 * of a signal handler that interrupted it, cancellation), so that what it had
 * taken is nobody's.
 */
#ifndef GNOMON_UNWIND_ABANDONED_H
#define GNOMON_UNWIND_ABANDONED_H

#include <stdbool.h>
#include <stdint.h>

#include "unwind/capture.h"

/*
 * The function: `cfa` is the stack pointer after its return, `ra` where it
 * returns to; it began on the calling thread. sp: the same as `cfa`, of the
 * function that asks. thread: the calling thread's state, NULL: it has none.
 * False also where that is not certain. Any thread, also signal handlers.
 */
bool abandoned(const struct capture_thread *thread, uintptr_t cfa,
	       uintptr_t ra, uintptr_t sp);

/* For functions that call back again and again: a quick look whether there is
 * a sign of it. */
bool abandoned_perhaps(const struct capture_thread *thread, uintptr_t cfa,
		       uintptr_t ra);

#endif
