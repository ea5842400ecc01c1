/*
 * reader.c: reads a trace chunk by chunk and calls the sink. trace_status.c
 * reports what is wrong with a file.
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
#include <stdio.h>
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
#include "cli/trace/read/trace_status.h"

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

/* ---- content of chunks ---- */

/* A recorder that could not continue gives a reason; one that was stopped, or
 * whose program ended, gives none. */
static void note_end(struct reader_report *report, const char *key,
		     const char *value)
{
	if (strcmp(key, "reason") == 0 && strcmp(value, "error") == 0)
		report->failed = true;
	if (strcmp(key, "message") == 0 && value[0] != 0) {
		report->failed = true;
		snprintf(report->why, sizeof(report->why), "%s", value);
	}
	if (strcmp(key, "events") == 0)
		report->said_events = strtoull(value, NULL, 10);
}

static void read_lines(struct reader *reader, struct cursor *c)
{
	unsigned type = reader->chunk->type;
	const char *key, *value;

	while (records_line(c, reader->line, &key, &value)) {
		if (type == GT_INFO && strcmp(key, "window_ticks") == 0)
			reader->window = strtoull(value, NULL, 10);
		/* earlier events are in other files, or in none */
		if (type == GT_INFO && (strcmp(key, "part") == 0 ||
					(strcmp(key, "depth") == 0 &&
					 strcmp(value, "0") == 0)))
			reader->merge.part = true;
		if (type == GT_END)
			note_end(reader->report, key, value);
		reader->sink->line(reader->sink->owner, type, key, value);
	}
}

static void read_end(struct reader *reader, struct cursor *c)
{
	reader->report->ended = true;
	reader->end_offset = reader->chunk->offset;
	read_lines(reader, c);
}

static void read_threads(struct reader *reader, struct cursor *c)
{
	struct trace_thread thread;

	while (records_thread(c, reader->chunk->no_pointers, &thread))
		reader->sink->thread(reader->sink->owner, &thread);
}

static void read_captures(struct reader *reader, struct cursor *c)
{
	struct trace_capture capture;

	while (records_capture(c, &capture))
		reader->sink->capture(reader->sink->owner, &capture);
}

static void read_images(struct reader *reader, struct cursor *c)
{
	struct trace_image image;

	while (records_image(c, &image))
		reader->sink->image(reader->sink->owner, &image);
}

static void read_nodes(struct reader *reader, struct cursor *c)
{
	struct node_decoder decoder = { 0 };
	struct trace_node node;
	bool bad = true;

	if (node_decoder_open(&decoder, c, &reader->inflater) == 0)
		while (node_decoder_next(&decoder, &node, &bad))
			reader->sink->node(reader->sink->owner, &node);
	c->bad = bad;
	columns_free(&decoder.columns);
}

static void read_names(struct reader *reader, struct cursor *c)
{
	struct columns columns = { 0 };
	int error = columns_open(&columns, c, 1, &reader->inflater);
	uint64_t node = error == 0 && cursor_left(c) ? cursor_varint(c) : 0;

	if (error == 0 && reader->sink->names != NULL)
		reader->sink->names(reader->sink->owner,
				    (const char *)columns.column[0].next,
				    cursor_left(&columns.column[0]),
				    node <= UINT32_MAX ? (uint32_t)node : 0);
	c->bad |= error != 0;
	columns_free(&columns);
}

static void read_maps(struct reader *reader, struct cursor *c)
{
	struct trace_maps head;

	if (reader->sink->maps != NULL && map_records_head(c, &head))
		reader->sink->maps(reader->sink->owner, &head, c);
}

static void read_usage(struct reader *reader, struct cursor *c)
{
	const struct reader_sink *sink = reader->sink;
	struct usage_decoder decoder;
	struct trace_usage point;

	usage_decoder_open(&decoder, c);
	while (usage_decoder_next(&decoder, c, &point))
		if (sink->usage != NULL)
			sink->usage(sink->owner, &point);
}

static void read_snapshot(struct reader *reader, struct cursor *c)
{
	const struct reader_sink *sink = reader->sink;
	struct snapshot_decoder decoder = { 0 };
	struct trace_snapshot snapshot;
	struct trace_mapping mapping;
	bool bad = true;

	switch (snapshot_decoder_open(&decoder, c, &reader->inflater)) {
	case GT_SNAPSHOT_TAKEN:
		bad = !snapshot_decoder_taken(c, &snapshot);
		if (!bad && sink->snapshot != NULL)
			sink->snapshot(sink->owner, &snapshot);
		break;
	case GT_SNAPSHOT_MAPPINGS:
		while (snapshot_decoder_next(&decoder, &mapping, &bad))
			if (sink->mapping != NULL)
				sink->mapping(sink->owner, &mapping);
		break;
	}
	c->bad = bad;
	columns_free(&decoder.columns);
}

static void read_file(struct reader *reader, struct cursor *c)
{
	struct trace_file piece;

	if (file_records_file(c, &piece) && reader->sink->file != NULL)
		reader->sink->file(reader->sink->owner, &piece,
				   reader->chunk->offset);
}

