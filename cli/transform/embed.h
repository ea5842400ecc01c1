/*
 * embed.h: put the files that give a trace's addresses names into the trace.
 */
#ifndef GNOMON_EMBED_H
#define GNOMON_EMBED_H

#include <stdbool.h>

#include "cli/symbol/files/debugfile.h"
#include "cli/trace/write/repack.h"

enum embed_what {
	EMBED_AS_IT_IS,		/* what the trace has stays, nothing is added */
	EMBED_NONE,		/* what the trace has goes */
	EMBED_DEBUG,		/* of each image its reduced form */
	EMBED_FULL		/* and the whole file */
};

#define EMBED_GLOBS_MAX 64

struct embed_image {
	char *path;
	uint8_t build_id[GL_BUILD_ID_MAX];
	size_t build_id_size;
	bool debug, full;	/* the trace has it already */
};

struct embed {
	enum embed_what what;
	const struct debugfile_places *places;
	const char *globs[EMBED_GLOBS_MAX];	/* files to include */
	size_t glob_count;
	int pid;			/* of the recorded program; 0: unknown */
	struct embed_image *images;	/* one of each build-id */
	size_t image_count;
	size_t image_capacity;
	uint32_t next_number;		/* of an embedded file */
	uint64_t added, missing;	/* files; images that are nowhere */
};

/* From the way of a trace's chunks (struct repack_change): a line of INFO, an
 * image, a piece of a file that it has; the last returns whether it stays. */
void embed_see_line(struct embed *embed, unsigned type, const char *key,
		    const char *value);
void embed_see_image(struct embed *embed, const struct trace_image *image);
bool embed_see_file(struct embed *embed, const struct trace_file *piece);

/* Add what is wanted. False: a file that was asked for cannot be read; that was
 * said. */
bool embed_add(struct embed *embed, struct repack *repack);
void embed_free(struct embed *embed);

#endif
