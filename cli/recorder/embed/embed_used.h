/*
 * embed_used.h: counts the frames of stacks in each image. The recorder only.
 */
#ifndef GNOMON_EMBED_USED_H
#define GNOMON_EMBED_USED_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/recorder/embed/embed_open.h"
#include "cli/recorder/emit/emit_image.h"
#include "cli/recorder/live/live.h"

struct embed_used {
	struct emit_image *emit;
	const struct live *live;
	uint32_t node;			/* the next to read */
	uint32_t image;			/* image of the last node */
	bool done[GL_IMAGES_MAX];
	uint32_t nodes[GL_IMAGES_MAX];	/* nodes that lie in it */
};

/* Reads new nodes of the context tree, a limited number at a time, and skips
 * some of very many. True: there are more. May write IMAGE chunks. */
bool embed_used_poll(struct embed_used *used);

/* The number of the image with most nodes that this function has not returned
 * yet. False: there is none. */
bool embed_used_next(struct embed_used *used, uint32_t *number);

/* Fills in which file to open: the image's path in /proc/PID/maps, now or when
 * it was found; `exe` for the program itself. If the process ended before that,
 * it is the loader's path. That path is untrusted, but the reader has only the
 * target's rights. */
void embed_used_describe(const struct embed_used *used, uint32_t number,
			 const char *exe, struct embed_wanted *wanted);

#endif
