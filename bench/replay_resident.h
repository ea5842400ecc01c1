/*
 * replay_resident.h: the resident memory of this process, from the kernel;
 * without the allocator.
 */
#ifndef BENCH_REPLAY_RESIDENT_H
#define BENCH_REPLAY_RESIDENT_H

#include <stdint.h>

uint64_t resident_bytes(void);
/* The most since the kernel was asked to forget the maximum; or since the
 * start, where it may not be asked, when there was hardly less. */
uint64_t resident_peak(void);
void resident_forget_peak(void);

#endif
