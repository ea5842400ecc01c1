/*
 * image_ranges.h: from an address to the image whose code it is.
 *
 * Look-ups are lock-free: any thread, also signal handlers. Whoever adds
 * images holds the image lock (image.c).
 */
#ifndef GNOMON_UNWIND_IMAGE_RANGES_H
#define GNOMON_UNWIND_IMAGE_RANGES_H

#include "unwind/image.h"

/* Forgets all. The array that image numbers count from; it never moves. */
void image_ranges_init(const struct image *images);

/* The first `count` images are complete; from now on they are found. */
void image_ranges_publish(uint32_t count);

/* One of those that are known was gone and is not any more. */
void image_ranges_again(const struct image *image, uint32_t count);

/* The image whose executable code holds pc and that is not gone; or NULL. */
const struct image *image_ranges_find(uintptr_t pc);

/* Counts, and the order of the sorted part. */
bool image_ranges_is_valid(void);

#endif
