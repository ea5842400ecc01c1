/*
 * report_info.h: what a trace says of itself: the parts of `gnomon info`.
 * Called by the main thread.
 */
#ifndef GNOMON_REPORT_INFO_H
#define GNOMON_REPORT_INFO_H

#include <stdbool.h>
#include <stdio.h>

#include "cli/info/info_sizes.h"
#include "cli/stack/frames.h"

/* `sizes`: NULL: they were not asked for; `full`: nothing is cut to fit into
 * lines. */
void report_info_text(struct model *model, struct frames *frames,
		      const struct info_sizes *sizes, const char *path,
		      bool full, FILE *out);
void report_info_json(struct model *model, struct frames *frames,
		      const struct info_sizes *sizes, const char *path,
		      FILE *out);

#endif
