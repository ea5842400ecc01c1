/*
 * area.h: the one mapping of private memory, wiped in a forked child.
 */
#ifndef GNOMON_AREA_H
#define GNOMON_AREA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "preload/base.h"

/*
 * Makes the mapping, of this size or a smaller one down to AREA_MIN, and puts
 * a zeroed struct recorder at its start. Once per process image. 0, -ENOMEM,
 * or -ENOSYS where the kernel cannot wipe it.
 */
int area_map(uint64_t size_bytes);

#define AREA_MIN (UINT64_C(15) << 20)

/* Zeroed memory, aligned to a cache line, never given back; NULL when the
 * area is used up. Any thread, also signal handlers. */
void *area_alloc(size_t size_bytes);

/*
 * The recorder has started: what it took are tables for the largest number of
 * everything and buffers for the longest chunk, and hardly any of it is in
 * use. From now on what is given out counts as used, as do AREA_BUFFERS for
 * the writer when it is busy, and all together is `budget` bytes at most.
 */
void area_settle(uint64_t budget);

#define AREA_BUFFERS (UINT64_C(3) << 20)

/* Of so large a budget, what is not for buffers. */
uint64_t area_growth(uint64_t budget);

/* Bytes of the mapping. */
uint64_t area_size_bytes(void);

/* Bytes given out so far. */
uint64_t area_used(void);

/* Whether so much is used that new threads should go without memory of their
 * own, for the sake of what all threads share. */
bool area_scarce(void);

#endif
