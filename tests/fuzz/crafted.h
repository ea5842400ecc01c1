/*
 * crafted.h: a trace from the bytes of a fuzzer, whose framing, positions and
 * checksums are right whatever the bytes are: what is sought lies behind them.
 *
 * The input is a row of items. A first byte below CRAFTED_OPS is the type of a
 * chunk, which comes as it is:
 *
 *	type, ring, generation, flags (1 byte each), first, last - first,
 *	length (2 bytes each), payload
 *
 * Else its low bits (enum crafted_op) say what is to be done. Events are put
 * together for CRAFTED_RINGS rings, many from a few bytes (OP_RUN), and become
 * a chunk whose columns are packed in any of the ways that there are
 * (OP_FLUSH), may be longer than their events (OP_PAD), and may come for as
 * many further rings as one likes (enum crafted_codec: CODEC_RINGS).
 */
#ifndef TESTS_CRAFTED_H
#define TESTS_CRAFTED_H

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "cli/base/grow.h"
#include "cli/trace/write/compose.h"
#include "tests/hostile/whole_trace.h"

#define CRAFTED_OPS 0x80
#define CRAFTED_RINGS 4
#define CRAFTED_COLUMNS 7
#define CRAFTED_PLAIN 10		/* bytes before a plain chunk's payload */
#define CRAFTED_EVENT 5		/* bytes of an event of a run */
/* Bounds of the work, in all, so that there are many inputs in a second. */
#define CRAFTED_EVENTS_MAX 8000	/* put together */
#define CRAFTED_COPIES_MAX 32000	/* of these, in all chunks */
#define CRAFTED_PAD_MAX 22		/* bits of a length */
#define CRAFTED_PADS_MAX (UINT64_C(16) << 20)	/* bytes of padding */
#define CRAFTED_BYTES_MAX (UINT64_C(16) << 20)	/* of chunks */

enum crafted_op {
	OP_RUN,		/* ring, repeats (2 bytes), stride, n, n events */
	OP_FLUSH,	/* ring, codec */
	OP_PAD,		/* column, length (bits), byte */
	OP_COUNT,	/* entries that the next chunk claims (2 bytes) */
	OP_SYNC,	/* lost events */
	OP_SKIP,	/* ring, ticks (2 bytes) */
	OP_PREAMBLE,	/* what stands before the first events */
	OP_COUNT_OF_OPS
};

enum crafted_codec {
	CODEC_COLUMNS = 1,	/* each is packed */
	CODEC_WHOLE = 2,	/* the payload is */
	CODEC_PACKED = CODEC_COLUMNS | CODEC_WHOLE,
	CODEC_LOST = 4,		/* something of the ring is gone before it */
	CODEC_AGAIN = 8,	/* a part of it has come before */
	CODEC_GENERATION = 16,	/* the ring has begun anew */
	CODEC_RINGS = 32,	/* the same for others; another byte: how many */
	CODEC_KEEP = 64		/* the events will come again */
};

struct crafted_ring {
	struct trace_event *list;
	size_t count, capacity;
	uint64_t stamp, position;
	uint32_t generation;
};

struct crafted {
	struct cursor *in;
	struct buffer *out;
	uint64_t trace_id, sequence;
	struct crafted_ring rings[CRAFTED_RINGS];
	size_t events, copies;	/* in all */
	unsigned claimed;	/* OP_COUNT; 0: what there is */
	struct { unsigned bits; uint8_t byte; } pad[CRAFTED_COLUMNS];
	unsigned codec;		/* the last: how what is left is packed */
	uint64_t dropped, padded;
	uint32_t next_ring;	/* of CODEC_RINGS */
};

/* Bytes of arguments that an operation always has. */
static inline unsigned crafted_fixed(unsigned op)
{
	static const uint8_t bytes[OP_COUNT_OF_OPS] = {
		[OP_RUN] = 5, [OP_FLUSH] = 2, [OP_PAD] = 3, [OP_COUNT] = 2,
		[OP_SYNC] = 1, [OP_SKIP] = 3, [OP_PREAMBLE] = 0,
	};

	return bytes[op];
}

