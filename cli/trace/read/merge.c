/*
 * merge.c: k-way merge over a binary heap of streams, ordered by the stamp of
 * each stream's next event. A stream whose next chunk is not open yet is
 * ordered by the chunk's base stamp, which is not later than its first event.
 * The chunk is opened when it reaches the top. So memory holds compressed
 * chunks, and one open chunk and one batch for each ring.
 *
 * A chunk may decode to a thousand times its size in the file, and any number
 * of rings may have a chunk open. So when open chunks take far more memory than
 * the bytes read, further chunks are cut as soon as they are opened: into many
 * small, compressed pieces, of which one is open at a time (cut_chunk).
 *
 * The top stream delivers all its events before the second best's next event.
 * With one busy ring, or rings that are busy in turns, these are whole batches,
 * and the heap costs nothing.
 *
 *  I1  A stream is in the heap exactly if it has a batch or a queued chunk.
 *  I2  No child comes before its parent in the heap (comes_before).
 *  I3  stream->seen is the position in the ring up to which chunks were queued;
 *      events below it are never delivered twice.
 *  I4  merge->open_bytes is the sum of all streams' event_decoder_bytes. It
 *      exceeds OPEN_FREE + OPEN_RATIO * merge->taken by at most a chunk of
 *      CUT_EVENTS for each stream, and one chunk.
 *
 * Called by the reader's thread.
 */
#include "cli/trace/read/merge.h"

#include <assert.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/grow.h"
#include "cli/trace/write/compose.h"
#include "unwind/base/assertion.h"

#define BATCH_EVENTS 256
/* Compressed bytes that may wait for a SYNC; beyond, they are merged
 * without. */
#define BUFFER_MAX (UINT64_C(256) << 20)
/* Bytes of open chunks that are always allowed, and bytes allowed for each byte
 * of EVENTS read. Recorded chunks take 2 to 13 times their bytes, or 100 where
 * all events repeat; some hundred threads of the latter kind at once get
 * cut. */
#define OPEN_FREE (UINT64_C(32) << 20)
#define OPEN_RATIO 16
#define CUT_EVENTS 512
#define CUT_LEVEL 1

struct queued {
	struct queued *next;
	struct chunk chunk;
	uint64_t skip;		/* bytes of ring at its start, already
				 * delivered */
	uint64_t given;		/* events at its start, likewise */
	uint64_t base;
	uint32_t lane;
	bool nested;
	uint8_t payload[];
};

struct merge_stream {
	uint64_t key;		/* stamp of the next event, or lower */
	uint32_t index;
	uint32_t ring;
	uint32_t generation;
	uint64_t seen;		/* I3 */
	bool open;		/* `queue` is being decoded */
	bool begun;		/* had a chunk before, of any generation */
	uint64_t given;		/* events of `queue` that were skipped or
				 * delivered */
	struct merge_stream *next_unused;
	struct queued *queue;
	struct queued **queue_end;
	struct event_decoder decoder;
	size_t open_bytes;	/* of the decoder, as counted: I4 */
	struct trace_event *batch;
	size_t batch_room;
	size_t batch_next;
	size_t batch_count;
};

void merge_init(struct merge *merge, const struct merge_sink *sink)
{
	memset(merge, 0, sizeof(*merge));
	merge->sink = *sink;
}

/* ---- the heap ---- */

/*
 * Events with the same stamp are ordered by ring number, so that their order
 * does not depend on chunk boundaries: a repacked trace gives the same result.
 * An older generation of the ring may still have events.
 */
static inline bool wins_ties(const struct merge_stream *a,
			     const struct merge_stream *b)
{
	return a->ring < b->ring ||
	       (a->ring == b->ring && a->generation < b->generation);
}

static inline bool comes_before(const struct merge_stream *a,
				const struct merge_stream *b)
{
	return a->key < b->key || (a->key == b->key && wins_ties(a, b));
}

static void sift_down(struct merge *merge, size_t i)
{
	struct merge_stream **heap = merge->heap, *moving = heap[i];

	DEBUG_ASSERT(i < merge->heap_count);
	for (;;) {
		size_t child = 2 * i + 1;

		if (child >= merge->heap_count)
			break;
		if (child + 1 < merge->heap_count &&
		    comes_before(heap[child + 1], heap[child]))
			child++;
		if (!comes_before(heap[child], moving))
			break;
		heap[i] = heap[child];
		i = child;
	}
	heap[i] = moving;
}

