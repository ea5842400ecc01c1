/*
 * repack.c: see the header.
 *
 * Events wait in their ring's stream until there are many, or until a record
 * comes that must follow them: a THREAD record gives the ring to another
 * thread. Nodes wait until events that may refer to them are written, or a
 * chunk that gives addresses a meaning: IMAGE, NAMES. A SYNC is not delayed by
 * waiting events. Instead its watermark is lowered to the earliest of them, so
 * that it stays true.
 *
 *  I1  Nodes are written before events that followed them.
 *  I2  A ring's events are written before the next THREAD or CAPTURE record of
 *      that ring.
 *  I3  No event is written below the watermark of an earlier SYNC, unless it
 *      was below it in the input.
 *  I4  Gaps in the input stay visible in the output: gaps in sequence numbers
 *      and in positions are passed on.
 *
 * Called by the main thread.
 */
#include "cli/trace/write/repack.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/grow.h"
#include "cli/trace/write/repack_names.h"
#include "unwind/base/assertion.h"

#define BATCH_EVENTS 1024
#define PENDING_MAX (1u << 20)	/* events that wait: some 40 MiB */
#define NODES_MAX (1u << 18)	/* nodes that wait: 4 MiB */
#define GAP_MAX (UINT64_C(1) << 40)	/* larger gaps are wrong numbers */

struct repack_stream {
	uint32_t ring, generation;
	bool used;
	bool nested;
	uint64_t seen;		/* position up to which chunks were taken */
	uint64_t first, last;	/* positions of waiting events, in the output */
	struct trace_event *events;
	size_t count, capacity;
	uint64_t *args;		/* of the waiting EXTRAs, in order */
	size_t extra_count, extra_capacity;
};

void repack_open(struct repack *repack, struct rewrite *out,
		 const struct repack_change *change)
{
	static const struct repack_change nothing;

	memset(repack, 0, sizeof(*repack));
	repack->out = out;
	repack->change = change ? change : &nothing;
}

void repack_close(struct repack *repack)
{
	for (size_t i = 0; i < repack->stream_count; i++) {
		free(repack->streams[i].events);
		free(repack->streams[i].args);
	}
	free(repack->streams);
	free(repack->nodes);
	table_free(&repack->by_ring);
	inflater_free(&repack->inflater);
	event_decoder_free(&repack->decoder);
	columns_free(&repack->columns);
	buffer_free(&repack->payload);
	buffer_free(&repack->flushed);
	buffer_free(&repack->column);
	buffer_free(&repack->changed);
}

/* ---- writing pending events and nodes ---- */

static void flush_nodes(struct repack *repack)
{
	if (repack->node_count == 0)
		return;
	DEBUG_ASSERT(repack->node_count <= NODES_MAX);
	buffer_clear(&repack->flushed);
	compose_nodes(&repack->flushed, repack->nodes, repack->node_count,
		      repack->out->level);
	rewrite_chunk(repack->out, &(struct chunk){ .type = GT_CONTEXT },
		      &repack->flushed, false);
	repack->node_count = 0;
}

static void flush_stream(struct repack *repack, struct repack_stream *stream)
{
	struct chunk chunk = {
		.type = GT_EVENTS, .ring = stream->ring,
		.generation = stream->generation,
		.first = stream->first, .last = stream->last,
	};
	size_t extra = 0;

	stream->first = stream->last;
	if (stream->count == 0)
		return;
	DEBUG_ASSERT(repack->pending_events >= stream->count);
	flush_nodes(repack);	/* I1 */
	for (size_t i = 0; i < stream->count; i++)
		if (stream->events[i].kind == GT_EXTRA)
			stream->events[i].args = stream->args +
				GT_EXTRA_ARGS * extra++;
	DEBUG_ASSERT(extra == stream->extra_count);
	buffer_clear(&repack->flushed);
	compose_events(&repack->flushed, stream->events, stream->count,
		       repack->out->level);
	rewrite_chunk(repack->out, &chunk, &repack->flushed, false);
	repack->pending_events -= stream->count;
	free(stream->events);
	free(stream->args);
	stream->events = NULL;
	stream->args = NULL;
	stream->count = stream->capacity = 0;
	stream->extra_count = stream->extra_capacity = 0;
}

void repack_flush(struct repack *repack)
{
	flush_nodes(repack);
	for (size_t i = 0; i < repack->stream_count; i++)
		flush_stream(repack, &repack->streams[i]);
	assert(repack->pending_events == 0);
}