/* Bytes of an item, of which there is at least one; at most what is left. */
static inline size_t crafted_item_size(const uint8_t *item, size_t left)
{
	unsigned op = (item[0] - CRAFTED_OPS) % OP_COUNT_OF_OPS;
	size_t size;

	if (item[0] < CRAFTED_OPS) {
		size = CRAFTED_PLAIN;
		if (size <= left)
			size += item[size - 2] | (size_t)item[size - 1] << 8;
	} else {
		size = 1 + crafted_fixed(op);
		if (op == OP_RUN && size <= left)
			size += (item[size - 1] % 8 + 1) * CRAFTED_EVENT;
		else if (op == OP_FLUSH && size <= left)
			size += (item[size - 1] & CODEC_RINGS) != 0;
	}
	return size < left ? size : left;
}

static inline void crafted_chunk(struct crafted *t, struct chunk *chunk,
				 const struct buffer *payload)
{
	chunk->sequence = t->sequence++;
	compose_chunk(t->out, chunk, t->trace_id, payload);
}

/* One that comes as it is. */
static inline void crafted_plain(struct crafted *t, unsigned type)
{
	struct chunk chunk = { .type = type };
	struct buffer payload = { 0 };
	size_t length;

	chunk.ring = cursor_u8(t->in);
	chunk.generation = cursor_u8(t->in);
	chunk.flags = cursor_u8(t->in) & 1;
	chunk.first = cursor_u16(t->in);
	chunk.last = chunk.first + cursor_u16(t->in);
	length = cursor_u16(t->in);
	if (length > cursor_left(t->in))
		length = cursor_left(t->in);
	buffer_add(&payload, (const char *)cursor_bytes(t->in, length), length);
	chunk.raw = (uint32_t)length * 4;
	crafted_chunk(t, &chunk, &payload);
	buffer_free(&payload);
}

/* An EXTRA's arguments: the same for all, as they have to outlive it. */
static inline const uint64_t *crafted_args(void)
{
	static const uint64_t args[GT_EXTRA_ARGS] = { 3, 17, 0x7000, 1 };

	return args;
}

/* A kind; ticks since the event before; addresses and contexts, few enough
 * that they meet; a size. */
static inline struct trace_event crafted_event(struct cursor *in)
{
	uint8_t kind = cursor_u8(in), step = cursor_u8(in);
	uint8_t address = cursor_u8(in);
	struct trace_event event = {
		.stamp = step,
		.address = 0x500000 + address * 16ull,
		.size = cursor_u8(in),
		.context = WHOLE_FIRST + cursor_u8(in) % 8,
		.kind = (uint8_t)(kind % GT_EVENT_COUNT),
		.layout = kind >> 4 & 7,
	};

	if (event.kind == GT_EXTRA) {
		event.what = (uint8_t)(event.size % GT_EXTRA_COUNT);
		event.args = crafted_args();
	} else if (event.kind != GT_ALLOC && event.kind != GT_REALLOC_DONE) {
		event.size = event.layout = 0;
		event.context = kind & 8 ? event.context : 0;
	}
	return event;
}

static inline void crafted_run(struct crafted *t)
{
	struct crafted_ring *ring = &t->rings[cursor_u8(t->in) %
					      CRAFTED_RINGS];
	size_t repeats = cursor_u16(t->in) & 0x1fff;
	uint64_t stride = cursor_u8(t->in);
	struct trace_event group[8];
	unsigned n = cursor_u8(t->in) % 8 + 1;

	for (unsigned i = 0; i < n; i++)
		group[i] = crafted_event(t->in);
	for (size_t r = 0; r <= repeats; r++)
		for (unsigned i = 0; i < n; i++) {
			if (ring->count == GT_EVENTS_MAX ||
			    t->events == CRAFTED_EVENTS_MAX)
				return;
			GROW(ring->list, ring->count, ring->capacity);
			t->events++;
			ring->stamp += group[i].stamp;
			ring->list[ring->count] = group[i];
			ring->list[ring->count].stamp = ring->stamp;
			ring->list[ring->count++].address += r * stride * 16;
		}
}

