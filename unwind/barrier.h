/*
 * barrier.h: return addresses in the program's stack that were replaced by a
 * stub of ours.
 *
 * A stub belongs to one return address for ever: it is written once and never
 * reused, so whoever returns through it, on whatever stack or thread and
 * however late, comes to where the program wanted. What a standing barrier
 * says about the frames outward of it is the shadow's affair (shadow.h).
 */
#ifndef GNOMON_UNWIND_BARRIER_H
#define GNOMON_UNWIND_BARRIER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "arch.h"

/*
 * Makes the table writable. False: there will be no barriers here. Called
 * once a process, before other threads capture; again in a forked child,
 * whose copy of the table is as good as its parent's.
 */
bool barrier_init(void);

/*
 * The stub that returns to `ra`, 0 if the pool is full (then it stays full).
 * Lock-free; any thread, also signal handlers.
 */
uintptr_t barrier_stub(uintptr_t ra);

/* Whether a word is the address of a stub in use. */
static inline bool barrier_is_stub(uintptr_t word)
{
	return word - (uintptr_t)arch_stubs < ARCH_STUB_DELTA;
}

/* The address that the stub at this address returns to. Also of no stub: that of
 * the word, so that any word of a stack may be asked about. */
static inline uintptr_t barrier_origin(uintptr_t word)
{
	uintptr_t distance = word - (uintptr_t)arch_stubs, ra;

	if (__builtin_expect(distance >= ARCH_STUB_DELTA ||
				     distance % ARCH_STUB_BYTES, 1))
		return arch_return_address(word);
	/* Pairs with the exchange in barrier_stub, through the stack word. */
	ra = __atomic_load_n(&arch_stub_table[distance / ARCH_STUB_BYTES],
			     __ATOMIC_RELAXED);
	return ra ? arch_return_address(ra) : word;
}

#endif
