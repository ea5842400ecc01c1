/*
 * format_errors.h: format errors of a trace: chunks whose checksum is right,
 * but whose content does not fit the format or earlier chunks.
 *
 * Each kind of error is counted, and the offset of the first is kept. Code that
 * finds an error need not know the offset: the reader sets it before it passes
 * on the content of a chunk.
 */
#ifndef GNOMON_FORMAT_ERRORS_H
#define GNOMON_FORMAT_ERRORS_H

#include <stdint.h>

#include "cli/base/notes.h"

enum format_error {
	FORMAT_ERROR_MALFORMED, /* the chunk ends early, or a field is
				 * invalid */
	FORMAT_ERROR_NODE_AGAIN, /* a context defined twice, differently */
	FORMAT_ERROR_NODE_PARENT, /* a parent that was not defined before */
	FORMAT_ERROR_NODE_ID, /* an id that is reserved, or far too large */
	FORMAT_ERROR_CONTEXT, /* a context that was never defined */
	FORMAT_ERROR_IMAGE_AGAIN, /* an index used for two images */
	FORMAT_ERROR_IMAGE_GONE, /* an end without, or before, the start */
	FORMAT_ERROR_IMAGES_MANY, /* more images than a recorder can have */
	FORMAT_ERROR_EVENTS_FEW, /* END counts more events than there are */
	FORMAT_ERROR_KINDS
};

struct format_errors {
	/* The chunk that is being decoded; 0: of the live file. */
	uint64_t offset;
	unsigned type;		/* enum gt_chunk_type */
	struct fault {
		uint64_t count;
		uint64_t offset;	/* of the first */
		unsigned type;
	} kind[FORMAT_ERROR_KINDS];
};

void format_errors_at(struct format_errors *errors, unsigned type,
		      uint64_t offset);
void format_errors_note(struct format_errors *errors, enum format_error kind,
			uint64_t count);
uint64_t format_errors_total(const struct format_errors *errors);
/* Adds a note for each kind of error that occurred. */
void format_errors_report(const struct format_errors *errors, const char *path,
			  struct notes *notes);

#endif
