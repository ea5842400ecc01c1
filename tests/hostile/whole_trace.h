/*
 * whole_trace.h: a small trace that has every kind of chunk, record and event,
 * as a list of pieces that a test changes, moves and leaves out before it
 * makes a file of them.
 *
 * Whoever includes this has compose.c's functions, perhaps a copy of its own.
 */
#ifndef TESTS_WHOLE_TRACE_H
#define TESTS_WHOLE_TRACE_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "cli/base/text/buffer.h"
#include "cli/trace/format/trace_format.h"
#include "cli/trace/write/compose.h"

#define WHOLE_ID UINT64_C(0x7768006f6c650001)
#define WHOLE_PIECES_MAX 64
#define WHOLE_FIRST GT_STOP_COUNT	/* first context */

struct whole_piece {
	struct chunk chunk;
	struct buffer payload;
};

struct whole_trace {
	struct whole_piece list[WHOLE_PIECES_MAX];
	unsigned count;
	uint64_t position[3];		/* of the rings */
	uint64_t events;
};

static inline struct buffer *whole_add(struct whole_trace *t, unsigned type)
{
	struct whole_piece *piece = &t->list[t->count++];

	*piece = (struct whole_piece){ .chunk = { .type = type } };
	return &piece->payload;
}

static inline void whole_varints(struct buffer *out, size_t count,
				 const uint64_t *values)
{
	for (size_t i = 0; i < count; i++)
		compose_varint(out, values[i]);
}

#define WHOLE_VARINTS(out, ...)                                            \
	whole_varints(out, sizeof((uint64_t[]){ __VA_ARGS__ }) / 8,        \
		      (uint64_t[]){ __VA_ARGS__ })

static inline void whole_info(struct whole_trace *t)
{
	struct buffer *out = whole_add(t, GT_INFO);

	compose_line(out, "arch", "x86_64");
	compose_line(out, "pid", "4000000");
	compose_line(out, "exe", "/nowhere/whole");
	compose_line(out, "command", "whole");
	compose_line(out, "page_size", "4096");
	compose_line(out, "tick_shift", "6");
	compose_line(out, "tick_ps", "25000");
	compose_line(out, "window_ticks", "64");
	compose_line(out, "start_monotonic_ns", "25000");
	compose_line(out, "start_realtime_ns", "25000");
	compose_line(out, "free_stacks", "1");
}

static inline void whole_sync(struct whole_trace *t, uint64_t stamp)
{
	struct trace_sync sync = { stamp, stamp, stamp * 25, stamp * 25, 0 };

	compose_sync(whole_add(t, GT_SYNC), &sync);
}

static inline void whole_threads(struct whole_trace *t)
{
	struct buffer *out = whole_add(t, GT_THREAD);
	struct trace_thread thread = {
		GT_THREAD_START, 0, 100, GT_THREAD_MAIN, 1000, "whole", 5,
		0x7000,
	};

	compose_thread(out, &thread);
	thread = (struct trace_thread){ GT_THREAD_START, 1, 100,
		GT_THREAD_NESTED, 1001, "", 0, 0x7000 };
	compose_thread(out, &thread);
	thread = (struct trace_thread){ GT_THREAD_START, 2, 101, 0, 1002,
		"second", 6, 0x8000 };
	compose_thread(out, &thread);
	thread = (struct trace_thread){ GT_THREAD_NAME, 2, 101, 0, 1003,
		"other", 5, 0 };
	compose_thread(out, &thread);
}

static inline void whole_images(struct whole_trace *t)
{
	struct buffer *out = whole_add(t, GT_IMAGE);
	struct trace_image image = {
		.what = GT_IMAGE_MAPPED, .index = 0, .flags = 1,
		.first_node = WHOLE_FIRST, .bias = 0x400000,
		.segment_count = 2,
		.segments = { { 0x400000, 0x1000, 0, 4 },
			      { 0x401000, 0x2000, 0x1000, 5 } },
		.build_id = (const uint8_t *)"0123456789abcdef0123",
		.build_id_size = 20,
		.path = "/nowhere/whole", .path_size = 14,
	};

	compose_image(out, &image);
	image.index = 1;
	image.flags = 0;
	image.bias = 0x7f0000000000;
	image.segment_count = 1;
	image.segments[0] = (struct trace_segment){
		0x7f0000000000, 0x4000, 0, 5 };
	image.path = "/nowhere/libwhole.so";
	image.path_size = 20;
	compose_image(out, &image);
}

