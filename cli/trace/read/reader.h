/*
 * reader.h: reads a trace from start to end and calls a sink for each record.
 * The trace may be finished, torn or still being written. It is a file, or
 * bytes that the caller feeds.
 *
 * Everything but events comes in file order. Events come in the order of their
 * stamps, merged over all rings, and after the nodes, images and threads that
 * they refer to.
 *
 *	reader = reader_open(path, &sink, &report, &notes);
 *	while (reader_step(reader) == READER_MORE)
 *		;
 *	status = reader_close(reader);
 *
 * Any number of readers may run, each in one thread; reader_cancel may be
 * called from any thread. Nothing is printed: errors go into the notes.
 */
#ifndef GNOMON_READER_H
#define GNOMON_READER_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/base/notes.h"
#include "cli/base/status.h"
#include "cli/trace/decode/control_records.h"
#include "cli/trace/decode/format_errors.h"
#include "cli/trace/decode/file_records.h"
#include "cli/trace/decode/map_records.h"
#include "cli/trace/decode/memory_records.h"
#include "cli/trace/decode/records.h"
#include "cli/trace/live/live_recover.h"
#include "cli/trace/read/merge.h"

/* What the sink did with a chunk. */
enum reader_chunk {
	READER_DECODE,		/* nothing: decode it for the functions below */
	READER_TAKEN,
	READER_MALFORMED	/* taken, but malformed */
};

struct reader_sink {
	void *owner;
	/* Called for each chunk before it is decoded. May be NULL. A sink that
	 * takes all chunks needs no other function. */
	enum reader_chunk (*chunk)(void *owner, const struct chunk *chunk);
	/* INFO, COUNTERS and END */
	void (*line)(void *owner, unsigned type, const char *key,
		     const char *value);
	void (*thread)(void *owner, const struct trace_thread *thread);
	void (*capture)(void *owner, const struct trace_capture *capture);
	void (*image)(void *owner, const struct trace_image *image);
	void (*node)(void *owner, const struct trace_node *node);
	void (*sync)(void *owner, const struct trace_sync *sync);
	/* The kernel's list of mappings; read the records after the head with
	 * map_records_next. May be NULL. */
	void (*maps)(void *owner, const struct trace_maps *head,
		     struct cursor *records);
	/* Lines about code generated at run time, for perfmap_add. `node`: the
	 * first id younger than these lines; 0: unknown. May be NULL. */
	void (*names)(void *owner, const char *text, size_t size,
		      uint32_t node);
	/* Memory over time; a snapshot follows its mappings. May be NULL. */
	void (*usage)(void *owner, const struct trace_usage *point);
	void (*mapping)(void *owner, const struct trace_mapping *mapping);
	void (*snapshot)(void *owner, const struct trace_snapshot *snapshot);
	/* A piece of an embedded file, whose chunk begins at offset `at`; for
	 * embedded_add. May be NULL. */
	void (*file)(void *owner, const struct trace_file *piece, uint64_t at);
	/* Blocks that were left out; rows of a context and thread add up. May
	 * be NULL. */
	void (*run)(void *owner, const struct trace_run *run);
	void (*totals)(void *owner, const struct trace_totals *totals);
	void (*freed)(void *owner, const struct trace_totals *freed);
	void (*chains)(void *owner, const struct trace_totals *chains);
	void (*classes)(void *owner, const struct trace_classes *classes);
	void (*skipped)(void *owner, const struct trace_skipped *skipped);
	/* A command to the recorder; delivered before all later events. May be
	 * NULL. */
	void (*control)(void *owner, const struct trace_control *control);
	/* A block that was live when the part began. May be NULL. */
	void (*live)(void *owner, const struct trace_live *block);
	/* The lane for the events of a ring from now on, and whether the ring
	 * is its thread's second one. */
	uint32_t (*lane)(void *owner, uint32_t ring, bool *nested);
	/* Deliver only events of kind GT_EXTRA, one at a time. All others are
	 * counted, not decoded. */
	bool extras_only;
	/* Read only the file. Events in the live file of a trace that is being
	 * written are left out, so that the same bytes of the file always give
	 * the same result. */
	bool file_only;
	void (*events)(void *owner, uint32_t lane,
		       const struct trace_event *events, size_t count);
};

