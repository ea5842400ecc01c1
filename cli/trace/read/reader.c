/*
 * reader.c: reads a trace chunk by chunk; reader_chunk.c decodes each one and
 * calls the sink. trace_status.c reports what is wrong with a file.
 *
 * A trace that is being written is read in three steps: a snapshot of the live
 * file; the trace, up to the end that it has then; the events of the snapshot
 * beyond that. The recorder moves events out of the live file only after they
 * are in the trace, so none is missed. Events in both are recognised by their
 * position in their ring.
 *
 * A followed trace is read from the file alone, each time up to its present
 * end. It has ended when its END chunk was read, or when it has no recorder any
 * more; in that case its live file is recovered into it first.
 *
 * Thread context: one thread for each reader, but for reader_cancel.
 */
#include "cli/trace/read/reader.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/base/grow.h"
#include "cli/base/notes.h"
#include "cli/base/progress.h"
#include "cli/trace/format/trace_format.h"
#include "cli/trace/live/live_read.h"
#include "cli/trace/read/reader_state.h"
#include "cli/trace/read/trace_status.h"

static void count_chunk(struct reader_report *report,
			const struct chunk *chunk)
{
	unsigned type = chunk->type < READER_TYPES ? chunk->type : 0;

	report->chunks[type]++;
	report->bytes[type] += GT_CHUNK_SIZE + (uint64_t)chunk->stored;
}

/* ---- the live file ---- */

static void take_snapshot(struct reader *reader,
			  const struct trace_facts *facts)
{
	int error = facts->live[0] == 0 ? -ENOENT :
		live_read_file(facts->live, facts->trace_id, &reader->live);

	if (error != 0 && error != -ENOENT)
		notes_hint(reader->notes, "%s: its live file %s cannot be read "
			   "(%s): the very last events may be missing",
			   reader->path, facts->live, strerror(-error));
}

/* Recover the live file into the trace, or take a snapshot of it, if there is
 * one. */
static void prepare_live(struct reader *reader,
			 const struct trace_facts *facts)
{
	int error;
	enum live_recover_result result =
		live_recover_trace(reader->path, facts, &error);

	reader->report->folded = result == LIVE_RECOVER_DONE;
	reader->report->being_written = result == LIVE_RECOVER_BUSY;
	if (result == LIVE_RECOVER_DONE)
		notes_hint(reader->notes, "%s: its last events were recovered "
			   "from %s, which was removed", reader->path,
			   facts->live);
	reader->report->unfolded = result == LIVE_RECOVER_FAILED;
	if ((result == LIVE_RECOVER_BUSY || result == LIVE_RECOVER_FAILED) &&
	    !reader->sink->file_only)
		take_snapshot(reader, facts);
}

/* One chunk of the live file. */
static void read_live(struct reader *reader)
{
	struct live_read_chunk *item =
		&reader->live.chunks[reader->live_next++];
	uint64_t before = reader->merge.repeated;

	assert(item->payload.size <= UINT32_MAX);
	item->chunk.payload = (const uint8_t *)item->payload.data;
	item->chunk.stored = (uint32_t)item->payload.size;
	item->chunk.raw = item->chunk.stored;
	if (item->payload.size == 0)
		return;
	reader_chunk(reader, &item->chunk);
	if (item->chunk.type == GT_EVENTS &&
	    reader->merge.repeated - before <
		    item->chunk.last - item->chunk.first)
		reader->report->live_events++;
}

/* ---- the whole ---- */

/* Checks that are possible only at the end. If other events are missing, their
 * report suffices. */
static void compare_counts(struct reader_report *report, uint64_t end_offset)
{
	format_errors_at(&report->errors, GT_END, end_offset);
	if (report->damage_count == 0 && report->lost_bytes == 0)
		format_errors_note(&report->errors, FORMAT_ERROR_EVENTS_FEW,
				   report->said_events > report->events);
}

void reader_so_far(const struct reader *reader)
{
	struct reader_report *report = reader->report;

	report->file_bytes = reader->chunks.source.offset;
	report->good_bytes = reader->chunks.good_end;
	report->damage_count = reader->chunks.damage_count;
	memcpy(report->damage, reader->chunks.damage, sizeof(report->damage));
}

