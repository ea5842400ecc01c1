/*
 * rows_trace.h: which trace a store is of: its identity, and whether it still
 * begins with the bytes that were read. Asked for without reading the trace.
 *
 * Any thread.
 */
#ifndef GNOMON_ROWS_TRACE_H
#define GNOMON_ROWS_TRACE_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/trace/read/reader.h"

struct rows_trace {
	int fd;
	uint64_t trace_id;
	uint32_t version;	/* of its format: major << 16 | minor */
	uint64_t bytes;		/* of the file */
};

/* Open it. 0; -ESPIPE: it is a pipe or the like; -EBADMSG: it is no trace that
 * can be read; or -errno. */
int rows_trace_open(const char *path, struct rows_trace *trace);
void rows_trace_close(struct rows_trace *trace);

/*
 * A number that is nearly always another one for other bytes of that length:
 * it is made of the header and of the last bytes before `prefix`. Chunks have
 * checksums of their own, and a trace only grows. False: it cannot be read that
 * far.
 */
bool rows_trace_digest(const struct rows_trace *trace, uint64_t prefix,
		       uint64_t *digest);

/*
 * A number for the places before `prefix` where a reading has found the trace
 * damaged, as far as it tells them one by one. What the digest does not see, it
 * finds: that one of two copies was damaged in its middle.
 */
uint64_t rows_trace_damage(const struct reader_report *report,
			   uint64_t prefix);

/* About how many events it has, by bytes here and there. 0: it is no trace. */
uint64_t rows_trace_events(const char *path);

#endif