static void read_totals(struct reader *reader, struct cursor *c)
{
	const struct reader_sink *sink = reader->sink;
	struct totals_decoder *decoder = &reader->totals;
	struct trace_classes classes;
	struct trace_totals totals;
	struct trace_skipped skipped;
	struct trace_run run;
	bool bad = true;

	switch (totals_decoder_open(decoder, c, &reader->inflater)) {
	case GT_TOTALS_RUN:
		bad = !totals_decoder_run(c, &run);
		if (!bad && sink->run != NULL)
			sink->run(sink->owner, &run);
		break;
	case GT_TOTALS_CLASSES:
		bad = !totals_decoder_classes(c, &classes);
		if (!bad && sink->classes != NULL)
			sink->classes(sink->owner, &classes);
		break;
	case GT_TOTALS_CONTEXTS:
		while (totals_decoder_next(decoder, &totals, &bad))
			if (sink->totals != NULL)
				sink->totals(sink->owner, &totals);
		break;
	case GT_TOTALS_REST:
		bad = !totals_decoder_skipped(c, &skipped);
		if (!bad && sink->skipped != NULL)
			sink->skipped(sink->owner, &skipped);
		break;
	}
	c->bad = bad;
	columns_free(&decoder->columns);
}

/* A chunk that consists of rows. */
static void read_rows(struct reader *reader, struct cursor *c,
		      void (*take)(void *owner, const struct trace_totals *row))
{
	struct totals_decoder *decoder = &reader->totals;
	struct trace_totals row;
	bool bad = true;

	if (totals_decoder_open_rows(decoder, c, &reader->inflater))
		while (totals_decoder_next(decoder, &row, &bad))
			if (take != NULL)
				take(reader->sink->owner, &row);
	c->bad = bad;
	columns_free(&decoder->columns);
}

static void read_freed(struct reader *reader, struct cursor *c)
{
	read_rows(reader, c, reader->sink->freed);
}

static void read_chains(struct reader *reader, struct cursor *c)
{
	read_rows(reader, c, reader->sink->chains);
}

static void read_controls(struct reader *reader, struct cursor *c)
{
	const struct reader_sink *sink = reader->sink;
	struct trace_control control;

	while (control_records_next(c, &control))
		if (sink->control != NULL)
			sink->control(sink->owner, &control);
}

static void read_live_blocks(struct reader *reader, struct cursor *c)
{
	const struct reader_sink *sink = reader->sink;
	struct live_decoder decoder = { 0 };
	struct trace_live block;
	bool bad = true;

	if (live_decoder_open(&decoder, c, &reader->inflater))
		while (live_decoder_next(&decoder, &block, &bad))
			if (sink->live != NULL)
				sink->live(sink->owner, &block);
	c->bad = bad;
	columns_free(&decoder.columns);
}

static void read_sync(struct reader *reader, struct cursor *c)
{
	struct trace_sync sync;

	if (!records_sync(c, &sync))
		return;
	reader->sink->sync(reader->sink->owner, &sync);
	if (sync.watermark > reader->window)
		merge_run(&reader->merge, sync.watermark - reader->window);
}

static void read_events(struct reader *reader, const struct chunk *chunk)
{
	const struct reader_sink *sink = reader->sink;
	uint32_t lane;
	bool nested;

	lane = sink->lane(sink->owner, chunk->ring, &nested);
	merge_add(&reader->merge, chunk, lane, nested);
}

/* Offer the chunk to a sink that takes whole chunks. True: the sink took it. */
static bool is_taken(struct reader *reader, const struct chunk *chunk)
{
	const struct reader_sink *sink = reader->sink;
	enum reader_chunk done;

	if (sink->chunk == NULL)
		return false;
	done = sink->chunk(sink->owner, chunk);
	if (done == READER_DECODE)
		return false;
	reader->report->ended |= chunk->type == GT_END;
	format_errors_note(&reader->report->errors, FORMAT_ERROR_MALFORMED,
			   done == READER_MALFORMED);
	return true;
}

/* By chunk type. EVENTS are missing: the merge opens their payload. */
static void (*const read_payload[GT_CHUNK_TYPES])(struct reader *,
						  struct cursor *) = {
	[GT_INFO] = read_lines,
	[GT_THREAD] = read_threads,
	[GT_IMAGE] = read_images,
	[GT_CONTEXT] = read_nodes,
	[GT_SYNC] = read_sync,
	[GT_COUNTERS] = read_lines,
	[GT_END] = read_end,
	[GT_CAPTURE] = read_captures,
	[GT_NAMES] = read_names,
	[GT_USAGE] = read_usage,
	[GT_MAPS] = read_maps,
	[GT_SNAPSHOT] = read_snapshot,
	[GT_FILE] = read_file,
	[GT_TOTALS] = read_totals,
	[GT_FREED] = read_freed,
	[GT_CONTROL] = read_controls,
	[GT_LIVE] = read_live_blocks,
	[GT_CHAINS] = read_chains,
};

static void read_chunk(struct reader *reader, const struct chunk *chunk)
{
	struct format_errors *errors = &reader->report->errors;
	unsigned type = chunk->type < GT_CHUNK_TYPES ? chunk->type : 0;
	struct cursor c;

	format_errors_at(errors, chunk->type, chunk->offset);
	if (is_taken(reader, chunk))
		return;
	if (type == GT_EVENTS) {
		read_events(reader, chunk);
		return;
	}
	if (inflater_payload(&reader->inflater, chunk, &c) != 0) {
		format_errors_note(errors, FORMAT_ERROR_MALFORMED, 1);
		return;
	}
	reader->chunk = chunk;
	if (read_payload[type] != NULL)
		read_payload[type](reader, &c);
	else
		reader->report->unknown_chunks++;
	/* The merge may have delivered events of other chunks in between. */
	format_errors_at(errors, chunk->type, chunk->offset);
	format_errors_note(errors, FORMAT_ERROR_MALFORMED, c.bad);
}

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
	read_chunk(reader, &item->chunk);
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
	if (flock(source->fd, LOCK_SH | LOCK_NB) != 0)
		return true;
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
		read_chunk(reader, &chunk);
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
