/*
 * image_record.h: what is kept of an image (struct image and its record in the
 * live file), from what the loader has of it. Used by image.c.
 */
#ifndef GNOMON_UNWIND_IMAGE_RECORD_H
#define GNOMON_UNWIND_IMAGE_RECORD_H

#include <stdbool.h>
#include <stdint.h>

#include "unwind/elfmap.h"
#include "unwind/image.h"

/* capture_config.find_section; NULL: files are not asked */
typedef bool image_find_section(const char *path, const char *name,
				uint64_t *address, uint64_t *size);

/* Whether it has segments at all. */
bool image_record_possible(const struct elfmap *map);

/* Fills what is empty but for image->public, which is empty too. Flags that
 * say when it was found are the caller's. */
void image_record_fill(struct image *image, const struct elfmap *map,
		       image_find_section *find);

/* Where its unwind tables are. */
void image_record_sections(const struct elfmap *map, image_find_section *find,
			   struct rules_sections *sections);

/* Whether a known image is what the loader has at its place. */
bool image_record_matches(const struct image *image,
			  const struct elfmap *map);

#endif
