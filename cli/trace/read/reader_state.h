/*
 * reader_state.h: the state of a reader, between its loop over the chunks of a
 * trace (reader.c) and the decoding of their content (reader_chunk.c). Private
 * to these.
 */
#ifndef GNOMON_READER_STATE_H
#define GNOMON_READER_STATE_H

#include "cli/trace/live/live_read.h"
#include "cli/trace/read/reader.h"

/* What is being read. */
enum stage {
	STAGE_OPEN,		/* nothing was read yet */
	STAGE_TRACE,
	STAGE_LIVE,		/* the snapshot of the live file */
	STAGE_DONE
};

struct reader {
	const char *path;
	const struct reader_sink *sink;
	struct reader_report *report;
	struct notes *notes;
	enum stage stage;
	enum exit_status status;	/* once it is done */
	bool fed;
	bool follows;		/* up to where the recorder ends it */
	_Atomic bool cancelled;
	struct live_read_snapshot live;
	size_t live_next;	/* chunk of it */
	struct totals_decoder totals;
	struct scan chunks;
	struct merge merge;
	struct inflater inflater;
	const struct chunk *chunk;	/* being decoded */
	uint64_t window;	/* ticks; INFO's window_ticks */
	uint64_t end_offset;	/* of the END chunk */
	char line[RECORDS_LINE_MAX];
};

/* Decodes a chunk, calls the sink with its content, and notes format errors in
 * the report. Events go to the merge, which may deliver some. */
void reader_chunk(struct reader *reader, const struct chunk *chunk);

#endif
