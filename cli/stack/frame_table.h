/*
 * frame_table.h: a table of frames for JSON. Each frame is written once, and
 * stacks refer to frames by number: a large program has a hundred thousand
 * stacks of a few thousand frames.
 */
#ifndef GNOMON_FRAME_TABLE_H
#define GNOMON_FRAME_TABLE_H

#include "cli/base/table.h"
#include "cli/base/text/json.h"
#include "cli/stack/frames.h"

/* A zeroed struct is empty. */
struct frame_table {
	struct frame *list;	/* texts are borrowed */
	size_t count;
	size_t capacity;
	struct table number_of;	/* hash -> index in the list */
};

/* Writes a frame as an object: members may be added but not renamed. */
void frame_table_frame(struct json *json, const struct frame *frame);
uint32_t frame_table_number(struct frame_table *frames,
			      const struct frame *frame);
/* Writes the member "frames": an array in the order of the numbers. */
void frame_table_json(struct json *json, const struct frame_table *frames);
void frame_table_free(struct frame_table *frames);

#endif
