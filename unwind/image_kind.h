/*
 * image_kind.h: what an image is to barriers (return addresses replaced by
 * stubs): whether one may be set into a frame that returns into its code, and
 * whether its presence forbids them in the whole process.
 */
#ifndef GNOMON_UNWIND_IMAGE_KIND_H
#define GNOMON_UNWIND_IMAGE_KIND_H

#include <link.h>
#include <stdbool.h>

#include "unwind/layout.h"

struct image_kind {
	bool no_barrier;
	enum gt_mode_why verdict;	/* GT_WHY_DEFAULT: nothing against */
};

/* Reads the image's names, notes and symbols. Any thread, while the image is
 * mapped (in a callback of the loader's list). */
struct image_kind image_kind_of(const struct dl_phdr_info *info);

#endif
