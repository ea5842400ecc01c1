/*
 * report_tuning.h: the part of `gnomon info` that tells of mallopt and
 * malloc_trim.
 */
#ifndef GNOMON_REPORT_TUNING_H
#define GNOMON_REPORT_TUNING_H

#include <stdio.h>

#include "cli/base/text/json.h"
#include "cli/stack/frames.h"

/* Nothing where there was no call. */
void report_tuning_text(struct model *model, struct frames *frames, bool full,
			FILE *out);
/* The member "tuning" of the object that is being written. */
void report_tuning_json(struct model *model, struct frames *frames,
			struct json *json);

#endif
