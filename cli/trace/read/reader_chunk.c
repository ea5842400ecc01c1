/*
 * reader_chunk.c: see reader_state.h: what the chunks of each type contain.
 *
 * Thread context: the reader's thread.
 */
#include "cli/trace/read/reader_state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

void reader_chunk(struct reader *reader, const struct chunk *chunk)
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
