/*
 * deep_call.h: deeply recursive calls from threads whose stacks may be small:
 * the user sets the stack size (ulimit -s).
 */
#ifndef GNOMON_DEEP_CALL_H
#define GNOMON_DEEP_CALL_H

#include <stdbool.h>
#include <stddef.h>

/* Stack size of our own threads, so that calls up to this depth need no further
 * thread. */
#define DEEP_CALL_STACK (8u << 20)

/*
 * Calls `call(owner)` with at least `size` bytes of stack left: here, or on a
 * thread made for it, which takes some 20 µs. The call must return, or longjmp only within
 * itself. False: no memory for a thread; nothing was called. `size` is at most
 * DEEP_CALL_STACK.
 */
bool deep_call(size_t size, void (*call)(void *owner), void *owner);

#endif
