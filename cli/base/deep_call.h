/*
 * deep_call.h: calls that recurse deeply, from threads whose stacks may be
 * small: their size is the user's (ulimit -s).
 */
#ifndef GNOMON_DEEP_CALL_H
#define GNOMON_DEEP_CALL_H

#include <stdbool.h>
#include <stddef.h>

/* What threads of ours have, at least: for calls of this depth no other is
 * made. */
#define DEEP_CALL_STACK (8u << 20)

/*
 * Calls it where at least `size` bytes of stack are left: here, or on a thread
 * that is made for it, which takes some 20 µs. It must return, or end by a
 * jump within itself. False: there is no memory for a thread; nothing was
 * called. `size` is at most DEEP_CALL_STACK.
 */
bool deep_call(size_t size, void (*call)(void *owner), void *owner);

#endif
