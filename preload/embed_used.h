/*
 * embed_used.h: the images that stacks go through, and how often. The writer
 * only.
 */
#ifndef GNOMON_EMBED_USED_H
#define GNOMON_EMBED_USED_H

#include <stdbool.h>
#include <stdint.h>

#include "preload/embed_open.h"
#include "preload/emit_image.h"
#include "preload/live.h"

struct embed_used {
	struct emit_image *emit;
	const struct live *live;
	uint32_t node;			/* the next that is looked at */
	uint32_t image;			/* that the last one was in */
	bool done[GL_IMAGES_MAX];
	uint32_t nodes[GL_IMAGES_MAX];	/* that lie in it */
};

/* Looks at nodes of the context tree that are new: at some at a time, and of
 * very many not at all. True: there are more. May write IMAGE. */
bool embed_used_look(struct embed_used *used);

/* The image that most nodes lie in, of those that were not asked for yet; NULL:
 * none. */
const struct gl_image *embed_used_next(struct embed_used *used);

/* What to look for: the kernel's path of it, where it is still mapped; else
 * the loader's, or `exe` for the program itself. */
void embed_used_describe(const struct gl_image *image, const char *exe,
			 struct embed_wanted *wanted);

#endif
