/*
 * verdict.h: what is wrong with a trace that was read, or could not be, in
 * words; and the exit state that goes with it. Each names the file, the
 * offset, and what the figures lack.
 */
#ifndef GNOMON_VERDICT_H
#define GNOMON_VERDICT_H

#include <stdint.h>

#include "cli/trace/live/fold.h"
#include "cli/trace/read/reader.h"

struct verdict_where {
	uint64_t lost_offset;	/* of the chunk before which events lack */
	uint64_t good_end;	/* of the last whole chunk */
};

/* -errno of opening it. */
void verdict_cannot_open(const char *path, int error, struct notes *notes);

/* It is not a trace that can be read. */
void verdict_refuse(const char *path, const struct trace_facts *facts,
		    struct notes *notes);

/*
 * Of a trace that was read. EXIT_COMPLETE or EXIT_PARTIAL. A torn chunk that
 * its writer is about to finish is no damage: it is taken off the report's
 * damage_count.
 */
enum exit_status verdict_tell(const char *path, struct reader_report *report,
			      const struct verdict_where *where,
			      struct notes *notes);

#endif