/* ---- events ---- */

static struct repack_stream *stream_of(struct repack *repack, uint32_t ring)
{
	uint32_t i = table_get(&repack->by_ring, ring);

	DEBUG_ASSERT(i == TABLE_NONE || i < repack->stream_count);
	if (i != TABLE_NONE)
		return &repack->streams[i];
	GROW(repack->streams, repack->stream_count, repack->stream_capacity);
	i = (uint32_t)repack->stream_count++;
	table_set(&repack->by_ring, ring, i);
	repack->streams[i] = (struct repack_stream){ .ring = ring };
	return &repack->streams[i];
}

static void keep_args(struct repack_stream *stream,
		      const struct trace_event *event)
{
	if (stream->extra_count == stream->extra_capacity) {
		stream->extra_capacity = stream->extra_capacity * 2 + 4;
		stream->args = grow_resize(stream->args,
					   stream->extra_capacity *
					   GT_EXTRA_ARGS,
					   sizeof(*stream->args));
	}
	DEBUG_ASSERT(event->kind == GT_EXTRA);
	memcpy(stream->args + GT_EXTRA_ARGS * stream->extra_count++,
	       event->args, GT_EXTRA_ARGS * sizeof(*event->args));
}

void repack_put(struct repack *repack, struct repack_stream *stream,
		const struct trace_event *event)
{
	if (stream->count > 0 &&
	    event->stamp < stream->events[stream->count - 1].stamp)
		flush_stream(repack, stream);
	DEBUG_ASSERT(stream->count == 0 ||
		     stream->events[stream->count - 1].stamp <= event->stamp);
	GROW(stream->events, stream->count, stream->capacity);
	stream->events[stream->count++] = *event;
	DEBUG_ASSERT(stream->count <= GT_EVENTS_MAX &&
		     stream->extra_count <= stream->count);
	repack->events_out++;
	stream->last += records_ring_bytes(event, stream->nested);
	repack->pending_events++;
	if (event->kind == GT_EXTRA)
		keep_args(stream, event);
	if (stream->count == GT_EVENTS_MAX)
		flush_stream(repack, stream);
}

/* The events of an opened chunk, without `skip` bytes at its start. Returns the
 * position after the last one. */
static uint64_t take_events(struct repack *repack,
			    struct repack_stream *stream, uint64_t position,
			    uint64_t skip)
{
	struct trace_event events[BATCH_EVENTS];
	const struct repack_change *change = repack->change;
	struct repack_place place = {
		stream->ring, stream->generation, repack->event_chunks - 1, 0
	};
	size_t n;

	while ((n = event_decoder_next(&repack->decoder, events,
				       BATCH_EVENTS)) > 0) {
		for (size_t i = 0; i < n; i++) {
			unsigned bytes = records_ring_bytes(&events[i],
							    stream->nested);

			position += bytes;
			if (skip > 0) {
				skip -= bytes < skip ? bytes : skip;
				continue;
			}
			repack->events_in++;
			if (change->event != NULL)
				change->event(change->owner, repack, stream,
					      &place, &events[i]);
			else
				repack_put(repack, stream, &events[i]);
			place.index++;
		}
	}
	return position;
}

static bool repack_events(struct repack *repack, const struct chunk *chunk,
			  struct cursor *c)
{
	struct repack_stream *stream = stream_of(repack, chunk->ring);
	/* in a part of a recording, rings begin anywhere */
	bool goes_on = repack->part && !stream->used;
	uint64_t skip = 0, end;

	repack->event_chunks++;
	if (!stream->used || chunk->generation > stream->generation) {
		flush_stream(repack, stream);
		stream->used = true;
		stream->generation = chunk->generation;
		stream->seen = stream->first = stream->last = 0;
	}
	if (chunk->generation < stream->generation ||
	    (chunk->last <= stream->seen && chunk->last > chunk->first))
		return true;	/* a repetition */
	if (chunk->first > stream->seen) {	/* I4 */
		flush_stream(repack, stream);
		repack->lost_bytes += goes_on ? 0 :
			chunk->first - stream->seen;
		stream->last += chunk->first - stream->seen;
		stream->first = stream->last;
	} else {
		skip = stream->seen - chunk->first;
	}
	if (event_decoder_open(&repack->decoder, c, chunk->steps,
			       &repack->inflater) != 0)
		return false;
	end = take_events(repack, stream, chunk->first, skip);
	stream->seen = chunk->last;
	if (repack->decoder.bad && end < chunk->last)
		stream->seen = end;	/* I4: the next chunk finds a gap */
	else if (repack->change->event == NULL && chunk->last > stream->first)
		/* The recorder's positions are right, whatever size of an event
		 * we assume. */
		stream->last = chunk->last;
	if (repack->pending_events > PENDING_MAX)
		repack_flush(repack);
	return !repack->decoder.bad;
}

