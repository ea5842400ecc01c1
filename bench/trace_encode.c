/*
 * trace_encode.c: see trace_encode.h. Each thread fills a chunk; when one is
 * full, all are written, after the nodes that they need, and then a SYNC, as in
 * the recorder's passes over its rings. One thread.
 */
#include "bench/trace_encode.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "cli/base/grow.h"
#include "cli/trace/format/recent.h"
#include "cli/trace/write/compose.h"

#define EVENTS_OF_CHUNK 16384	/* as many as a busy program's chunks have */
#define COLUMNS 6		/* those that are not empty */
#define COLUMNS_FIRST 4		/* of them, before layouts and EXTRAs */
#define VARINT_MAX 10
#define LEVEL -20
#define TRACE_ID UINT64_C(0x67656e6572617465)
#define TICK_SHIFT 6
#define TICK_PS 27795
#define WINDOW 74		/* ticks */
#define LAYOUT_SEEN 1		/* known, as large as expected */

struct lane {
	uint64_t first, position;	/* in its ring */
	uint64_t base, stamp;
	uint32_t same_stamp;		/* events */
	struct recent_finder recent;
	struct recent_place place;
	uint64_t address[RECENT_LISTS];	/* the last one */
	uint32_t context;
	uint32_t count;
	uint32_t allocations;
	uint8_t *end[COLUMNS];
	uint8_t *column[COLUMNS];
};

struct encoder {
	FILE *file;
	const char *path;
	ZSTD_CCtx *zstd;
	uint8_t *packed;
	size_t packed_room;
	uint64_t sequence;
	uint64_t events;
	uint64_t stamp;
	struct trace_node *nodes;
	size_t node_count, node_capacity;
	uint32_t next_node;
	unsigned threads;
	struct lane *lane;		/* of the thread at hand */
	struct lane lanes[ENCODER_THREADS_MAX];
	struct buffer payload, chunk;
};

static void put_chunk(struct encoder *e, unsigned type, uint32_t ring,
		      uint64_t first, uint64_t last)
{
	const struct chunk chunk = {
		.type = type, .ring = ring, .first = first, .last = last,
		.sequence = e->sequence++,
	};

	compose_chunk(&e->chunk, &chunk, TRACE_ID, &e->payload);
	fwrite(e->chunk.data, 1, e->chunk.size, e->file);
	buffer_clear(&e->chunk);
	buffer_clear(&e->payload);
}

static void put_column(struct encoder *e, const uint8_t *column, size_t size)
{
	size_t packed = ZSTD_compress2(e->zstd, e->packed, e->packed_room,
				       column, size);

	compose_varint(&e->payload, size);
	if (ZSTD_isError(packed) || packed >= size) {
		compose_varint(&e->payload, size);
		buffer_add(&e->payload, (const char *)column, size);
		return;
	}
	compose_varint(&e->payload, packed);
	buffer_add(&e->payload, (const char *)e->packed, packed);
}

static void put_layouts(struct encoder *e, const struct lane *lane)
{
	struct buffer run = { 0 };

	if (lane->allocations > 0) {
		compose_varint(&run, LAYOUT_SEEN);
		compose_varint(&run, lane->allocations);
	}
	compose_varint(&e->payload, run.size);
	compose_varint(&e->payload, run.size);
	if (run.size > 0)
		buffer_add(&e->payload, run.data, run.size);
	buffer_free(&run);
}

static void put_lane_column(struct encoder *e, struct lane *lane, int i)
{
	put_column(e, lane->column[i],
		   (size_t)(lane->end[i] - lane->column[i]));
	lane->end[i] = lane->column[i];
}

static void put_lane(struct encoder *e, uint32_t ring)
{
	struct lane *lane = &e->lanes[ring];

	if (lane->count == 0)
		return;
	compose_varint(&e->payload, lane->base);
	compose_varint(&e->payload, lane->count);
	for (int i = 0; i < COLUMNS_FIRST; i++)
		put_lane_column(e, lane, i);
	put_layouts(e, lane);
	compose_varint(&e->payload, 0);		/* no EXTRAs */
	compose_varint(&e->payload, 0);
	for (int i = COLUMNS_FIRST; i < COLUMNS; i++)
		put_lane_column(e, lane, i);
	put_chunk(e, GT_EVENTS, ring, lane->first, lane->position);
	lane->first = lane->position;
	recent_end(&lane->recent, &lane->place);
	lane->context = 0;
	lane->count = lane->allocations = 0;
}

