/*
 * index_trace.h: identifies the trace of an index: its id, and whether it still
 * begins with the bytes that were read. Does not read the whole trace.
 *
 * Any thread.
 */
#ifndef GNOMON_INDEX_TRACE_H
#define GNOMON_INDEX_TRACE_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/trace/read/reader.h"

struct index_trace {
	int fd;
	uint64_t trace_id;
	uint32_t version;	/* of its format: major << 16 | minor */
	uint64_t bytes;		/* of the file */
};

/* Open it. 0; -ESPIPE: a pipe or similar; -EBADMSG: not a readable trace; or
 * -errno. */
int index_trace_open(const char *path, struct index_trace *trace);
void index_trace_close(struct index_trace *trace);

/*
 * A hash of the header and of the last bytes before `prefix`, so that a trace
 * with other bytes of that length nearly always has another digest. That is
 * enough: chunks have checksums of their own, and a trace only grows. False:
 * the trace cannot be read up to `prefix`.
 */
bool index_trace_digest(const struct index_trace *trace, uint64_t prefix,
			uint64_t *digest);

/*
 * A hash of the places before `prefix` where the trace was found damaged, as
 * far as the report lists them. It tells apart copies of a trace that are
 * damaged in the middle, which have the same digest.
 */
uint64_t index_trace_damage(const struct reader_report *report,
			    uint64_t prefix);

/* An estimate of its events, from a few samples of its bytes. 0: not a
 * trace. */
uint64_t index_trace_events(const char *path);

#endif
