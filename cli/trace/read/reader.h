/*
 * reader.h: a trace from its first byte to its last, finished, torn or still
 * being written, as a row of calls to a sink. A trace is a file, or bytes that
 * somebody has from elsewhere and feeds.
 *
 * Everything but events comes in the order of the file; events come by their
 * stamps, merged over all rings, and later than the nodes, images and
 * threads that they refer to.
 *
 *	reader = reader_open(path, &sink, &report, &notes);
 *	while (reader_step(reader) == READER_MORE)
 *		;
 *	status = reader_close(reader);
 *
 * Any number of readers may be at work, each in one thread; reader_cancel is
 * for any thread. Nothing is printed: what is wrong goes into the notes.
 */
#ifndef GNOMON_READER_H
#define GNOMON_READER_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/base/notes.h"
#include "cli/base/status.h"
#include "cli/trace/decode/control_records.h"
#include "cli/trace/decode/faults.h"
#include "cli/trace/decode/file_records.h"
#include "cli/trace/decode/map_records.h"
#include "cli/trace/decode/memory_records.h"
#include "cli/trace/decode/records.h"
#include "cli/trace/live/fold.h"
#include "cli/trace/read/merge.h"

/* What becomes of a chunk. */
enum reader_chunk {
	READER_DECODE,		/* it goes to the functions below */
	READER_TAKEN,
	READER_MALFORMED	/* taken, but its content made no sense */
};

struct reader_sink {
	void *owner;
	/* Each chunk before it is decoded. May be NULL. A trace all of whose
	 * chunks are taken needs no other function. */
	enum reader_chunk (*chunk)(void *owner, const struct chunk *chunk);
	/* INFO, COUNTERS and END */
	void (*line)(void *owner, unsigned type, const char *key,
		     const char *value);
	void (*thread)(void *owner, const struct trace_thread *thread);
	void (*capture)(void *owner, const struct trace_capture *capture);
	void (*image)(void *owner, const struct trace_image *image);
	void (*node)(void *owner, const struct trace_node *node);
	void (*sync)(void *owner, const struct trace_sync *sync);
	/* What the kernel lists as mapped: the records behind the head are
	 * for map_records_next. May be NULL. */
	void (*maps)(void *owner, const struct trace_maps *head,
		     struct cursor *records);
	/* Lines about code made at run time: perfmap_add. `node`: the first
	 * id that is younger than they; 0: not known. May be NULL. */
	void (*names)(void *owner, const char *text, size_t size,
		      uint32_t node);
	/* Memory over time, snapshots behind their mappings. May be NULL. */
	void (*usage)(void *owner, const struct trace_usage *point);
	void (*mapping)(void *owner, const struct trace_mapping *mapping);
	void (*snapshot)(void *owner, const struct trace_snapshot *snapshot);
	/* A piece of an embedded file, whose chunk begins at offset `at`:
	 * embedded_add. May be NULL. */
	void (*file)(void *owner, const struct trace_file *piece, uint64_t at);
	/* Of blocks that were left out; rows of a context and thread add up.
	 * May be NULL. */
	void (*run)(void *owner, const struct trace_run *run);
	void (*totals)(void *owner, const struct trace_totals *totals);
	void (*freed)(void *owner, const struct trace_totals *freed);
	void (*chains)(void *owner, const struct trace_totals *chains);
	void (*classes)(void *owner, const struct trace_classes *classes);
	void (*rest)(void *owner, const struct trace_rest *rest);
	/* What somebody told the recorder to do; before the events that are
	 * later than it. May be NULL. */
	void (*control)(void *owner, const struct trace_control *control);
	/* A block that was live when the part began. May be NULL. */
	void (*live)(void *owner, const struct trace_live *block);
	/* What to call the events of a ring from now on, and whether it is
	 * its thread's second one. */
	uint32_t (*lane)(void *owner, uint32_t ring, bool *nested);
	/* Of all events only those of kind GT_EXTRA, one at a time; the others
	 * are counted, not decoded. */
	bool extras_only;
	/* Nothing is read but the file: what the live file of a trace that is
	 * being written has is left out, so that the same bytes of the file
	 * always tell the same. */
	bool file_only;
	void (*events)(void *owner, uint32_t lane,
		       const struct trace_event *events, size_t count);
};