static inline void whole_nodes(struct whole_trace *t)
{
	const struct trace_node nodes[] = {
		{ WHOLE_FIRST, GT_STOP_BOTTOM, 0x401010 },
		{ WHOLE_FIRST + 1, WHOLE_FIRST, 0x401100 },
		{ WHOLE_FIRST + 2, WHOLE_FIRST + 1, 0x7f0000000123 },
		{ WHOLE_FIRST + 3, WHOLE_FIRST + 1, 0x7f0000000456 },
		{ WHOLE_FIRST + 4, GT_STOP_NO_IMAGE, 0x12340000 },
	};

	compose_nodes(whole_add(t, GT_CONTEXT), nodes,
		      sizeof(nodes) / sizeof(nodes[0]), 0);
}

static inline void whole_usage(struct whole_trace *t)
{
	struct buffer *out = whole_add(t, GT_USAGE);

	compose_varint(out, GT_USAGE_VALUES);
	for (uint64_t point = 0; point < 3; point++) {
		compose_varint(out, 1000 + point);
		for (uint64_t i = 0; i < GT_USAGE_VALUES; i++)
			compose_varint(out, i == 0 ? 0 : (100 + i) << 1);
	}
}

/* flags, since, begun, ended, top; then records */
static inline void whole_maps(struct whole_trace *t, uint64_t first)
{
	struct buffer *out = whole_add(t, GT_MAPS);

	if (first) {
		WHOLE_VARINTS(out, GT_MAPS_FIRST, 1000, 1010, 1020, 0);
		WHOLE_VARINTS(out, GT_MAPS_NEW, 0x400000u << 1, 0x3000, 5, 0,
			      8ull << 32 | 1, 77, 14);
		buffer_add(out, "/nowhere/whole", 14);
		WHOLE_VARINTS(out, GT_MAPS_NEW, 0x1000 << 1, 0x1000,
			      GT_MAPS_AGAIN | 3, 0x3000, 8ull << 32 | 1, 77);
		WHOLE_VARINTS(out, GT_MAPS_NEW, 0x100000 << 1, 0x21000, 3, 0,
			      0, 0, 6);
		buffer_add(out, "[heap]", 6);
		return;
	}
	WHOLE_VARINTS(out, 0, 1010, 1400, 1410, 0);
	WHOLE_VARINTS(out, GT_MAPS_GONE, 0x400000u << 1, 0x3000);
	WHOLE_VARINTS(out, GT_MAPS_NEW, 0x10000000 << 1, 0x10000, 3, 0, 0, 0,
		      0);
}

static inline void whole_events(struct whole_trace *t, uint32_t ring,
				const struct trace_event *events,
				size_t count)
{
	struct buffer *out = whole_add(t, GT_EVENTS);
	struct chunk *chunk = &t->list[t->count - 1].chunk;

	compose_events(out, events, count, 0);
	chunk->ring = ring;
	chunk->first = t->position[ring];
	for (size_t i = 0; i < count; i++)
		t->position[ring] += records_ring_bytes(&events[i], ring == 1);
	chunk->last = t->position[ring];
	t->events += count;
}

/* Each kind of event, and each kind of EXTRA. */
static inline void whole_first_events(struct whole_trace *t)
{
	/* the second is a context, of a damaged block */
	static const uint64_t args[GT_EXTRA_ARGS] = { 3, WHOLE_FIRST + 1,
						     0x7000, 1 };
	struct trace_event events[48] = {
		{ 1100, 0x500010, 100, WHOLE_FIRST + 2, GT_ALLOC, 0, 1, 0 },
		{ 1101, 0x600010, 1ull << 33, WHOLE_FIRST + 3, GT_ALLOC, 0, 3,
		  0 },
		{ 1102, 0x500010, 0, 0, GT_REALLOC_BEGIN, 0, 0, 0 },
		{ 1103, 0x500098, 300, WHOLE_FIRST + 2, GT_REALLOC_DONE, 0, 1,
		  0 },
		{ 1104, 0x500098, 0, 0, GT_REALLOC_BEGIN, 0, 0, 0 },
		{ 1105, 0x500098, 0, 0, GT_REALLOC_FAILED, 0, 0, 0 },
		{ 1106, 0x500098, 0, 0, GT_REALLOC_BEGIN, 0, 0, 0 },
		{ 1107, 0x500098, 0, 0, GT_REALLOC_FREED, 0, 0, 0 },
		{ 1108, 0x600010, 0, 0, GT_FREE, 0, 0, 0 },
	};
	size_t count = 9;

	for (unsigned what = 1; what < GT_EXTRA_COUNT; what++)
		events[count++] = (struct trace_event){
			1110 + what, 0x10000000 + what * 0x10000, 0x4000,
			WHOLE_FIRST + 1, GT_EXTRA, (uint8_t)what, 0, args };
	whole_events(t, 0, events, count);
}

