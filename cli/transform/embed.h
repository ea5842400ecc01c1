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

/* What is to be seen, and changed, on the way of a trace's chunks. */
void embed_change(struct embed *embed, struct repack_change *change);
/* Then add what is wanted, `owner` being the struct embed. False: a file that
 * was asked for cannot be read; that was said. */
bool embed_add(void *owner, struct repack *repack);
void embed_free(struct embed *embed);

#endif
