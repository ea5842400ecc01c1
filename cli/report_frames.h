/*
 * report_frames.h: frames that are written once, in a table of their own, and
 * by their number where they stand in stacks: a large program has a hundred
 * thousand stacks of a few thousand frames.
 */
#ifndef GNOMON_REPORT_FRAMES_H
#define GNOMON_REPORT_FRAMES_H

#include "cli/base/json.h"
#include "cli/base/table.h"
#include "cli/profile/frames.h"

/* A zeroed one is empty. */
struct report_frames {
	struct frame *list;	/* texts are borrowed */
	size_t count;
	size_t capacity;
	struct table number_of;	/* hash -> index in the list */
};

uint32_t report_frames_number(struct report_frames *frames,
			      const struct frame *frame);
/* The member "frames": each at its number. */
void report_frames_json(struct json *json, const struct report_frames *frames);
void report_frames_free(struct report_frames *frames);

#endif
