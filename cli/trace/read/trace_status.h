/*
 * trace_status.h: messages for a trace that is damaged or unreadable, and the
 * exit status. Each names the file, the offset, and what the measures lack.
 */
#ifndef GNOMON_TRACE_STATUS_H
#define GNOMON_TRACE_STATUS_H

#include <stdint.h>

#include "cli/trace/live/live_recover.h"
#include "cli/trace/read/reader.h"

struct trace_status_where {
	uint64_t lost_offset;	/* of the chunk before which events are
				 * missing */
	uint64_t good_end;	/* end of the last whole chunk */
};

/* The file cannot be opened; `error` is -errno. */
void trace_status_cannot_open(const char *path, int error, struct notes *notes);

/* The file is not a readable trace. */
void trace_status_refuse(const char *path, const struct trace_facts *facts,
			 struct notes *notes);

/*
 * For a trace that was read: EXIT_COMPLETE or EXIT_PARTIAL. A torn chunk that
 * its recorder is about to finish is no damage: it is subtracted from the
 * report's damage_count.
 */
enum exit_status trace_status_report(const char *path,
				     struct reader_report *report,
				     const struct trace_status_where *where,
				     struct notes *notes);

#endif