static inline void whole_other_events(struct whole_trace *t)
{
	const struct trace_event second[] = {
		{ 1090, 0x700010, 5000, WHOLE_FIRST + 4, GT_ALLOC, 0, 5, 0 },
		{ 1120, 0x700020, 0, WHOLE_FIRST + 4, GT_ALLOC, 0, 5, 0 },
		{ 1121, 0x700020, 0, 0, GT_FREE, 0, 0, 0 },
	};
	const struct trace_event nested[] = {
		{ 1095, 0x800010, 16, WHOLE_FIRST + 1, GT_ALLOC, 0, 0, 0 },
		{ 1130, 0x800010, 0, 0, GT_FREE, 0, 0, 0 },
	};

	whole_events(t, 2, second, 3);
	whole_events(t, 1, nested, 2);
}

static inline void whole_late_events(struct whole_trace *t)
{
	const struct trace_event events[] = {
		{ 1300, 0x500010, 64, WHOLE_FIRST, GT_ALLOC, 0, 1, 0 },
		{ 1301, 0x500060, 64, WHOLE_FIRST + 2, GT_ALLOC, 0, 1, 0 },
		{ 1302, 0x500060, 0, 0, GT_FREE, 0, 0, 0 },
	};

	whole_events(t, 0, events, 3);
}

/* Frees with their stacks, one without among them. */
static inline void whole_stacked_events(struct whole_trace *t)
{
	const struct trace_event events[] = {
		{ 1310, 0x500100, 10, WHOLE_FIRST, GT_ALLOC, 0, 1, 0 },
		{ 1311, 0x500120, 20, WHOLE_FIRST + 2, GT_ALLOC, 0, 1, 0 },
		{ 1312, 0x500100, 0, WHOLE_FIRST + 1, GT_FREE, 0, 0, 0 },
		{ 1313, 0x500120, 0, WHOLE_FIRST + 3, GT_REALLOC_BEGIN, 0, 0,
		  0 },
		{ 1314, 0x500140, 30, WHOLE_FIRST + 3, GT_REALLOC_DONE, 0, 1,
		  0 },
		{ 1315, 0x500160, 40, WHOLE_FIRST, GT_ALLOC, 0, 1, 0 },
		{ 1316, 0x500160, 0, 0, GT_FREE, 0, 0, 0 },
		{ 1317, 0x500140, 0, WHOLE_FIRST + 4, GT_FREE, 0, 0, 0 },
	};

	whole_events(t, 0, events, sizeof(events) / sizeof(events[0]));
}

static inline void whole_snapshot(struct whole_trace *t)
{
	struct buffer rows = { 0 }, *out = whole_add(t, GT_SNAPSHOT);

	WHOLE_VARINTS(&rows, 0x400, 3, 5, 0, 12, 12, 0, 0, 0, 12, 12, 0, 0,
		      14 + 2);
	buffer_add(&rows, "/nowhere/whole", 14);
	WHOLE_VARINTS(&rows, 1, 33, 3, 0, 99, 99, 0, 0, 0, 99, 99, 0, 0, 1);
	WHOLE_VARINTS(&rows, 7, 16, 19, 0, 1, 1, 0, 0, 0, 1, 1, 0, 0, 0);
	WHOLE_VARINTS(out, GT_SNAPSHOT_MAPPINGS, 1, GT_MAPPING_VALUES, 3,
		      rows.size, rows.size);
	buffer_add(out, rows.data, rows.size);
	buffer_free(&rows);
	out = whole_add(t, GT_SNAPSHOT);
	WHOLE_VARINTS(out, GT_SNAPSHOT_TAKEN, 1, GT_SNAPSHOT_LAST,
		      GT_SNAPSHOT_WHOLE, 1200, 1210, 3, 4);
	buffer_add(out, "last", 4);
	WHOLE_VARINTS(out, GT_ARENAS_TAKEN, 1205, GT_ARENAS_VALUES, 100,
		      200000, 5000, 3, 64, 1, 4000, 8192, 1);
}

