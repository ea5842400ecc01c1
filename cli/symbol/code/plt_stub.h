/*
 * plt_stub.h: stubs of a procedure linkage table, which only jump to what the
 * loader has written into a slot.
 *
 * Pure; any thread.
 */
#ifndef GNOMON_PLT_STUB_H
#define GNOMON_PLT_STUB_H

#include <stddef.h>

#include "cli/symbol/elf/elf_kind.h"

#define PLT_STUB_SIZE 16		/* no stub has more bytes up to its jump */

/* The address of the slot, for a stub at this address with these bytes (all of
 * PLT_STUB_SIZE, as far as there are so many); 0: it is none that is known. */
uint64_t plt_stub_slot(const struct elf_kind *kind, uint64_t address,
		   const uint8_t *bytes, size_t size);

#endif
