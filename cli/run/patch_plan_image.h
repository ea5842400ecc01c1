/*
 * patch_plan_image.h: the patch plan of one file.
 */
#ifndef GNOMON_PATCH_PLAN_IMAGE_H
#define GNOMON_PATCH_PLAN_IMAGE_H

#include <stdbool.h>

#include "cli/base/text/buffer.h"
#include "cli/run/patch_plan_file.h"

/*
 * Appends it to `plan` if the file has a static allocator. Leaves out functions
 * that a library exports: our preloaded library comes first in symbol lookup.
 * If the allocator cannot be patched, prints a message if `tells`.
 */
void patch_plan_image(struct buffer *plan, const struct patch_plan_file *file,
		      const char *path, bool program, bool reports);

#endif