/* The last piece's payload becomes one that is compressed as a whole. */
static inline void whole_pack(struct whole_trace *t)
{
	struct whole_piece *piece = &t->list[t->count - 1];
	size_t room = ZSTD_compressBound(piece->payload.size);
	struct buffer plain = piece->payload;
	char *packed = malloc(room);

	piece->chunk.flags = GT_COMPRESSED;
	piece->chunk.raw = (uint32_t)plain.size;
	piece->payload = (struct buffer){ 0 };
	room = ZSTD_compress(packed, room, plain.data, plain.size, 3);
	buffer_add(&piece->payload, packed, room);
	free(packed);
	buffer_free(&plain);
}

static inline void whole_names(struct whole_trace *t)
{
	static const char text[] = "12340000 100 jitted\n12340100 80 again\n"
		"12340000 80 over it\n12350000 10 aaaaaaaaaaaaaaaaaaaaaaaa\n";
	size_t size = sizeof(text) - 1;
	struct buffer *out = whole_add(t, GT_NAMES);

	WHOLE_VARINTS(out, 4, size, size);
	buffer_add(out, text, size);
	compose_varint(out, WHOLE_FIRST + 4);
	whole_pack(t);
}

/* While it is set, what is put together are many events like each other. */
static bool whole_many;

/* Of two rings in turns, more of each than is decoded at a time, compressed as
 * a whole, with columns that are not; the second's is the larger. */
static inline void whole_packed_events(struct whole_trace *t)
{
	struct trace_event events[700];

	for (uint32_t ring = 0; ring <= 2; ring += 2) {
		unsigned count = ring == 0 ? 300 : 700;

		for (unsigned i = 0; i < count; i++)
			events[i] = (struct trace_event){
				.stamp = 1320 + i / 5,
				.address = 0x900010 + ring * 0x100000 +
					i / 2 * 0x30,
				.size = i % 2 ? 0 : 20,
				.context = i % 2 ? 0 : WHOLE_FIRST + 2,
				.kind = i % 2 ? GT_FREE : GT_ALLOC,
			};
		whole_many = true;
		whole_events(t, ring, events, count);
		whole_many = false;
		whole_pack(t);
	}
}

/* An embedded file in two pieces, and sums of what was left out. */
static inline void whole_additions(struct whole_trace *t)
{
	const struct trace_run run = { { 9000, 3, 1301, 1, 1000, 1 } };
	struct trace_totals totals[2] = {
		{ .context = WHOLE_FIRST + 1, .thread = 1,
		  .value = { 5, 500, 5, 500, 2, 100, 1010, 1290 } },
		{ .context = WHOLE_FIRST + 3, .thread = 0,
		  .value = { 1, 64, 1, 64, 0, 7, 1020, 1020, 64, 1 } },
	};
	const struct trace_totals freed[2] = {
		{ .context = WHOLE_FIRST + 1, .thread = WHOLE_FIRST + 4,
		  .value = { 5, 500, 100 } },
		{ .context = WHOLE_FIRST + 3, .thread = 0,
		  .value = { 1, 64, 7 } },
	};
	const struct trace_totals chains[] = {
		{ WHOLE_FIRST + 1, 0, { 2, 9, 5, 30, 90, 60, 7, 100, 1000 } },
		{ WHOLE_FIRST + 2, 0, { 1, 2, 2, 10, 20, 20, 0, 0, 50 } },
	};
	const struct trace_classes classes = {
		.size = { [7] = { 6, 564, 6, 564, 2, 100 } },
		.lifetime = { [3] = { 1, 64 }, [5] = { 5, 500 } },
	};
	struct trace_file file = {
		.number = 1, .kind = GT_FILE_INCLUDED, .size = 12,
		.piece_size = 8, .build_id = (const uint8_t *)"abcd",
		.build_id_size = 4, .path = "/nowhere/notes",
		.path_size = 14,
	};

	compose_file(whole_add(t, GT_FILE), &file,
		     (const uint8_t *)"12345678", 0);
	file.offset = 8;
	file.piece_size = 4;
	compose_file(whole_add(t, GT_FILE), &file, (const uint8_t *)"9abc", 0);
	compose_run(whole_add(t, GT_TOTALS), &run);
	compose_classes(whole_add(t, GT_TOTALS), &classes);
	compose_totals(whole_add(t, GT_TOTALS), totals, 2, 0);
	compose_freed(whole_add(t, GT_FREED), freed, 2, 0);
	compose_chains(whole_add(t, GT_CHAINS), chains, 2, 0);
}

