/*
 * replay_resident.h: how much of this process is resident, as the kernel
 * counts it; without the allocator.
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