/* ---- nodes ---- */

static bool repack_nodes(struct repack *repack, struct cursor *c)
{
	const struct repack_change *change = repack->change;
	struct node_decoder decoder = { .columns = repack->columns };
	struct trace_node node;
	bool bad = true;

	if (node_decoder_open(&decoder, c, &repack->inflater) == 0)
		while (node_decoder_next(&decoder, &node, &bad)) {
			if (change->node != NULL &&
			    !change->node(change->owner, node.id))
				continue;
			GROW(repack->nodes, repack->node_count,
			     repack->node_capacity);
			repack->nodes[repack->node_count++] = node;
			if (repack->node_count >= NODES_MAX)
				flush_nodes(repack);
		}
	repack->columns = decoder.columns;
	return !bad;
}

/* ---- everything else ---- */

static void put(struct repack *repack, unsigned type, bool whole)
{
	rewrite_chunk(repack->out, &(struct chunk){ .type = type },
		      &repack->payload, whole);
}

/* END's number of events: a correct number stays correct, and a difference
 * stays the same. */
static void put_count(struct repack *repack, const char *value)
{
	char number[24];

	repack->said_events = strtoull(value, NULL, 10);
	snprintf(number, sizeof(number), "%" PRIu64, repack->said_events -
		 repack->events_in + repack->events_out);
	compose_line(&repack->payload, "events", number);
}

static bool repack_lines(struct repack *repack, unsigned type,
			 struct cursor *c)
{
	const struct repack_change *change = repack->change;
	const char *key, *value;
	const uint8_t *begin = c->next;

	while (records_line(c, repack->line, &key, &value)) {
		buffer_clear(&repack->changed);
		repack->part |= type == GT_INFO && strcmp(key, "part") == 0;
		if (change->line != NULL &&
		    !change->line(change->owner, type, key, value,
				  &repack->changed))
			;	/* dropped */
		else if (type == GT_INFO && strcmp(key, "live") == 0)
			;	/* does not apply to this file */
		else if (type == GT_END && strcmp(key, "events") == 0)
			put_count(repack, value);
		else if (repack->changed.size > 0)
			compose_line(&repack->payload, key,
				     repack->changed.data);
		else	/* byte for byte */
			buffer_add(&repack->payload, (const char *)begin,
				   (size_t)(c->next - begin));
		begin = c->next;
	}
	if (type == GT_INFO && change->info != NULL)
		change->info(change->owner, &repack->payload);
	put(repack, type, false);
	return !c->bad;
}

static bool repack_threads(struct repack *repack, bool no_pointers,
			   struct cursor *c)
{
	struct trace_thread thread;

	while (records_thread(c, no_pointers, &thread)) {
		struct repack_stream *stream = stream_of(repack, thread.ring);

		flush_stream(repack, stream);	/* I2 */
		if (thread.what == GT_THREAD_START)
			stream->nested = thread.flags & GT_THREAD_NESTED;
		repack_names_change(repack, REPACK_THREAD, &thread.name,
				    &thread.name_size);
		buffer_clear(&repack->column);
		compose_thread(&repack->column, &thread);
		buffer_add(&repack->payload, repack->column.data,
			   repack->column.size);
	}
	put(repack, GT_THREAD, true);
	return !c->bad;
}

/* Byte for byte; but see I2. */
static bool repack_captures(struct repack *repack, struct cursor *c)
{
	struct trace_capture capture;

	buffer_add(&repack->payload, (const char *)c->next, cursor_left(c));
	while (records_capture(c, &capture))
		flush_stream(repack, stream_of(repack, capture.ring));
	put(repack, GT_CAPTURE, true);
	return !c->bad;
}