static void put_sync(struct encoder *e)
{
	const struct trace_sync sync = {
		.watermark = e->stamp,
		.ticks = e->stamp,
		.monotonic_ns = e->stamp * TICK_PS / 1000,
		.realtime_ns = e->stamp * TICK_PS / 1000,
	};

	compose_sync(&e->payload, &sync);
	put_chunk(e, GT_SYNC, 0, 0, 0);
}

static void flush(struct encoder *e)
{
	if (e->node_count > 0) {
		compose_nodes(&e->payload, e->nodes, e->node_count, LEVEL);
		put_chunk(e, GT_CONTEXT, 0, 0, 0);
		e->node_count = 0;
	}
	for (unsigned i = 0; i < e->threads; i++)
		put_lane(e, i);
	put_sync(e);
}

static void put_beginning(struct encoder *e, uint64_t code_start,
			  uint64_t code_size)
{
	const struct trace_image image = {
		.what = GT_IMAGE_MAPPED,
		.flags = GT_IMAGE_MAIN,
		.first_node = GT_STOP_COUNT,
		.segment_count = 1,
		.segments = { { code_start, code_size, 0, 5 } },
		.path = "/generated",
		.path_size = strlen("/generated"),
	};
	char number[32];

	compose_line(&e->payload, "arch", "x86_64");
	compose_line(&e->payload, "pid", "1");
	compose_line(&e->payload, "exe", image.path);
	compose_line(&e->payload, "command", image.path);
	compose_line(&e->payload, "page_size", "4096");
	snprintf(number, sizeof(number), "%d", TICK_SHIFT);
	compose_line(&e->payload, "tick_shift", number);
	snprintf(number, sizeof(number), "%d", TICK_PS);
	compose_line(&e->payload, "tick_ps", number);
	snprintf(number, sizeof(number), "%d", WINDOW);
	compose_line(&e->payload, "window_ticks", number);
	compose_line(&e->payload, "start_realtime_ns", "0");
	compose_line(&e->payload, "start_monotonic_ns", "0");
	put_chunk(e, GT_INFO, 0, 0, 0);
	compose_image(&e->payload, &image);
	put_chunk(e, GT_IMAGE, 0, 0, 0);
	for (unsigned i = 0; i < e->threads; i++) {
		const struct trace_thread thread = {
			.what = GT_THREAD_START, .ring = i, .tid = i + 1,
			.flags = i == 0 ? GT_THREAD_MAIN : 0, .name = "",
		};

		compose_thread(&e->payload, &thread);
	}
	put_chunk(e, GT_THREAD, 0, 0, 0);
	put_sync(e);
}

struct encoder *encoder_open(const char *path, unsigned threads,
			     uint64_t code_start, uint64_t code_size)
{
	struct encoder *e = grow_zeroed(1, sizeof(*e));
	struct buffer header = { 0 };

	e->path = path;
	e->threads = threads;
	e->lane = &e->lanes[0];
	e->next_node = GT_STOP_COUNT;
	e->file = fopen(path, "w");
	e->packed_room = ZSTD_compressBound(EVENTS_OF_CHUNK * VARINT_MAX);
	e->packed = grow_alloc(e->packed_room);
	e->zstd = ZSTD_createCCtx();
	if (e->file == NULL || e->zstd == NULL) {
		perror(path);
		return NULL;
	}
	ZSTD_CCtx_setParameter(e->zstd, ZSTD_c_compressionLevel, LEVEL);
	for (unsigned i = 0; i < threads; i++)
		for (int k = 0; k < COLUMNS; k++)
			e->lanes[i].end[k] = e->lanes[i].column[k] =
				grow_alloc(EVENTS_OF_CHUNK * VARINT_MAX * 2);
	compose_header(&header, TRACE_ID);
	fwrite(header.data, 1, header.size, e->file);
	buffer_free(&header);
	put_beginning(e, code_start, code_size);
	return e;
}