#define READER_TYPES 24		/* chunk types that are counted */

struct reader_report {
	bool ended;		/* there was an END chunk */
	bool failed;		/* END says that the recording failed, */
	char why[512];		/* and why */
	bool being_written;
	bool folded;		/* a live file was just recovered into it */
	bool unfolded;		/* a live file could not be recovered, though it
				 * has no recorder */
	uint64_t chunks[READER_TYPES];
	uint64_t bytes[READER_TYPES];
	uint64_t file_bytes;
	uint64_t good_bytes;	/* end of the last valid chunk */
	uint64_t unknown_chunks;
	struct format_errors errors;	/* the sink adds its own */
	uint64_t malformed;	/* all of them, and rings of the live file */
	uint64_t said_events;	/* count in END */
	uint64_t events;
	uint64_t lost_bytes;	/* of rings, that are in no chunk */
	uint64_t repeated;
	uint64_t live_events;	/* from the live file, not the trace */
	uint64_t live_dropped;
	uint64_t trace_id;	/* set from the first chunk on */
	unsigned major, minor;
	struct scan_damage damage[SCAN_DAMAGE_SHOWN];
	uint64_t damage_count;
};

struct reader;

/* The result of a step. */
enum reader_state {
	READER_MORE,		/* there is more to read */
	READER_WAITS,		/* there may be more later: the followed file
				 * has not grown, or the fed bytes are used
				 * up */
	READER_DONE,		/* all was read, or nothing can be read */
	READER_CANCELLED
};

/*
 * Never NULL: the first reader_step opens the file, and reports errors. `path`
 * may be a pipe. The caller owns what the pointers refer to; all of it must
 * outlive the reader. `notes` may be NULL.
 */
struct reader *reader_open(const char *path, const struct reader_sink *sink,
			   struct reader_report *report, struct notes *notes);
/* The same, but reading does not stop at the present end of a trace that is
 * being written. */
struct reader *reader_follow(const char *path, const struct reader_sink *sink,
			     struct reader_report *report,
			     struct notes *notes);
/* For bytes that the caller feeds; notes use `name` for the trace. */
struct reader *reader_open_fed(const char *name,
			       const struct reader_sink *sink,
			       struct reader_report *report,
			       struct notes *notes);
void reader_feed(struct reader *reader, const void *bytes, size_t size);
/* There are no more bytes. */
void reader_feed_end(struct reader *reader);

/* Read one more chunk, and deliver the events that can be delivered then. */
enum reader_state reader_step(struct reader *reader);
/* Makes reader_step return READER_CANCELLED soon; the sink is not called any
 * more. Any thread, also while reader_step runs. */
void reader_cancel(struct reader *reader);

/* Store in the report how far the file was read, and the damage up to there.
 * Otherwise the report has these only at the end. Call it between two steps. */
void reader_so_far(const struct reader *reader);

/*
 * For reading a trace in two passes. reader_points, after the step of a SYNC
 * chunk: the chunks with events not yet delivered, as merge_points returns
 * them. reader_pass_over, in the second pass, while sink->chunk is called with
 * one of these chunks: do not deliver this many events at its start.
 */
bool reader_points(const struct reader *reader, struct merge_point **points,
		   size_t *count);
void reader_pass_over(struct reader *reader, uint64_t events);

/* EXIT_COMPLETE, EXIT_PARTIAL, or EXIT_NOTHING if it could not be read at all
 * or not to its end. The notes say what is wrong. */
enum exit_status reader_close(struct reader *reader);

/* All steps at once. */
enum exit_status reader_run(const char *path, const struct reader_sink *sink,
			    struct reader_report *report,
			    struct notes *notes);

#endif