static void finish(struct reader *reader)
{
	struct reader_report *report = reader->report;
	struct trace_status_where where;

	report->live_dropped = reader->live.dropped;
	report->malformed += reader->live.damaged_rings;
	reader_so_far(reader);
	merge_finish(&reader->merge);
	if (atomic_load_explicit(&reader->cancelled, memory_order_relaxed))
		return;
	report->events += reader->merge.events;
	report->lost_bytes = reader->merge.lost_bytes;
	report->repeated = reader->merge.repeated;
	if (reader->sink->events != NULL)	/* else they were not read */
		compare_counts(report, reader->end_offset);
	report->malformed += format_errors_total(&report->errors);
	/* its recorder only has the report left to write */
	if (report->ended)
		report->being_written = false;
	where = (struct trace_status_where){ reader->merge.lost_offset,
					reader->chunks.good_end };
	reader->status = trace_status_report(reader->path, report, &where,
					     reader->notes);
	reader->stage = STAGE_DONE;
}

/* The trace was opened; facts->result is the result. */
static void begin(struct reader *reader, struct trace_facts *facts)
{
	struct reader_report *report = reader->report;

	report->trace_id = reader->chunks.trace_id;
	report->major = facts->major = reader->chunks.major;
	report->minor = reader->chunks.minor;
	facts->error = reader->chunks.source.error;
	reader->stage = STAGE_TRACE;
	if (facts->result == SCAN_OPEN_OK) {
		progress_begin("reading trace",
			       reader->chunks.source.file_size);
		return;
	}
	trace_status_refuse(reader->path, facts, reader->notes);
	reader->stage = STAGE_DONE;
}

static void open_path(struct reader *reader)
{
	int fd = open(reader->path, O_RDONLY | O_CLOEXEC), error;
	struct trace_facts facts;
	bool growing;

	error = fd < 0 ? -errno : live_recover_facts(reader->path, &facts);
	if (error != 0 || facts.result != SCAN_OPEN_OK) {
		if (fd >= 0)
			close(fd);
		/* its recorder has not written the header yet */
		if (error == 0 && reader->follows &&
		    (facts.result == SCAN_OPEN_EMPTY ||
		     facts.result == SCAN_OPEN_DAMAGED) &&
		    live_recover_is_locked(reader->path))
			return;
		if (error != 0)
			trace_status_cannot_open(reader->path, error,
						 reader->notes);
		else
			trace_status_refuse(reader->path, &facts,
					    reader->notes);
		reader->stage = STAGE_DONE;
		return;
	}
	/* open now: from here on a part may be removed */
	growing = reader->follows && live_recover_is_locked(reader->path);
	reader->report->being_written = growing;
	if (!growing)
		prepare_live(reader, &facts);
	facts.result = scan_open(&reader->chunks, fd);
	reader->chunks.source.growing = growing;
	begin(reader, &facts);
}

/* Wait for the header. */
static void open_fed(struct reader *reader)
{
	struct trace_facts facts = { .result = SCAN_OPEN_OK };

	if (!scan_has_header(&reader->chunks))
		return;
	facts.result = scan_open_fed(&reader->chunks);
	begin(reader, &facts);
}

/* ---- followed traces ---- */

/* Whether the trace's lock is held: by its recorder, while it lives. */
static bool is_written(const struct source *source)
{
	/* other errors: a file system without locks, as for
	 * live_recover_is_locked */
	if (flock(source->fd, LOCK_SH | LOCK_NB) != 0)
		return errno == EWOULDBLOCK;
	flock(source->fd, LOCK_UN);
	return false;
}

/* The facts of the trace, if its name still refers to it. */
static bool find_facts(const struct reader *reader, struct trace_facts *facts)
{
	struct stat open, named;

	return fstat(reader->chunks.source.fd, &open) == 0 &&
	       stat(reader->path, &named) == 0 &&
	       open.st_dev == named.st_dev && open.st_ino == named.st_ino &&
	       live_recover_facts(reader->path, facts) == 0 &&
	       facts->result == SCAN_OPEN_OK &&
	       facts->trace_id == reader->chunks.trace_id;
}

/*
 * The trace has its END, or no recorder any more: from here on it is read like
 * one opened now. If it has an END, and the recorder failed to write events
 * before that, the live file stays: recovering it would replace what was read.
 */
static void stop_following(struct reader *reader)
{
	struct reader_report *report = reader->report;
	struct trace_facts facts;

	report->being_written = false;
	if ((!report->ended || report->failed) && find_facts(reader, &facts)) {
		if (report->ended)
			take_snapshot(reader, &facts);
		else
			prepare_live(reader, &facts);
	}
	scan_end(&reader->chunks);
}