/* Columns of a payload, packed and padded as was asked for. */
static inline void crafted_columns(struct crafted *t, struct buffer *payload,
				   int level)
{
	struct cursor c = cursor_over(payload->data, payload->size);
	struct buffer out = { 0 }, column = { 0 };

	compose_varint(&out, cursor_varint(&c));
	compose_varint(&out, t->claimed ? (cursor_varint(&c), t->claimed) :
		       cursor_varint(&c));
	for (unsigned i = 0; i < CRAFTED_COLUMNS; i++) {
		uint64_t size = cursor_left(&c) ? cursor_varint(&c) : 0;
		size_t pad = t->pad[i].bits ? (size_t)1 << t->pad[i].bits : 0;

		cursor_varint(&c);	/* nothing is packed yet */
		buffer_clear(&column);
		buffer_add(&column, (const char *)cursor_bytes(&c, size), size);
		if (size < pad && t->padded + pad <= CRAFTED_PADS_MAX) {
			char *bytes = grow_alloc(pad - size);

			t->padded += pad;
			memset(bytes, t->pad[i].byte, pad - size);
			buffer_add(&column, bytes, pad - size);
			free(bytes);
		}
		compose_column(&out, &column, level);
	}
	buffer_free(&column);
	buffer_free(payload);
	*payload = out;
}

static inline void crafted_whole(struct buffer *payload, struct chunk *chunk)
{
	size_t room = ZSTD_compressBound(payload->size);
	char *packed = grow_alloc(room);

	chunk->flags = GT_COMPRESSED;
	chunk->raw = (uint32_t)payload->size;
	room = ZSTD_compress(packed, room, payload->data, payload->size, 1);
	buffer_clear(payload);
	buffer_add(payload, packed, room);
	free(packed);
}

static inline void crafted_positions(struct crafted_ring *ring,
				     unsigned codec, struct chunk *chunk)
{
	if (codec & CODEC_GENERATION) {
		ring->generation++;
		ring->position = 0;
	}
	if (codec & CODEC_LOST)
		ring->position += 24;
	if (codec & CODEC_AGAIN && ring->position >= 24)
		ring->position -= 24;
	chunk->generation = ring->generation;
	chunk->first = ring->position;
	for (size_t i = 0; i < ring->count; i++)
		ring->position += records_ring_bytes(&ring->list[i], false);
	chunk->last = ring->position;
}

static inline bool crafted_fits(const struct crafted *t,
				const struct crafted_ring *ring,
				const struct buffer *payload)
{
	return payload->size <= GT_PAYLOAD_MAX &&
		t->out->size + payload->size <= CRAFTED_BYTES_MAX &&
		t->copies + ring->count <= CRAFTED_COPIES_MAX;
}

static inline void crafted_flush(struct crafted *t, uint32_t number,
				 unsigned codec)
{
	struct crafted_ring *ring = &t->rings[number];
	struct chunk chunk = { .type = GT_EVENTS, .ring = number };
	unsigned more = codec & CODEC_RINGS ? cursor_u8(t->in) : 0;
	struct buffer payload = { 0 };

	compose_events(&payload, ring->list, ring->count, 0);
	crafted_columns(t, &payload, codec & CODEC_COLUMNS ? 1 : 0);
	if (codec & CODEC_WHOLE && payload.size <= GT_PAYLOAD_MAX)
		crafted_whole(&payload, &chunk);
	crafted_positions(ring, codec, &chunk);
	for (unsigned i = 0; i <= more && crafted_fits(t, ring, &payload);
	     i++) {
		t->copies += ring->count;
		crafted_chunk(t, &chunk, &payload);
		chunk.ring = CRAFTED_RINGS + t->next_ring++;
		chunk.generation = 0;
		chunk.last -= chunk.first;
		chunk.first = 0;
	}
	buffer_free(&payload);
	if (!(codec & CODEC_KEEP))
		ring->count = 0;
	memset(t->pad, 0, sizeof(t->pad));
	t->claimed = 0;
}

