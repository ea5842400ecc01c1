/*
 * dump_frames.h: the frames of stacks, with their names: for a dump. The writer
 * only.
 */
#ifndef GNOMON_DUMP_FRAMES_H
#define GNOMON_DUMP_FRAMES_H

#include <stdbool.h>

#include "cli/recorder/dump/scratch.h"
#include "cli/recorder/emit/emit_image.h"
#include "library/gnomon/gnomon.h"

/* One for each address that comes in a stack, and image that it meant. */
struct dump_frames_one {
	struct gnomon_frame frame;
	struct dump_frames_one *next;	/* all of them */
	struct dump_frames_one *chain;	/* with the same hash */
	uint32_t image;		/* index + 1; 0: none */
	uint32_t room;		/* bytes for the name */
	char *name;		/* as it is shown */
	uint64_t start;		/* of its symbol, in the image */
	enum gnomon_edit edit;
};

/* Of a context that was taken in: read once. */
struct dump_frames_node {
	struct dump_frames_one *frame;	/* NULL: not yet */
	uint32_t parent;	/* smaller; 0: none */
};

struct dump_frames {
	const struct emit_image *images;
	const struct gl_node *nodes;
	uint32_t node_count;	/* that may be read */
	uint64_t own_start, own_size;	/* not to be shown */
	struct scratch *memory;
	/* ---- below: zero at first ---- */
	struct dump_frames_one *all;
	struct dump_frames_one **buckets;
	uint64_t factor;	/* of hashes: odd, and nobody's to guess */
	struct dump_frames_node *node;	/* by context id */
	uint32_t image_count;
	struct dump_frames_one **members;	/* by image; NULL: not yet */
	size_t *end;		/* of each image's */
	uint32_t named;		/* images */
};

/* The upper part is set. Here and below: 0 or -ENOMEM. */
int dump_frames_begin(struct dump_frames *frames);

/* Takes in the frames of a context's whole stack. */
int dump_frames_take(struct dump_frames *frames, uint32_t context);

/* One more, of no stack, by its return address. NULL: no memory. */
struct dump_frames_one *dump_frames_caller(struct dump_frames *frames,
					   uint64_t ra);

/* Names those of another image; 1: there are more. When all have been taken
 * in. */
int dump_frames_name(struct dump_frames *frames);

/* The frame of a context that was taken in, and its caller's context in
 * *context; NULL: the stack's end. */
const struct dump_frames_one *dump_frames_step(const struct dump_frames *frames,
					       uint32_t *context);

/* Whether both are in the same function. */
bool dump_frames_same(const struct dump_frames_one *a,
		      const struct dump_frames_one *b);

#endif
