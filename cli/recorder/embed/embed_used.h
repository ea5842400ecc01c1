/*
 * embed_used.h: the images that stacks go through, and how often. The writer
 * only.
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
	uint32_t node;			/* the next that is looked at */
	uint32_t image;			/* that the last one was in */
	bool done[GL_IMAGES_MAX];
	uint32_t nodes[GL_IMAGES_MAX];	/* that lie in it */
};

/* Looks at nodes of the context tree that are new: at some at a time, and of
 * very many not at all. True: there are more. May write IMAGE. */
bool embed_used_look(struct embed_used *used);

/* The number of the image that most nodes lie in, of those that were not asked
 * for yet. False: there is none. */
bool embed_used_next(struct embed_used *used, uint32_t *number);

/* What to look for: the kernel's path of it, now or when it was met; `exe` for
 * the program itself. Of a process that ended before it could be looked at, the
 * loader's, which may be anything: who reads it has the rights of the target. */
void embed_used_describe(const struct embed_used *used, uint32_t number,
			 const char *exe, struct embed_wanted *wanted);

#endif
