/*
 * faults.h: format errors of a trace: chunks whose checksum is right, but whose
 * content does not fit the format or earlier chunks.
 *
 * Each kind of error is counted, and the offset of the first is kept. Code that
 * finds an error need not know the offset: the reader sets it before it passes
 * on the content of a chunk.
 */
#ifndef GNOMON_FAULTS_H
#define GNOMON_FAULTS_H

#include <stdint.h>

#include "cli/base/notes.h"

enum fault_kind {
	FAULT_MALFORMED,	/* the chunk ends early, or a field is
				 * invalid */
	FAULT_NODE_AGAIN,	/* a context defined twice, differently */
	FAULT_NODE_PARENT,	/* a parent that was not defined before */
	FAULT_NODE_ID,		/* an id that is reserved, or far too large */
	FAULT_CONTEXT,		/* a context that was never defined */
	FAULT_IMAGE_AGAIN,	/* an index used for two images */
	FAULT_IMAGE_GONE,	/* an end without, or before, the start */
	FAULT_IMAGES_MANY,	/* more images than a recorder can have */
	FAULT_EVENTS_FEW,	/* END counts more events than there are */
	FAULT_KINDS
};

struct faults {
	/* The chunk that is being decoded; 0: of the live file. */
	uint64_t offset;
	unsigned type;		/* enum gt_chunk_type */
	struct fault {
		uint64_t count;
		uint64_t offset;	/* of the first */
		unsigned type;
	} kind[FAULT_KINDS];
};

void faults_at(struct faults *faults, unsigned type, uint64_t offset);
void faults_note(struct faults *faults, enum fault_kind kind, uint64_t count);
uint64_t faults_total(const struct faults *faults);
/* Adds a note for each kind of error that occurred. */
void faults_tell(const struct faults *faults, const char *path,
		 struct notes *notes);

#endif
