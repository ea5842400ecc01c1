/*
 * image_kind.h: classifies an image with respect to barriers (return addresses
 * replaced by stubs): whether a frame that returns into its code may get one,
 * and whether its presence forbids them in the whole process.
 */
#ifndef GNOMON_UNWIND_IMAGE_KIND_H
#define GNOMON_UNWIND_IMAGE_KIND_H

#include <stdbool.h>

#include "unwind/base/layout.h"
#include "unwind/elf/elfmap.h"

struct image_kind {
	bool forbids_barriers;	/* at returns into its code */
	/* why it forbids them in the whole process; GT_WHY_DEFAULT: it does
	 * not */
	enum gt_mode_why forbidden_why;
};

/* Reads the image's names, notes and symbols. Any thread, also signal
 * handlers. */
struct image_kind image_kind_of(const struct elfmap *map);

#endif