static void heap_push(struct merge *merge, struct merge_stream *stream)
{
	size_t i = merge->heap_count;

	GROW(merge->heap, merge->heap_count, merge->heap_capacity);
	merge->heap_count++;
	assert(merge->heap_count <= merge->stream_count);	/* I1 */
	while (i > 0 && comes_before(stream, merge->heap[(i - 1) / 2])) {
		merge->heap[i] = merge->heap[(i - 1) / 2];
		i = (i - 1) / 2;
	}
	merge->heap[i] = stream;
}

static void heap_pop(struct merge *merge)
{
	assert(merge->heap_count > 0);
	merge->heap[0] = merge->heap[--merge->heap_count];
	if (merge->heap_count > 0)
		sift_down(merge, 0);
}

/* The last stamp that the top stream may deliver before the second best. */
static uint64_t top_bound(const struct merge *merge)
{
	const struct merge_stream *second;

	if (merge->heap_count < 2)
		return UINT64_MAX;
	DEBUG_ASSERT(!comes_before(merge->heap[1], merge->heap[0]));	/* I2 */
	second = merge->heap[1];
	if (merge->heap_count > 2 && comes_before(merge->heap[2], second))
		second = merge->heap[2];
	/* Not below the top's own key (I2). */
	return wins_ties(second, merge->heap[0]) ? second->key - 1 :
	       second->key;
}

#ifdef GNOMON_DEBUG_ASSERTS
#define VALID_STREAMS 256	/* with more, the check takes too long for each
				 * run */

bool merge_is_valid(const struct merge *merge)
{
	uint64_t open = 0;
	size_t able = 0;

	for (size_t i = 1; i < merge->heap_count; i++)
		if (comes_before(merge->heap[i], merge->heap[(i - 1) / 2]))
			return false;
	for (size_t i = 0; i < merge->stream_count; i++) {
		const struct merge_stream *s = merge->streams[i];

		open += s->open_bytes;
		able += s->queue != NULL || s->batch_next < s->batch_count;
		if (s->batch_next > s->batch_count)
			return false;
	}
	return open <= merge->open_bytes && able == merge->heap_count;
}
#endif

/* ---- streams ---- */

static void stream_reset(struct merge_stream *stream, uint32_t generation)
{
	stream->generation = generation;
	stream->seen = 0;
}

static struct merge_stream *new_stream(struct merge *merge, uint32_t ring)
{
	struct merge_stream *stream = merge->unused;

	if (stream != NULL) {
		merge->unused = stream->next_unused;
	} else {
		stream = grow_zeroed(1, sizeof(*stream));
		GROW(merge->streams, merge->stream_count,
		     merge->stream_capacity);
		stream->index = (uint32_t)merge->stream_count;
		stream->queue_end = &stream->queue;
		merge->streams[merge->stream_count++] = stream;
	}
	assert(stream->queue == NULL && !stream->open);
	assert(stream->index < merge->stream_count);
	stream->ring = ring;
	stream->begun = table_get(&merge->by_ring, ring) != TABLE_NONE;
	table_set(&merge->by_ring, ring, stream->index);
	return stream;
}

/*
 * The stream of a ring's generation; NULL if the ring has a later one: the
 * recorder drains a ring before it is reused, so the chunk is a repetition. A
 * new generation reuses the ring's stream if it has no events left. Otherwise
 * it gets a new stream, and the old one delivers the events that it has.
 */
static struct merge_stream *find_stream(struct merge *merge,
					const struct chunk *chunk)
{
	uint32_t index = table_get(&merge->by_ring, chunk->ring);
	struct merge_stream *stream;

	if (index == TABLE_NONE) {
		stream = new_stream(merge, chunk->ring);
		stream_reset(stream, chunk->generation);
		return stream;
	}
	assert(index < merge->stream_count);
	stream = merge->streams[index];
	if (chunk->generation == stream->generation)
		return stream;
	if (chunk->generation < stream->generation)
		return NULL;
	if (stream->queue != NULL)
		stream = new_stream(merge, chunk->ring);
	assert(stream->queue == NULL && stream->batch_count == 0);
	stream_reset(stream, chunk->generation);
	return stream;
}