#define READER_TYPES 24		/* chunk types counted one by one */

struct reader_report {
	bool ended;		/* there was an END chunk */
	bool failed;		/* and it says that recording failed, */
	char why[512];		/* for this reason */
	bool being_written;
	bool folded;		/* a live file was folded in just now */
	bool unfolded;		/* one could not be, though nobody writes it */
	uint64_t chunks[READER_TYPES];
	uint64_t bytes[READER_TYPES];
	uint64_t file_bytes;
	uint64_t good_bytes;	/* up to the end of the last valid chunk */
	uint64_t unknown_chunks;
	struct faults faults;	/* the sink notes its own, too */
	uint64_t malformed;	/* all of them, and rings of the live file */
	uint64_t said_events;	/* by END */
	uint64_t events;
	uint64_t lost_bytes;	/* of rings, that no chunk holds */
	uint64_t repeated;
	uint64_t live_events;	/* taken from the live file, not the trace */
	uint64_t live_dropped;
	uint64_t trace_id;	/* known from the first chunk on */
	unsigned major, minor;
	struct scan_damage damage[SCAN_DAMAGE_SHOWN];
	uint64_t damage_count;
};

struct reader;

/* What a step came to. */
enum reader_state {
	READER_MORE,		/* there is more to read */
	READER_WAITS,		/* there will be: the file is followed and has
				 * not grown, or what was fed is used up */
	READER_DONE,		/* all was read, or nothing can be */
	READER_CANCELLED
};

/*
 * Never NULL: that a file cannot be opened is found in the first step, and
 * everything else by then. `path` may be a pipe. What is pointed to stays the
 * caller's, and has to live as long as the reader; `notes` may be NULL.
 */
struct reader *reader_open(const char *path, const struct reader_sink *sink,
			   struct reader_report *report, struct notes *notes);
/* The same, but of a trace that is being written it does not end where that
 * ends now. */
struct reader *reader_follow(const char *path, const struct reader_sink *sink,
			     struct reader_report *report,
			     struct notes *notes);
/* Bytes, as they come; `name` is what notes call it. */
struct reader *reader_open_fed(const char *name,
			       const struct reader_sink *sink,
			       struct reader_report *report,
			       struct notes *notes);
void reader_feed(struct reader *reader, const void *bytes, size_t size);
/* That was all. */
void reader_feed_end(struct reader *reader);

/* One chunk more, and the events that can be handed out then. */
enum reader_state reader_step(struct reader *reader);
/* Soon reader_step returns READER_CANCELLED, and the sink is not called any
 * more. Any thread, also while reader_step runs. */
void reader_cancel(struct reader *reader);

/* Sets in the report how far the file was read, and where it is damaged up to
 * there, which else is known at the end. Between two steps. */
void reader_so_far(const struct reader *reader);

/*
 * To read a trace in two goes. After a step, of a SYNC chunk: the chunks in
 * which there are events that were not handed out, as merge_points has them.
 * And in the other reading, while sink->chunk is called with one of them: so
 * many of its events, at its start, are not to be handed out again.
 */
bool reader_points(const struct reader *reader, struct merge_point **points,
		   size_t *count);
void reader_pass_over(struct reader *reader, uint64_t events);

/* EXIT_COMPLETE, EXIT_PARTIAL, or EXIT_NOTHING if it could not be read at all,
 * or not to its end; what is wrong is in the notes. */
enum exit_status reader_close(struct reader *reader);

/* All of it at once. */
enum exit_status reader_run(const char *path, const struct reader_sink *sink,
			    struct reader_report *report,
			    struct notes *notes);

#endif