/* There is no more for the moment. Look again: is there more now? */
static bool has_grown(struct reader *reader)
{
	if (!reader->report->ended && is_written(&reader->chunks.source))
		return scan_peek(&reader->chunks);
	stop_following(reader);
	return true;
}

static enum reader_state read_trace(struct reader *reader)
{
	struct chunk chunk;

	if (scan_next(&reader->chunks, &chunk)) {
		count_chunk(reader->report, &chunk);
		reader_chunk(reader, &chunk);
		progress_update(chunk.offset);
	} else if (!reader->chunks.waits) {
		progress_end();
		reader->stage = STAGE_LIVE;
	} else if (reader->fed || !has_grown(reader)) {
		return READER_WAITS;
	}
	return READER_MORE;
}

enum reader_state reader_step(struct reader *reader)
{
	if (atomic_load_explicit(&reader->cancelled, memory_order_relaxed))
		return READER_CANCELLED;
	switch (reader->stage) {
	case STAGE_OPEN:
		if (reader->fed)
			open_fed(reader);
		else
			open_path(reader);
		return reader->stage == STAGE_OPEN ? READER_WAITS :
						     READER_MORE;
	case STAGE_TRACE:
		return read_trace(reader);
	case STAGE_LIVE:
		if (reader->live_next < reader->live.count)
			read_live(reader);
		else
			finish(reader);
		return READER_MORE;
	case STAGE_DONE:
		break;
	}
	return READER_DONE;
}

static struct reader *new_reader(const char *path,
				 const struct reader_sink *sink,
				 struct reader_report *report,
				 struct notes *notes)
{
	const struct merge_sink merge_sink = { sink->owner, sink->events };
	struct reader *reader = grow_zeroed(1, sizeof(*reader));

	memset(report, 0, sizeof(*report));
	reader->path = path;
	reader->sink = sink;
	reader->report = report;
	reader->notes = notes;
	reader->status = EXIT_NOTHING;
	reader->chunks.source.fd = -1;
	merge_init(&reader->merge, &merge_sink);
	reader->merge.extras_only = sink->extras_only;
	reader->merge.errors = &report->errors;
	reader->merge.cancelled = &reader->cancelled;
	return reader;
}

struct reader *reader_open(const char *path, const struct reader_sink *sink,
			   struct reader_report *report, struct notes *notes)
{
	return new_reader(path, sink, report, notes);
}

struct reader *reader_follow(const char *path, const struct reader_sink *sink,
			     struct reader_report *report,
			     struct notes *notes)
{
	struct reader *reader = new_reader(path, sink, report, notes);

	reader->follows = true;
	return reader;
}

struct reader *reader_open_fed(const char *name,
			       const struct reader_sink *sink,
			       struct reader_report *report,
			       struct notes *notes)
{
	struct reader *reader = new_reader(name, sink, report, notes);

	reader->fed = true;
	source_open_fed(&reader->chunks.source);
	return reader;
}

void reader_feed(struct reader *reader, const void *bytes, size_t size)
{
	assert(reader->fed);
	if (reader->stage != STAGE_DONE)
		source_feed(&reader->chunks.source, bytes, size);
}

void reader_feed_end(struct reader *reader)
{
	assert(reader->fed);
	source_end(&reader->chunks.source);
}

bool reader_points(const struct reader *reader, struct merge_point **points,
		   size_t *count)
{
	return merge_points(&reader->merge, points, count);
}

void reader_pass_over(struct reader *reader, uint64_t events)
{
	reader->merge.given = events;
}

void reader_cancel(struct reader *reader)
{
	atomic_store_explicit(&reader->cancelled, true, memory_order_relaxed);
}

enum exit_status reader_close(struct reader *reader)
{
	enum exit_status status = reader->status;

	progress_end();
	merge_free(&reader->merge);
	inflater_free(&reader->inflater);
	scan_close(&reader->chunks);
	live_read_free(&reader->live);
	free(reader);
	return status;
}

enum exit_status reader_run(const char *path, const struct reader_sink *sink,
			    struct reader_report *report,
			    struct notes *notes)
{
	struct reader *reader = reader_open(path, sink, report, notes);

	while (reader_step(reader) == READER_MORE)
		;
	return reader_close(reader);
}
