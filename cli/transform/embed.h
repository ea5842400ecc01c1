/*
 * embed.h: embeds in a trace the files that its addresses are symbolized with.
 */
#ifndef GNOMON_EMBED_H
#define GNOMON_EMBED_H

#include <stdbool.h>

#include "cli/symbol/files/debugfile.h"
#include "cli/trace/write/repack.h"

enum embed_what {
	EMBED_AS_IT_IS,		/* keep the trace's files, add nothing */
	EMBED_NONE,		/* drop the trace's files */
	EMBED_DEBUG,		/* add the reduced form of each image */
	EMBED_FULL		/* and the full file */
};

#define EMBED_GLOBS_MAX 64

struct embed_image {
	char *path;
	uint8_t build_id[GL_BUILD_ID_MAX];
	size_t build_id_size;
	bool debug, full;	/* the trace already has it */
};

struct embed {
	enum embed_what what;
	const struct debugfile_places *places;
	const char *globs[EMBED_GLOBS_MAX];	/* files to include */
	size_t glob_count;
	int pid;			/* of the recorded program; 0: unknown */
	struct embed_image *images;	/* one for each build-id */
	size_t image_count;
	size_t image_capacity;
	uint32_t next_number;		/* of an embedded file */
	uint64_t added, missing;	/* files; images that were not found */
};

/* Fill in the functions that observe and change a trace's chunks. */
void embed_change(struct embed *embed, struct repack_change *change);
/* Then add the requested files; `owner` is the struct embed. False, with a
 * message: a requested file cannot be read. */
bool embed_add(void *owner, struct repack *repack);
void embed_free(struct embed *embed);

#endif
