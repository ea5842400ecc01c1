/*
 * barrier.c: the pool of stubs.
 *
 * The stubs' table is the pool's only state: an open-addressed hash table of
 * return addresses, in which an address's index is its stub's number. So it
 * needs no lock and no other memory, and it survives a fork, whose child may
 * have stubs in its stack.
 *
 * I1  An entry changes once, from 0 to its return address.
 * I2  No stub's address is returned before its entry is written.
 *
 * Thread context: any, also signal handlers.
 */
#include <asm/mman.h>
#include <asm/unistd.h>

#include "unwind/barrier.h"
#include "unwind/base/assertion.h"

#define PROBES_MAX 64u	/* after so many the pool counts as full */

bool barrier_init(void)
{
	/* The stubs' FDE relies on this distance. */
	if ((uintptr_t)arch_stub_table - (uintptr_t)arch_stubs !=
	    ARCH_STUB_DELTA)
		return false;
	return arch_syscall3(__NR_mprotect, (long)arch_stub_table,
			     ARCH_STUBS * sizeof(arch_stub_table[0]),
			     PROT_READ | PROT_WRITE) == 0;
}

uintptr_t barrier_stub(uintptr_t ra)
{
	/* Multiplicative hashing (Knuth, volume 3, 6.4). */
	uint64_t hash = ra * UINT64_C(0x9e3779b97f4a7c15);
	uint32_t i = (uint32_t)(hash >> 32), probe;

	ASSERT(ra != 0 && !barrier_in_stubs(ra));
	for (probe = 0; probe < PROBES_MAX; probe++, i++) {
		uint32_t at = i % ARCH_STUBS;
		uintptr_t found;

		if (at == 0)
			continue;
		found = __atomic_load_n(&arch_stub_table[at],
					__ATOMIC_RELAXED);
		/* The stub's jump reads the table as data: the thread that
		 * returns through it later is this one, or got the stack from
		 * it. */
		if (found == 0 &&
		    __atomic_compare_exchange_n(&arch_stub_table[at], &found,
						ra, false, __ATOMIC_RELEASE,
						__ATOMIC_RELAXED))
			found = ra;
		if (found == ra) {
			uintptr_t stub = (uintptr_t)arch_stubs +
					 at * ARCH_STUB_BYTES;

			DEBUG_ASSERT(barrier_in_stubs(stub) &&	/* I2 */
				     barrier_origin(stub) ==
					     arch_return_address(ra));
			return stub;
		}
	}
	return 0;
}
