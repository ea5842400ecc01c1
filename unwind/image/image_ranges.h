/*
 * image_ranges.h: finds the image whose code contains an address.
 *
 * Look-ups are lock-free: any thread, also signal handlers. Adding images
 * requires the image lock (image.c).
 */
#ifndef GNOMON_UNWIND_IMAGE_RANGES_H
#define GNOMON_UNWIND_IMAGE_RANGES_H

#include "unwind/image/image.h"

/* Forgets all. images: the array that image numbers index; it never moves. */
void image_ranges_init(const struct image *images);

/* The first `count` images are complete: makes lookups find them. */
void image_ranges_publish(uint32_t count);

/* One of the `count` known images was gone and is mapped again. */
void image_ranges_again(const struct image *image, uint32_t count);

/* The image whose executable code contains pc and that is not gone; or NULL. */
const struct image *image_ranges_find(uintptr_t pc);

/* Checks the counts, and the order of the sorted part. */
bool image_ranges_is_valid(void);

#endif