static void count_open(struct merge *merge, struct merge_stream *stream)
{
	merge->open_bytes += event_decoder_bytes(&stream->decoder);
	merge->open_bytes -= stream->open_bytes;
	stream->open_bytes = event_decoder_bytes(&stream->decoder);
	DEBUG_ASSERT(merge->open_bytes >= stream->open_bytes);	/* I4 */
}

/* I4 */
static bool is_too_much(const struct merge *merge)
{
	return merge->open_bytes > OPEN_FREE + OPEN_RATIO * merge->taken;
}

static void drop_chunk(struct merge *merge, struct merge_stream *stream)
{
	struct queued *queued = stream->queue;

	assert(merge->buffered >= queued->chunk.stored);
	stream->queue = queued->next;
	if (stream->queue == NULL)
		stream->queue_end = &stream->queue;
	stream->open = false;
	stream->given = 0;
	merge->buffered -= queued->chunk.stored;
	free(queued);
	if (is_too_much(merge)) {
		event_decoder_free(&stream->decoder);
		count_open(merge, stream);
	}
}

/* How many of these events earlier chunks already had. */
static size_t skip_seen(struct queued *queued, const struct trace_event *events,
			size_t count)
{
	size_t n = 0;

	for (; n < count && queued->given > 0; n++)
		queued->given--;
	while (n < count && queued->skip > 0) {
		unsigned bytes = records_ring_bytes(&events[n],
						    queued->nested);

		queued->skip -= bytes < queued->skip ? bytes : queued->skip;
		n++;
	}
	return n;
}

/* Millions of threads may come and go: an idle stream keeps hardly any
 * memory. */
static void run_dry(struct merge *merge, struct merge_stream *stream)
{
	assert(stream->queue == NULL && !stream->open);	/* I1 */
	event_decoder_free(&stream->decoder);
	count_open(merge, stream);
	free(stream->batch);
	stream->batch = NULL;
	stream->batch_room = stream->batch_count = stream->batch_next = 0;
	if (table_get(&merge->by_ring, stream->ring) == stream->index)
		return;
	/* Its ring has a new generation. */
	stream->next_unused = merge->unused;
	merge->unused = stream;
}

static void note_bad(struct merge *merge, const struct queued *queued)
{
	merge->bad_chunks++;
	if (merge->errors == NULL)
		return;
	format_errors_at(merge->errors, GT_EVENTS, queued->chunk.offset);
	format_errors_note(merge->errors, FORMAT_ERROR_MALFORMED, 1);
}

/* A chunk of these events, which are part of `whole`. */
static struct queued *new_piece(const struct queued *whole,
				const struct trace_event *events, size_t count)
{
	struct buffer payload = { 0 };
	struct queued *piece;

	assert(count > 0 && count <= CUT_EVENTS);
	compose_events(&payload, events, count, CUT_LEVEL);
	piece = grow_alloc(sizeof(*piece) + payload.size);
	*piece = *whole;
	piece->next = NULL;
	piece->base = events[0].stamp;
	piece->skip = piece->given = 0;
	piece->chunk.flags = 0;
	piece->chunk.steps = false;
	piece->chunk.stored = piece->chunk.raw = (uint32_t)payload.size;
	memcpy(piece->payload, payload.data, payload.size);
	buffer_free(&payload);
	return piece;
}

/*
 * Replace the stream's open chunk by pieces of CUT_EVENTS. Decoding the chunk
 * anew at each of its turns would take even less memory, but hours, where rings
 * take turns at each event.
 */
static void cut_chunk(struct merge *merge, struct merge_stream *stream)
{
	struct trace_event events[CUT_EVENTS];
	struct queued *whole = stream->queue, **end = &stream->queue;
	size_t n, seen;

	assert(stream->open && merge->buffered >= whole->chunk.stored);
	while ((n = event_decoder_next(&stream->decoder, events,
				       CUT_EVENTS)) > 0) {
		seen = skip_seen(whole, events, n);
		if (seen == n)
			continue;
		*end = new_piece(whole, events + seen, n - seen);
		merge->buffered += (*end)->chunk.stored;
		end = &(*end)->next;
	}
	if (stream->decoder.bad)
		note_bad(merge, whole);
	*end = whole->next;
	if (whole->next == NULL)
		stream->queue_end = end;
	merge->buffered -= whole->chunk.stored;
	merge->cut++;
	free(whole);
	event_decoder_free(&stream->decoder);
	count_open(merge, stream);
	stream->open = false;
}

