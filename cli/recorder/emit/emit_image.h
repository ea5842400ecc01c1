/*
 * emit_image.h: IMAGE chunks: what is mapped, and what no longer is. The
 * writer only.
 */
#ifndef GNOMON_EMIT_IMAGE_H
#define GNOMON_EMIT_IMAGE_H

#include <stdint.h>

#include "cli/recorder/emit/chunk.h"
#include "unwind/layout.h"

struct emit_image {
	const struct gl_image *images;	/* in the live mapping */
	struct gl_image *copies;	/* of those that are complete, checked */
	char **mapped;		/* where the file of each lies; NULL: unknown */
	const char *prefix;	/* where an emulator looks first; NULL: none */
	const struct gl_header *header;
	const uint64_t *reserved;	/* records that may be read */
	struct chunk_out *out;
	const char *exe;	/* path of the program, "" if unknown */
	uint8_t state[GL_IMAGES_MAX];	/* EMIT_IMAGE_* */
	uint32_t complete;	/* all below are written at least once */
};

/* Memory for what was copied. 0 or -ENOMEM. */
int emit_image_init(struct emit_image *emit);

/* Those whose records may be read; not all of them need be complete. */
uint32_t emit_image_count(const struct emit_image *emit);

/* Writes what has changed. Before any node that could mean a new image. */
void emit_image_flush(struct emit_image *emit);

/* Also looks for images that have gone, which takes longer. */
void emit_image_flush_gone(struct emit_image *emit);

#endif
