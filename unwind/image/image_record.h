/*
 * image_record.h: fills struct image and its record in the live file from the
 * loader's data. Used by image.c.
 */
#ifndef GNOMON_UNWIND_IMAGE_RECORD_H
#define GNOMON_UNWIND_IMAGE_RECORD_H

#include <stdbool.h>
#include <stdint.h>

#include "unwind/elf/elfmap.h"
#include "unwind/image/image.h"

/* capture_config.find_section; NULL: files are not read */
typedef bool image_find_section(const char *path, const char *name,
				uint64_t *address, uint64_t *size);

/* Whether the image has loadable segments at all. */
bool image_record_possible(const struct elfmap *map);

/* Fills an image that is zeroed except for image->public, whose record is
 * zeroed too. The caller sets the flags that say when it was found. */
void image_record_fill(struct image *image, const struct elfmap *map,
		       image_find_section *find);

/* Finds its unwind tables. */
void image_record_sections(const struct elfmap *map, image_find_section *find,
			   struct rules_sections *sections);

/* Whether the loader's image at this address is still the known one. */
bool image_record_matches(const struct image *image,
			  const struct elfmap *map);

#endif
