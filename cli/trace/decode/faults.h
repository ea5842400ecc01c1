/*
 * faults.h: what a trace says that cannot be: chunks whose checksums are right
 * and whose content fits neither the format nor what was said before.
 *
 * Each kind is counted, and the first place of it is kept. Whoever finds one
 * need not know where it is: the reader says before it hands out the content
 * of a chunk.
 */
#ifndef GNOMON_FAULTS_H
#define GNOMON_FAULTS_H

#include <stdint.h>

#include "cli/base/notes.h"

enum fault_kind {
	FAULT_MALFORMED,	/* it ends early, or a field makes no sense */
	FAULT_NODE_AGAIN,	/* a context defined twice, as two */
	FAULT_NODE_PARENT,	/* a parent that is not defined before */
	FAULT_NODE_ID,		/* an id that is reserved, or far too large */
	FAULT_CONTEXT,		/* a context that was never defined */
	FAULT_IMAGE_AGAIN,	/* an index that is two images */
	FAULT_IMAGE_GONE,	/* an end without, or before, the beginning */
	FAULT_IMAGES_MANY,	/* more images than any recorder knows */
	FAULT_EVENTS_FEW,	/* END counts more than there are */
	FAULT_KINDS
};

struct faults {
	/* The chunk whose content is looked at; 0: of the live file. */
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
/* A note for each kind that there is. */
void faults_tell(const struct faults *faults, const char *path,
		 struct notes *notes);

#endif
