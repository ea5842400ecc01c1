/*
 * dump_frames.h: collects and names the frames of stacks for a dump. The
 * recorder only.
 */
#ifndef GNOMON_DUMP_FRAMES_H
#define GNOMON_DUMP_FRAMES_H

#include <stdbool.h>

#include "cli/recorder/dump/scratch.h"
#include "cli/recorder/emit/emit_image.h"
#include "library/gnomon/gnomon.h"

/* One for each pair of an address in a stack and its image. */
struct dump_frames_one {
	struct gnomon_frame frame;
	struct dump_frames_one *next;	/* all of them */
	struct dump_frames_one *chain;	/* with the same hash */
	uint32_t image;		/* index + 1; 0: none */
	uint32_t room;		/* bytes for the name */
	char *name;		/* as printed */
	uint64_t start;		/* of its symbol, as an address in the image */
	enum gnomon_edit edit;
};

/* A node of the context tree, read once. */
struct dump_frames_node {
	struct dump_frames_one *frame;	/* NULL: not yet */
	uint32_t parent;	/* smaller; 0: none */
};

struct dump_frames {
	const struct emit_image *images;
	const struct gl_node *nodes;
	uint32_t node_count;	/* nodes that may be read */
	uint64_t own_start, own_size;	/* our library: not printed */
	struct scratch *memory;
	/* ---- below: zero at first ---- */
	struct dump_frames_one *all;
	struct dump_frames_one **buckets;
	uint64_t factor;	/* of hashes: odd and unpredictable */
	struct dump_frames_node *node;	/* by context id */
	uint32_t image_count;
	struct dump_frames_one **members;	/* by image; NULL: not yet */
	size_t *end;		/* of each image's */
	uint32_t named;		/* images */
};

/* The members above the line are set. This and later functions return 0 or
 * -ENOMEM. */
int dump_frames_begin(struct dump_frames *frames);

/* Adds all frames of a context's stack. */
int dump_frames_take(struct dump_frames *frames, uint32_t context);

/* Adds a frame by its return address, without a stack. NULL: no memory. */
struct dump_frames_one *dump_frames_caller(struct dump_frames *frames,
					   uint64_t ra);

/* Names the frames of one more image; 1: there are more. Call after all frames
 * were added. */
int dump_frames_name(struct dump_frames *frames);

/* The frame of an added context, with its caller's context in *context; NULL:
 * end of the stack. */
const struct dump_frames_one *dump_frames_step(const struct dump_frames *frames,
					       uint32_t *context);

/* Whether both are in the same function. */
bool dump_frames_same(const struct dump_frames_one *a,
		      const struct dump_frames_one *b);

#endif