static inline void crafted_sync(struct crafted *t)
{
	uint64_t stamp = t->rings[0].stamp;
	struct trace_sync sync = { .ticks = 0 };
	struct buffer payload = { 0 };
	struct chunk chunk = { .type = GT_SYNC };

	for (unsigned i = 1; i < CRAFTED_RINGS; i++)
		if (t->rings[i].stamp > stamp)
			stamp = t->rings[i].stamp;
	t->dropped += cursor_u8(t->in);
	sync = (struct trace_sync){ stamp, stamp, stamp * 25, stamp * 25,
				    t->dropped };
	compose_sync(&payload, &sync);
	crafted_chunk(t, &chunk, &payload);
	buffer_free(&payload);
}

static inline void crafted_preamble(struct crafted *t)
{
	static struct whole_trace whole;

	memset(&whole, 0, sizeof(whole));
	whole_info(&whole);
	whole_sync(&whole, 1000);
	whole_threads(&whole);
	whole_images(&whole);
	whole_nodes(&whole);
	for (unsigned i = 0; i < whole.count; i++)
		crafted_chunk(t, &whole.list[i].chunk,
			      &whole.list[i].payload);
	whole_free(&whole);
}

static inline void crafted_do(struct crafted *t, unsigned op)
{
	unsigned number;

	switch (op % OP_COUNT_OF_OPS) {
	case OP_RUN:
		crafted_run(t);
		break;
	case OP_FLUSH:
		number = cursor_u8(t->in) % CRAFTED_RINGS;
		t->codec = cursor_u8(t->in);
		crafted_flush(t, number, t->codec);
		break;
	case OP_PAD:
		number = cursor_u8(t->in) % CRAFTED_COLUMNS;
		t->pad[number].bits = cursor_u8(t->in) % (CRAFTED_PAD_MAX + 1);
		t->pad[number].byte = cursor_u8(t->in);
		break;
	case OP_COUNT:
		t->claimed = cursor_u16(t->in);
		break;
	case OP_SYNC:
		crafted_sync(t);
		break;
	case OP_SKIP:
		number = cursor_u8(t->in) % CRAFTED_RINGS;
		t->rings[number].stamp += cursor_u16(t->in);
		break;
	case OP_PREAMBLE:
		crafted_preamble(t);
		break;
	}
}

/* A trace, in `out`, of which nothing is left out that the bytes say. */
static inline void crafted_compose(struct cursor *in, struct buffer *out,
				   uint64_t trace_id)
{
	struct crafted t = { .in = in, .out = out, .trace_id = trace_id };

	for (unsigned i = 0; i < CRAFTED_RINGS; i++)
		t.rings[i].stamp = 1000;
	compose_header(out, trace_id);
	while (cursor_left(in) > 0) {
		size_t left = cursor_left(in);
		size_t size = crafted_item_size(in->next, left);
		unsigned first = cursor_u8(in);

		if (first < CRAFTED_OPS)
			crafted_plain(&t, first);
		else
			crafted_do(&t, first - CRAFTED_OPS);
		assert(left - cursor_left(in) == size);
	}
	for (unsigned i = 0; i < CRAFTED_RINGS; i++) {
		if (t.rings[i].count > 0)
			crafted_flush(&t, i, t.codec & CODEC_PACKED);
		free(t.rings[i].list);
	}
}

#endif