/* What somebody told the recorder, and blocks that were never recorded. */
static inline void whole_steering(struct whole_trace *t)
{
	const struct trace_control controls[] = {
		{ GT_CONTROL_HEAP, 1001, 3, "pool", 4 },
		{ GT_CONTROL_STOP, 1002, 0, "", 0 },
		{ GT_CONTROL_START, 1003, 0, "again", 5 },
		{ GT_CONTROL_MARKER, 1250, 0, "here", 4 },
	};
	const struct trace_skipped rest = { .size = { [4] = { 7, 70 } } };
	struct buffer *out = whole_add(t, GT_CONTROL);

	for (size_t i = 0; i < sizeof(controls) / sizeof(controls[0]); i++)
		compose_control(out, &controls[i]);
	compose_skipped(whole_add(t, GT_TOTALS), &rest);
}

static inline void whole_capture(struct whole_trace *t)
{
	struct trace_capture capture = { .ring = 2,
		.value = { 1, 2, 3, 4, 5, 6, 7, 8, 9 } };
	struct buffer *out = whole_add(t, GT_CAPTURE);

	compose_capture(out, &capture);
	capture.ring = 0;
	compose_capture(out, &capture);
}

static inline void whole_ends(struct whole_trace *t)
{
	const struct trace_image gone = { .what = GT_IMAGE_GONE, .index = 1,
					  .end_node = WHOLE_FIRST + 5 };
	const struct trace_thread end = { GT_THREAD_END, 2, 101, 0, 1250, "",
					  0, 0 };

	compose_image(whole_add(t, GT_IMAGE), &gone);
	compose_thread(whole_add(t, GT_THREAD), &end);
}

static inline void whole_last_words(struct whole_trace *t)
{
	struct buffer *out = whole_add(t, GT_COUNTERS);
	char events[24];

	snprintf(events, sizeof(events), "%llu", (unsigned long long)t->events);
	compose_line(out, "dropped", "0");
	compose_line(out, "nodes", "5");
	out = whole_add(t, GT_END);
	compose_line(out, "reason", "exit");
	compose_line(out, "exit_code", "0");
	compose_line(out, "events", events);
	compose_line(out, "end_monotonic_ns", "40000");
}

static inline void whole_compose(struct whole_trace *t)
{
	memset(t, 0, sizeof(*t));
	whole_info(t);
	whole_sync(t, 1000);
	whole_threads(t);
	whole_images(t);
	whole_nodes(t);
	whole_steering(t);
	whole_usage(t);
	whole_maps(t, 1);
	whole_first_events(t);
	whole_other_events(t);
	whole_sync(t, 1200);
	whole_snapshot(t);
	whole_capture(t);
	whole_ends(t);
	whole_late_events(t);
	whole_stacked_events(t);
	whole_packed_events(t);
	whole_maps(t, 0);
	whole_names(t);
	whole_additions(t);
	whole_sync(t, 1500);
	whole_last_words(t);
}

static inline void whole_free(struct whole_trace *t)
{
	for (unsigned i = 0; i < t->count; i++)
		buffer_free(&t->list[i].payload);
	t->count = 0;
}

/* The pieces in this order (NULL: as they are) as a file, numbered anew. */
static inline void whole_file(const struct whole_trace *t,
			      const unsigned *order, unsigned count,
			      struct buffer *file)
{
	buffer_clear(file);
	compose_header(file, WHOLE_ID);
	for (unsigned i = 0; i < count; i++) {
		const struct whole_piece *piece =
			&t->list[order ? order[i] : i];
		struct chunk chunk = piece->chunk;

		chunk.sequence = i;
		compose_chunk(file, &chunk, WHOLE_ID, &piece->payload);
	}
}

#endif