/* Open the first chunk of the queue. False: it has no events to deliver. */
static bool open_chunk(struct merge *merge, struct merge_stream *stream)
{
	struct queued *queued = stream->queue;
	struct cursor payload;
	uint64_t events = 0;

	assert(!stream->open);
	queued->chunk.payload = queued->payload;
	stream->open = true;
	if (inflater_payload(&merge->inflater, &queued->chunk,
			     &payload) != 0) {
		stream->decoder.bad = true;
		return true;
	}
	if (merge->extras_only && records_no_extras(payload, &events)) {
		merge->events += events;
		return false;
	}
	if (event_decoder_open(&stream->decoder, &payload, queued->chunk.steps,
			       &merge->inflater) != 0)
		stream->decoder.bad = true;
	count_open(merge, stream);
	return true;
}

/* Returns the number of events. A batch is as small as possible: thousands of
 * rings with a few events each may be open. */
static size_t next_batch(struct merge_stream *stream)
{
	size_t room = stream->decoder.left < BATCH_EVENTS ?
			      (size_t)stream->decoder.left : BATCH_EVENTS;

	if (stream->decoder.bad)
		return 0;
	if (stream->batch == NULL || stream->batch_room < room) {
		free(stream->batch);
		stream->batch = grow_alloc(room * sizeof(*stream->batch));
		stream->batch_room = room;
	}
	assert(stream->batch_room <= BATCH_EVENTS);
	return event_decoder_next(&stream->decoder, stream->batch,
				  stream->batch_room);
}

/* Decode the next batch; false if the stream has no more events for now. */
static bool refill(struct merge *merge, struct merge_stream *stream)
{
	while (stream->queue != NULL) {
		struct queued *queued = stream->queue;

		if (!stream->open && !open_chunk(merge, stream)) {
			drop_chunk(merge, stream);
			continue;
		}
		if (stream->decoder.left > CUT_EVENTS && is_too_much(merge)) {
			cut_chunk(merge, stream);
			continue;
		}
		stream->batch_count = next_batch(stream);
		stream->batch_next = skip_seen(queued, stream->batch,
					       stream->batch_count);
		stream->given += stream->batch_next;
		DEBUG_ASSERT(stream->batch_count <= stream->batch_room);
		DEBUG_ASSERT(stream->batch_next <= stream->batch_count);
		if (stream->batch_next < stream->batch_count) {
			stream->key = stream->batch[stream->batch_next].stamp;
			return true;
		}
		if (stream->batch_count > 0)
			continue;
		if (stream->decoder.bad)
			note_bad(merge, queued);
		drop_chunk(merge, stream);
	}
	run_dry(merge, stream);
	return false;
}

/*
 * A payload that is compressed as a whole does not show its base stamp. With
 * stamp 0 its stream is opened as soon as its turn may have come.
 */
static uint64_t base_stamp(const struct chunk *chunk)
{
	struct cursor c = cursor_over(chunk->payload, chunk->stored);

	return chunk->flags & GT_COMPRESSED ? 0 : cursor_varint(&c);
}

void merge_add(struct merge *merge, const struct chunk *chunk, uint32_t lane,
	       bool nested)
{
	struct merge_stream *stream = find_stream(merge, chunk);
	struct queued *queued;
	bool idle;

	if (stream == NULL || (chunk->last <= stream->seen &&
			       chunk->last > chunk->first)) {
		merge->repeated += chunk->last - chunk->first;
		return;
	}
	queued = grow_alloc(sizeof(*queued) + chunk->stored);
	queued->next = NULL;
	queued->chunk = *chunk;
	queued->lane = lane;
	queued->nested = nested;
	queued->base = base_stamp(chunk);
	queued->skip = 0;
	queued->given = merge->given;
	merge->given = 0;
	memcpy(queued->payload, chunk->payload, chunk->stored);
	if (chunk->first < stream->seen) {
		queued->skip = stream->seen - chunk->first;
		merge->repeated += queued->skip;
	} else if (stream->begun || !merge->part) {
		if (merge->lost_bytes == 0)
			merge->lost_offset = chunk->offset;
		merge->lost_bytes += chunk->first - stream->seen;
	}
	stream->begun = true;
	stream->seen = chunk->last;
	idle = stream->queue == NULL;
	*stream->queue_end = queued;
	stream->queue_end = &queued->next;
	merge->buffered += chunk->stored;
	merge->taken += chunk->stored;
	if (idle) {
		stream->key = queued->base;
		heap_push(merge, stream);
	}
	if (merge->buffered > BUFFER_MAX) {
		merge->forced++;
		merge_finish(merge);
	}
}

