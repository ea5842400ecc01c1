/*
 * plt_stub.h: recognises stubs of a procedure linkage table (PLT), which jump
 * to the address in a slot that the loader fills.
 *
 * Pure; any thread.
 */
#ifndef GNOMON_PLT_STUB_H
#define GNOMON_PLT_STUB_H

#include <stddef.h>

#include "cli/symbol/elf/elf_kind.h"

#define PLT_STUB_SIZE 16		/* bytes of a stub up to its jump, at
					 * most */

/* The address of the slot, for a stub at this address with these bytes (all
 * PLT_STUB_SIZE, if there are as many); 0: not a known stub. */
uint64_t plt_stub_slot(const struct elf_kind *kind, uint64_t address,
		   const uint8_t *bytes, size_t size);

#endif
