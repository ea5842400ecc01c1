/*
 * radix.h: from an address to a small number that may be right.
 *
 * For each 64 KiB of addresses it holds the number that was last found there
 * by other means; who asks must see for himself whether it fits, as what lay
 * there may have gone, or two things may share those 64 KiB. So nothing needs
 * to be taken out, ever. Any thread, also signal handlers; no locks.
 */
#ifndef GNOMON_UNWIND_RADIX_H
#define GNOMON_UNWIND_RADIX_H

#include <stdbool.h>
#include <stdint.h>

/* Forgets all. Without memory it stays empty, which is slow but right. */
void radix_init(void);

/* The number stored last around this address; 0: none. What the number's
 * finder saw when it was stored is seen by who gets it. */
uint16_t radix_find(uintptr_t address);

/* Remembers a number (not 0). */
void radix_store(uintptr_t address, uint16_t number);

/* No number is above `most`. With GNOMON_CLAIMS (claim.h). */
bool radix_is_valid(uint16_t most);

#endif
