/* framehop.h: stacks by the Rust crate framehop, one of the unwinders of
 * bench/unwinders.c. One thread. */
#ifndef GNOMON_BENCH_FRAMEHOP_H
#define GNOMON_BENCH_FRAMEHOP_H

#include <stdint.h>

/* 0, or -1 if the library was not built here. What is mapped later is not
 * known to it. */
int framehop_open(void);

/* Return addresses from `ra` outward, as the registers are behind that return.
 * How many; 0 if the stack's end was not found. */
int framehop_walk(uintptr_t ra, uintptr_t sp, uintptr_t fp, void **frames,
		  int max);

#endif