/* How many events of the batch come next: at least one. */
static size_t run_length(const struct merge_stream *stream, uint64_t bound)
{
	size_t n = stream->batch_next + 1;

	DEBUG_ASSERT(stream->batch_next < stream->batch_count);
	/* Stamps ascend within a chunk. */
	if (stream->batch[stream->batch_count - 1].stamp <= bound)
		return stream->batch_count - stream->batch_next;
	while (n < stream->batch_count && stream->batch[n].stamp <= bound)
		n++;
	return n - stream->batch_next;
}

/* Deliver events of the top stream up to `bound`, at least one. */
static void deliver(struct merge *merge, struct merge_stream *stream,
		    uint64_t bound)
{
	size_t n = run_length(stream, bound);
	const struct trace_event *run = stream->batch + stream->batch_next;
	uint32_t lane = stream->queue->lane;

	DEBUG_ASSERT(n > 0 && n <= stream->batch_count - stream->batch_next);
	if (merge->errors != NULL)
		format_errors_at(merge->errors, GT_EVENTS,
				 stream->queue->chunk.offset);
	if (!merge->extras_only)
		merge->sink.events(merge->sink.owner, lane, run, n);
	for (size_t i = 0; merge->extras_only && i < n; i++)
		if (run[i].kind == GT_EXTRA)
			merge->sink.events(merge->sink.owner, lane, run + i,
					   1);
	merge->events += n;
	stream->given += n;
	stream->batch_next += n;
	if (stream->batch_next < stream->batch_count)
		stream->key = stream->batch[stream->batch_next].stamp;
}

static inline bool is_cancelled(const struct merge *merge)
{
	return merge->cancelled != NULL &&
	       atomic_load_explicit(merge->cancelled, memory_order_relaxed);
}

void merge_run(struct merge *merge, uint64_t limit)
{
	while (merge->heap_count > 0 && merge->heap[0]->key < limit &&
	       !is_cancelled(merge)) {
		struct merge_stream *stream = merge->heap[0];
		uint64_t bound = top_bound(merge);

		if (bound >= limit)
			bound = limit - 1;
		DEBUG_ASSERT(bound >= stream->key && bound < limit);	/* I2 */
		if (stream->batch_next < stream->batch_count)
			deliver(merge, stream, bound);
		if (stream->batch_next == stream->batch_count) {
			/* Between chunks the key is the base stamp. */
			if (!refill(merge, stream)) {
				heap_pop(merge);
				continue;
			}
		}
		sift_down(merge, 0);
	}
	DEBUG_ASSERT(merge->stream_count > VALID_STREAMS ||
		     merge_is_valid(merge));
}

void merge_finish(struct merge *merge)
{
	merge_run(merge, UINT64_MAX);
}

bool merge_points(const struct merge *merge, struct merge_point **points,
		  size_t *count)
{
	size_t capacity = 0;

	*points = NULL;
	*count = 0;
	if (merge->cut > 0)
		return false;
	for (size_t i = 0; i < merge->heap_count; i++) {
		const struct merge_stream *stream = merge->heap[i];

		DEBUG_ASSERT(stream->queue != NULL);
		GROW(*points, *count, capacity);
		(*points)[(*count)++] = (struct merge_point){
			.ring = stream->ring,
			.generation = stream->generation,
			.first = stream->queue->chunk.first,
			.given = stream->given,
		};
	}
	return true;
}

void merge_free(struct merge *merge)
{
	for (size_t i = 0; i < merge->stream_count; i++) {
		struct merge_stream *stream = merge->streams[i];

		while (stream->queue != NULL)
			drop_chunk(merge, stream);
		event_decoder_free(&stream->decoder);
		free(stream->batch);
		free(stream);
	}
	DEBUG_ASSERT(merge->buffered == 0);
	free(merge->streams);
	free(merge->heap);
	table_free(&merge->by_ring);
	inflater_free(&merge->inflater);
	memset(merge, 0, sizeof(*merge));
}
