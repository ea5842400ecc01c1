/*
 * frame_table.h: frames that are written once, in a table of their own, and
 * by their number where they stand in stacks: a large program has a hundred
 * thousand stacks of a few thousand frames.
 */
#ifndef GNOMON_FRAME_TABLE_H
#define GNOMON_FRAME_TABLE_H

#include "cli/base/table.h"
#include "cli/base/text/json.h"
#include "cli/stack/frames.h"

/* A zeroed one is empty. */
struct frame_table {
	struct frame *list;	/* texts are borrowed */
	size_t count;
	size_t capacity;
	struct table number_of;	/* hash -> index in the list */
};

/* A frame as an object: the names of its members are only ever added to. */
void frame_table_frame(struct json *json, const struct frame *frame);
uint32_t frame_table_number(struct frame_table *frames,
			      const struct frame *frame);
/* The member "frames": each at its number. */
void frame_table_json(struct json *json, const struct frame_table *frames);
void frame_table_free(struct frame_table *frames);

#endif
