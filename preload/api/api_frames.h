/*
 * api_frames.h: the frames of stacks, with their names: for a dump (api_dump.c).
 * One thread of the target at a time, outside of hooks, that may open files.
 */
#ifndef GNOMON_API_FRAMES_H
#define GNOMON_API_FRAMES_H

#include "library/gnomon/gnomon.h"
#include "preload/base/scratch.h"
#include "preload/base/text.h"
#include "preload/ring/recorder.h"

/* One for each address that comes in a stack, and image that it meant. */
struct api_frame {
	struct gnomon_frame frame;
	struct api_frame *next;	/* all of them */
	struct api_frame *chain;	/* with the same hash */
	const struct gl_image *image;	/* NULL: none */
	char *name;		/* as it is shown */
	uint64_t start;		/* of its symbol, in the image */
	enum gnomon_edit edit;
};

struct api_frames {
	struct recorder *r;
	struct scratch *memory;
	struct api_frame *all;
	struct api_frame **buckets;
	struct api_frame **of_node;	/* by context id */
	uint32_t node_count;
	uint32_t image_count;
};

/* r, memory are set, the rest 0. Here and below: 0 or -ENOMEM. */
int api_frames_begin(struct api_frames *frames);

/* Takes in the frames of a context's whole stack. */
int api_frames_take(struct api_frames *frames, uint32_t context);

/* One more, of no stack, by its return address. NULL: no memory. */
struct api_frame *api_frames_caller(struct api_frames *frames, uintptr_t ra);

/* Names all that were taken in. `edit` may be NULL. */
int api_frames_name(struct api_frames *frames, gnomon_editor edit, void *data);

/* The frame of a context that was taken in, and its caller's context in
 * *context; NULL: the stack's end. */
const struct api_frame *api_frames_step(const struct api_frames *frames,
					uint32_t *context);

/* Whether both are in the same function. */
bool api_frames_same(const struct api_frame *a, const struct api_frame *b);

/* "0x2a" */
void api_frames_hex(struct text *text, uint64_t value);

#endif
