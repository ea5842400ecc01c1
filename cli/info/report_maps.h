/*
 * report_maps.h: the part of `gnomon info` that is about mappings.
 */
#ifndef GNOMON_REPORT_MAPS_H
#define GNOMON_REPORT_MAPS_H

#include <stdio.h>

#include "cli/base/text/json.h"
#include "cli/stack/frames.h"

/* `full`: stacks as long as they are. */
void report_maps_text(struct model *model, struct frames *frames, bool full,
		      FILE *out);
/* Members of the object that is being written. */
void report_maps_json(struct model *model, struct frames *frames,
		      struct json *json);

#endif
