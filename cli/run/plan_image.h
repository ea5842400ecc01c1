/*
 * plan_image.h: the patch plan of one file.
 */
#ifndef GNOMON_PLAN_IMAGE_H
#define GNOMON_PLAN_IMAGE_H

#include <stdbool.h>

#include "cli/base/text/buffer.h"
#include "cli/run/plan_file.h"

/*
 * Appends it to `plan` if the file has a static allocator. Leaves out functions
 * that a library exports: our preloaded library comes first in symbol lookup.
 * If the allocator cannot be patched, prints a message if `tells`.
 */
void plan_image(struct buffer *plan, const struct plan_file *file,
		const char *path, bool program, bool tells);

#endif
