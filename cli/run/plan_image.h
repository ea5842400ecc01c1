/*
 * plan_image.h: the part of a plan that is about one file.
 */
#ifndef GNOMON_PLAN_IMAGE_H
#define GNOMON_PLAN_IMAGE_H

#include <stdbool.h>

#include "cli/base/text/buffer.h"
#include "cli/run/plan_file.h"

/*
 * Appends it to `plan` if the file has an allocator. What a library exports
 * is left out: the loader lets ours go before it. Where the allocator cannot
 * be patched that is said, if `tells`; else it is left out.
 */
void plan_image(struct buffer *plan, const struct plan_file *file,
		const char *path, bool program, bool tells);

#endif