uint32_t encoder_node(struct encoder *e, uint32_t parent, uint64_t address)
{
	GROW(e->nodes, e->node_count, e->node_capacity);
	e->nodes[e->node_count++] =
		(struct trace_node){ e->next_node, parent, address };
	return e->next_node++;
}

void encoder_thread(struct encoder *e, unsigned thread)
{
	e->lane = &e->lanes[thread];
}

static inline uint8_t *put_varint(uint8_t *to, uint64_t value)
{
	for (; value >= 0x80; value >>= 7)
		*to++ = (uint8_t)(value | 0x80);
	*to++ = (uint8_t)value;
	return to;
}

static inline uint64_t zigzag(int64_t value)
{
	return (uint64_t)value << 1 ^ (uint64_t)(value >> 63);
}

/* With the kind. */
static inline void put_address(struct lane *lane, unsigned kind,
			       uint64_t address)
{
	bool begins = recent_begins(kind);
	uint64_t before = lane->address[begins];
	uint64_t age = recent_age(&lane->recent, &lane->place, begins,
				  address);

	lane->end[0] = put_varint(lane->end[0], age << GT_KIND_SHIFT | kind);
	if (age == 0)
		lane->end[1] = put_varint(lane->end[1], zigzag((int64_t)
			((address >> 4) - (before >> 4))) << 1);
	lane->address[begins] = address;
}

void encoder_event(struct encoder *e, unsigned kind, uint64_t ticks,
		   uint64_t address, uint32_t context, uint64_t size)
{
	struct lane *lane = e->lane;

	e->stamp += ticks;
	if (lane->count == 0) {
		lane->base = lane->stamp = e->stamp;
		lane->same_stamp = 0;
		lane->place = recent_begin(&lane->recent);
		lane->address[0] = lane->address[1] = 0;
	}
	if (e->stamp > lane->stamp) {
		lane->end[4] = put_varint(lane->end[4], lane->same_stamp);
		lane->end[5] = put_varint(lane->end[5],
					  e->stamp - lane->stamp);
		lane->stamp = e->stamp;
		lane->same_stamp = 0;
	}
	lane->same_stamp++;
	put_address(lane, kind, address);
	lane->position += 16;
	if (kind == GT_ALLOC || kind == GT_REALLOC_DONE) {
		lane->end[2] = put_varint(lane->end[2], zigzag((int32_t)
			(context - lane->context)));
		lane->context = context;
		lane->end[3] = put_varint(lane->end[3], size);
		lane->allocations++;
		lane->position += size >= GL_SIZE_BIG ? 16 : 8;
	}
	e->events++;
	if (++lane->count == EVENTS_OF_CHUNK)
		flush(e);
}

uint64_t encoder_events(const struct encoder *e)
{
	return e->events;
}

bool encoder_close(struct encoder *e)
{
	char events[32];
	bool good;

	flush(e);
	snprintf(events, sizeof(events), "%llu",
		 (unsigned long long)e->events);
	compose_line(&e->payload, "events", events);
	put_chunk(e, GT_COUNTERS, 0, 0, 0);
	compose_line(&e->payload, "reason", "exit");
	compose_line(&e->payload, "exit_code", "0");
	compose_line(&e->payload, "events", events);
	put_chunk(e, GT_END, 0, 0, 0);
	good = !ferror(e->file);
	if (fclose(e->file) != 0 || !good) {
		perror(e->path);
		good = false;
	}
	for (unsigned i = 0; i < e->threads; i++)
		for (int k = 0; k < COLUMNS; k++)
			free(e->lanes[i].column[k]);
	ZSTD_freeCCtx(e->zstd);
	buffer_free(&e->payload);
	buffer_free(&e->chunk);
	free(e->nodes);
	free(e->packed);
	free(e);
	return good;
}
