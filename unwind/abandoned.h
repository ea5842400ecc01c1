/*
 * abandoned.h: detects that one of our functions was left by a jump (siglongjmp
 * out of the signal handler that interrupted it, or thread cancellation). The
 * caller may then release what that function had taken.
 */
#ifndef GNOMON_UNWIND_ABANDONED_H
#define GNOMON_UNWIND_ABANDONED_H

#include <stdbool.h>
#include <stdint.h>

#include "unwind/capture.h"

/*
 * Whether the described function was abandoned. cfa: the stack pointer after
 * the function's return; ra: its return address; it started on the calling
 * thread. sp: like `cfa`, for the function that calls this one. thread: the
 * calling thread's state, NULL if it has none. False also when the answer is
 * not certain. Any thread, also signal handlers.
 */
bool abandoned(const struct capture_thread *thread, uintptr_t cfa,
	       uintptr_t ra, uintptr_t sp);

/* A quick check for callers that repeat it: whether there is any sign that the
 * function was abandoned. */
bool abandoned_perhaps(const struct capture_thread *thread, uintptr_t cfa,
		       uintptr_t ra);

#endif
