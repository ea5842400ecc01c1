/*
 * report.h: what `gnomon report` and the closing paragraph of `gnomon run`
 * have in common, and the two shapes of a report.
 */
#ifndef GNOMON_REPORT_H
#define GNOMON_REPORT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "cli/base/json.h"
#include "cli/profile/frames.h"
#include "cli/model/rows.h"

enum report_by { REPORT_BY_DEFAULT, REPORT_BY_STACK, REPORT_BY_SITE };

struct report_options {
	enum report_by by;
	bool one_key;		/* --sort was given: only that section */
	enum figure key;
	bool top_given;
	uint64_t top;		/* rows; 0: all */
	bool full_names;
	const char *trace;
};

void report_text(struct model *model, struct frames *frames,
		 const struct report_options *options, FILE *out);
void report_json(struct model *model, struct frames *frames,
		 const struct report_options *options, FILE *out);

/* One frame of a "stack" array. */
void report_json_frame(struct json *json, const struct frame *frame);

/* `gnomon info` */
void report_info_text(struct model *model, struct frames *frames, bool sizes,
		      const char *path, FILE *out);
void report_info_json(struct model *model, struct frames *frames,
		      const char *path, FILE *out);

/* The memory of the process, as kernel and C library count it: lines and keys
 * of a report's summary; a section and two arrays of `gnomon info`. */
void report_memory_text(const struct model *model, FILE *out);
void report_memory_summary(struct json *json, const struct model *model);
void report_memory_info(const struct model *model, FILE *out);
void report_memory_json(struct json *json, const struct model *model);

#endif