static bool repack_images(struct repack *repack, struct cursor *c)
{
	const struct repack_change *change = repack->change;
	uint8_t build_id[GL_BUILD_ID_MAX];
	struct trace_image image;

	flush_nodes(repack);
	while (records_image(c, &image)) {
		if (change->image != NULL)
			change->image(change->owner, &image);
		if (image.what == GT_IMAGE_MAPPED) {
			repack_names_change(repack, REPACK_PATH, &image.path,
					    &image.path_size);
			repack_names_build_id(repack, build_id, image.build_id,
					      image.build_id_size);
			image.build_id = build_id;
		}
		compose_image(&repack->payload, &image);
	}
	put(repack, GT_IMAGE, true);
	return !c->bad;
}

static bool repack_sync(struct repack *repack, struct cursor *c)
{
	struct trace_sync sync;

	if (!records_sync(c, &sync))
		return false;
	for (size_t i = 0; i < repack->stream_count; i++)	/* I3 */
		if (repack->streams[i].count > 0 &&
		    repack->streams[i].events[0].stamp < sync.watermark)
			sync.watermark = repack->streams[i].events[0].stamp;
	compose_sync(&repack->payload, &sync);
	put(repack, GT_SYNC, false);
	return true;
}

/* A chunk of any content, unchanged. */
static bool repack_bytes(struct repack *repack, unsigned type,
			 struct cursor *c)
{
	buffer_add(&repack->payload, (const char *)c->next, cursor_left(c));
	put(repack, type, true);
	return true;
}

/* A chunk whose new payload `make` composes; if that fails, it is dropped. */
static bool repack_made(struct repack *repack, unsigned type, struct cursor *c,
			bool (*make)(struct repack *repack, struct cursor *c))
{
	if (!make(repack, c))
		return false;
	if (repack->payload.size > 0)
		put(repack, type, type == GT_MAPS || type == GT_CONTROL);
	return true;
}

static bool repack_payload(struct repack *repack, const struct chunk *chunk,
			   struct cursor *c)
{
	unsigned type = chunk->type;

	switch (type) {
	case GT_CONTEXT:
		return repack_nodes(repack, c);
	case GT_END:
		repack->ended = true;
		/* fall through */
	case GT_COUNTERS:
		repack_flush(repack);
		/* fall through */
	case GT_INFO:
		return repack_lines(repack, type, c);
	case GT_THREAD:
		return repack_threads(repack, chunk->no_pointers, c);
	case GT_CAPTURE:
		return repack_captures(repack, c);
	case GT_IMAGE:
		return repack_images(repack, c);
	case GT_SYNC:
		return repack_sync(repack, c);
	case GT_USAGE:
	case GT_FREED:
	case GT_CHAINS:
		return repack_bytes(repack, type, c);
	case GT_MAPS:
		return repack_made(repack, type, c, repack_names_maps);
	case GT_NAMES:
		flush_nodes(repack);
		return repack_made(repack, type, c, repack_names_code);
	case GT_SNAPSHOT:
		return repack_made(repack, type, c, repack_names_snapshot);
	case GT_FILE:
		return repack_made(repack, type, c, repack_names_file);
	case GT_TOTALS:
		return repack_made(repack, type, c, repack_names_totals);
	case GT_CONTROL:
		if (repack->change->control != NULL)
			repack->change->control(repack->change->owner, repack,
						*c);
		return repack_made(repack, type, c, repack_names_control);
	case GT_LIVE:
		flush_nodes(repack);
		return repack_made(repack, type, c, repack_names_live);
	}
	repack_flush(repack);
	if (repack->change->name != NULL)
		return true;	/* it may have names */
	return repack_bytes(repack, type, c);
}

/* Gaps in sequence numbers are passed on. Chunks from a live file have no
 * offset. */
static void pass_on_gap(struct repack *repack, const struct chunk *chunk)
{
	uint64_t gap = chunk->sequence - repack->sequence;

	if (chunk->offset == 0)
		return;
	if (chunk->sequence > repack->sequence && gap < GAP_MAX)
		repack->out->sequence += gap;
	repack->sequence = chunk->sequence + 1;
}

bool repack_chunk(struct repack *repack, const struct chunk *chunk)
{
	struct cursor c;
	bool good;

	pass_on_gap(repack, chunk);	/* I4 */
	buffer_clear(&repack->payload);
	good = inflater_payload(&repack->inflater, chunk, &c) == 0;
	if (good && chunk->type == GT_EVENTS)
		return repack_events(repack, chunk, &c);
	good = good && repack_payload(repack, chunk, &c);
	repack->out->sequence += !good;
	return good;
}
