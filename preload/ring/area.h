/*
 * area.h: the one mapping of private memory, wiped in a forked child.
 */
#ifndef GNOMON_AREA_H
#define GNOMON_AREA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "preload/base/base.h"

/*
 * Makes the mapping, of this size or a smaller one down to AREA_MIN, and puts
 * a zeroed struct recorder at its start. Once per process image. 0, -ENOMEM,
 * or -ENOSYS where the kernel cannot wipe it.
 */
int area_map(uint64_t size_bytes);

#define AREA_MIN (UINT64_C(12) << 20)

/*
 * A place behind that, aligned to a cache line, where a child finds zeros, too:
 * for what is reached by a pointer that is static. Once per process image,
 * before the first area_alloc; some pages in all.
 */
void *area_place(size_t size_bytes);

/* Zeroed memory, aligned to a cache line, never given back; NULL when the
 * area is used up. Any thread, also signal handlers. */
void *area_alloc(size_t size_bytes);

/*
 * The recording has started: what was taken so far are tables for the largest
 * number of everything, of which hardly any page is in use. What is given out from
 * now on counts as used, and is `budget` bytes at most.
 */
void area_settle(uint64_t budget);

/* Bytes of the mapping. */
uint64_t area_size_bytes(void);

/* Bytes given out so far. */
uint64_t area_used(void);

/* Whether so much is used that new threads should go without memory of their
 * own, for the sake of what all threads share. */
bool area_scarce(void);

/* Its bounds, and what was given out of it. With GNOMON_CLAIMS. */
bool area_is_valid(void);

#endif
