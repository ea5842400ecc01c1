/*
 * radix.h: a cache from an address to a small number, which may be wrong.
 *
 * For each 64 KiB of addresses it holds the number last stored for an address
 * there. The caller must check the number: its object may be gone, or two
 * objects may share the 64 KiB. So entries are never removed. Any thread, also
 * signal handlers; no locks.
 */
#ifndef GNOMON_UNWIND_RADIX_H
#define GNOMON_UNWIND_RADIX_H

#include <stdbool.h>
#include <stdint.h>

/* Forgets all. Without memory it stays empty: slow, but correct. */
void radix_init(void);

/* The number last stored for these 64 KiB; 0: none. The caller sees everything
 * that the storing thread saw. */
uint16_t radix_find(uintptr_t address);

/* Remembers a number (not 0). */
void radix_store(uintptr_t address, uint16_t number);

/* Whether no number is above `most`. With GNOMON_DEBUG_ASSERTS
 * (assertion.h). */
bool radix_is_valid(uint16_t most);

#endif
