/*
 * barrier.h: barriers: return addresses in the program's stack that are
 * replaced by one of our stubs.
 *
 * A stub belongs to one return address for ever: its table entry is written
 * once and never reused. Code that returns through the stub, on any stack or
 * thread and however late, therefore reaches the address that the program
 * wanted. shadow.h defines what a barrier in place says about the frames
 * outward of it.
 */
#ifndef GNOMON_UNWIND_BARRIER_H
#define GNOMON_UNWIND_BARRIER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "arch.h"

/*
 * Makes the table writable. False: this process cannot use barriers. Called
 * once per process, before other threads capture; again in a forked child,
 * which inherits its parent's table.
 */
bool barrier_init(void);

/*
 * The stub that returns to `ra`, 0 if the pool is full (then it stays full).
 * Lock-free; any thread, also signal handlers.
 */
uintptr_t barrier_stub(uintptr_t ra);

/* Whether a word is an address within the stubs, also of one that is not in use
 * or inside one. */
static inline bool barrier_in_stubs(uintptr_t word)
{
	return word - (uintptr_t)arch_stubs < ARCH_STUB_DELTA;
}

/*
 * The address that the stub at this address returns to; the word itself if that
 * stub is not in use. A word that is no stub's address is returned as a return
 * address (arch_return_address), so any word of a stack may be passed.
 */
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
