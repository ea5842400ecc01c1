/*
 * emit_image.h: writes IMAGE chunks: modules that were loaded or unloaded. The
 * recorder only.
 */
#ifndef GNOMON_EMIT_IMAGE_H
#define GNOMON_EMIT_IMAGE_H

#include <stdint.h>

#include "cli/recorder/emit/chunk.h"
#include "unwind/base/layout.h"

struct emit_image {
	const struct gl_image *images;	/* in the live mapping */
	struct gl_image *copies;	/* of complete records, checked */
	char **mapped;		/* path of each file; NULL: unknown */
	const char *prefix;	/* emulator's root directory; NULL: none */
	const struct gl_header *header;
	const uint64_t *reserved;	/* records that may be read */
	struct chunk_out *out;
	const char *exe;	/* path of the program, "" if unknown */
	uint8_t state[GL_IMAGES_MAX];	/* EMIT_IMAGE_* */
	uint32_t complete;	/* all below are written at least once */
};

/* Allocates the copies. 0 or -ENOMEM. */
int emit_image_init(struct emit_image *emit);

/* Number of records that may be read; some may be incomplete. */
uint32_t emit_image_count(const struct emit_image *emit);

/* Writes changes. Call before writing nodes that may lie in a new image. */
void emit_image_flush(struct emit_image *emit);

/* Also finds unloaded images, which takes longer. */
void emit_image_flush_gone(struct emit_image *emit);

#endif
