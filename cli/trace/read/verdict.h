/*
 * verdict.h: messages for a trace that is damaged or unreadable, and the exit
 * status. Each names the file, the offset, and what the measures lack.
 */
#ifndef GNOMON_VERDICT_H
#define GNOMON_VERDICT_H

#include <stdint.h>

#include "cli/trace/live/fold.h"
#include "cli/trace/read/reader.h"

struct verdict_where {
	uint64_t lost_offset;	/* of the chunk before which events are
				 * missing */
	uint64_t good_end;	/* end of the last whole chunk */
};

/* The file cannot be opened; `error` is -errno. */
void verdict_cannot_open(const char *path, int error, struct notes *notes);

/* The file is not a readable trace. */
void verdict_refuse(const char *path, const struct trace_facts *facts,
		    struct notes *notes);

/*
 * For a trace that was read: EXIT_COMPLETE or EXIT_PARTIAL. A torn chunk that
 * its writer is about to finish is no damage: it is subtracted from the
 * report's damage_count.
 */
enum exit_status verdict_tell(const char *path, struct reader_report *report,
			      const struct verdict_where *where,
			      struct notes *notes);

#endif
