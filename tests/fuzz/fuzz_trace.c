/*
 * fuzz_trace.c: the reader of traces on hostile bytes. The first byte chooses
 * the way in: a file of chunks (whose sums are made right), the payload of one
 * chunk (else the checksums would keep all that is interesting away), or a
 * live file.
 */
#include <endian.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <xxhash.h>

#include "cli/base/grow.h"
#include "cli/symbol/jit/perfmap.h"
#include "cli/trace/decode/scan.h"
#include "cli/trace/decode/columns.h"
#include "cli/trace/decode/control_records.h"
#include "cli/trace/decode/file_records.h"
#include "cli/trace/live/live_read.h"
#include "cli/trace/decode/map_records.h"
#include "cli/trace/decode/memory_records.h"
#include "cli/trace/decode/records.h"

#define BATCH 256

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_names(struct cursor *payload, struct inflater *inflater)
{
	static struct columns columns;
	struct perfmap map = { 0 };
	struct cursor *text = &columns.column[0];

	if (columns_open(&columns, payload, 1, inflater))
		return;
	perfmap_add(&map, (const char *)text->next, cursor_left(text),
		    17);
	perfmap_add(&map, (const char *)text->next, cursor_left(text), 0);
	for (size_t i = 0; i < map.count && i < BATCH; i++)
		perfmap_find(&map, map.list[i].end - 1, (uint32_t)i);
	perfmap_free(&map);
}

static void read_usage(struct cursor *payload)
{
	struct usage_decoder decoder;
	struct trace_usage usage;

	usage_decoder_open(&decoder, payload);
	while (usage_decoder_next(&decoder, payload, &usage))
		;
}

static void read_maps(struct cursor *payload)
{
	struct trace_maps head;
	struct trace_map map = { 0 };

	if (map_records_head(payload, &head))
		while (map_records_next(payload, &map))
			;
}

static void read_snapshot(struct cursor *payload, struct inflater *inflater)
{
	struct snapshot_decoder decoder = { 0 };
	struct trace_snapshot snapshot;
	struct trace_mapping mapping;
	bool bad;

	switch (snapshot_decoder_open(&decoder, payload, inflater)) {
	case GT_SNAPSHOT_MAPPINGS:
		while (snapshot_decoder_next(&decoder, &mapping, &bad))
			;
		break;
	case GT_SNAPSHOT_TAKEN:
		snapshot_decoder_taken(payload, &snapshot);
		break;
	}
	columns_free(&decoder.columns);
}

static void read_file_piece(struct cursor *payload, struct inflater *inflater)
{
	struct columns columns = { 0 };
	struct trace_file file;
	const uint8_t *bytes;
	unsigned sum = 0;

	if (file_records_file(payload, &file) &&
	    file_records_bytes(payload, &file, &columns, inflater, &bytes))
		for (uint64_t i = 0; i < file.piece_size; i++)
			sum += bytes[i];
	columns_free(&columns);
	if (sum == UINT32_MAX)
		abort();	/* the bytes are looked at */
}

static void read_freed(struct cursor *payload, struct inflater *inflater)
{
	struct totals_decoder decoder = { 0 };
	struct trace_totals freed;
	bool bad;

	if (totals_decoder_open_rows(&decoder, payload, inflater))
		while (totals_decoder_next(&decoder, &freed, &bad))
			;
	columns_free(&decoder.columns);
}

static void read_controls(struct cursor *payload)
{
	struct trace_control control;

	while (control_records_next(payload, &control))
		if (control.name_size > GT_NAME_MAX)
			abort();
}

static void read_live(struct cursor *payload, struct inflater *inflater)
{
	struct live_decoder decoder = { 0 };
	struct trace_live block;
	bool bad;

	if (live_decoder_open(&decoder, payload, inflater))
		while (live_decoder_next(&decoder, &block, &bad))
			;
	columns_free(&decoder.columns);
}

static void read_totals(struct cursor *payload, struct inflater *inflater)
{
	struct totals_decoder decoder = { 0 };
	struct trace_classes classes;
	struct trace_totals totals;
	struct trace_skipped skipped;
	struct trace_run run;
	bool bad;

	switch (totals_decoder_open(&decoder, payload, inflater)) {
	case GT_TOTALS_CONTEXTS:
		while (totals_decoder_next(&decoder, &totals, &bad))
			;
		break;
	case GT_TOTALS_CLASSES:
		totals_decoder_classes(payload, &classes);
		break;
	case GT_TOTALS_RUN:
		totals_decoder_run(payload, &run);
		break;
	case GT_TOTALS_REST:
		totals_decoder_skipped(payload, &skipped);
		break;
	}
	columns_free(&decoder.columns);
}

static void read_nodes(struct cursor *payload, struct inflater *inflater)
{
	static struct node_decoder decoder;
	struct trace_node node;
	bool bad;

	if (!node_decoder_open(&decoder, payload, inflater))
		while (node_decoder_next(&decoder, &node, &bad))
			;
}

/* As one of this version, and as an old one. */
static void read_events(struct cursor *payload, struct inflater *inflater)
{
	static struct event_decoder decoder;
	struct trace_event events[BATCH];

	for (int steps = 0; steps < 2; steps++) {
		struct cursor c = *payload;

		if (!event_decoder_open(&decoder, &c, steps, inflater))
			while (event_decoder_next(&decoder, events, BATCH))
				;
	}
}

/* What is not compressed: records, one after the other. */
static void read_records(unsigned type, struct cursor *payload)
{
	static char line[RECORDS_LINE_MAX];
	struct trace_thread thread;
	struct trace_capture capture;
	struct trace_image image;
	struct trace_sync sync;
	const char *key, *value;

	switch (type) {
	case GT_THREAD:
		while (records_thread(payload, false, &thread))
			;
		break;
	case GT_CAPTURE:
		while (records_capture(payload, &capture))
			;
		break;
	case GT_IMAGE:
		while (records_image(payload, &image))
			;
		break;
	case GT_USAGE:
		read_usage(payload);
		break;
	case GT_MAPS:
		read_maps(payload);
		break;
	case GT_CONTROL:
		read_controls(payload);
		break;
	case GT_SYNC:
		records_sync(payload, &sync);
		break;
	default:
		while (records_line(payload, line, &key, &value))
			;
	}
}

static void read_payload(unsigned type, struct cursor *payload,
			 struct inflater *inflater)
{
	switch (type) {
	case GT_CONTEXT:
		read_nodes(payload, inflater);
		break;
	case GT_EVENTS:
		read_events(payload, inflater);
		break;
	case GT_SNAPSHOT:
		read_snapshot(payload, inflater);
		break;
	case GT_FILE:
		read_file_piece(payload, inflater);
		break;
	case GT_TOTALS:
		read_totals(payload, inflater);
		break;
	case GT_FREED:
	case GT_CHAINS:
		read_freed(payload, inflater);
		break;
	case GT_LIVE:
		read_live(payload, inflater);
		break;
	case GT_NAMES:
		read_names(payload, inflater);
		break;
	default:
		read_records(type, payload);
	}
}

static int memory_file(const uint8_t *data, size_t size)
{
	int fd = memfd_create("fuzz", 0);

	if (fd < 0 || write(fd, data, size) != (ssize_t)size ||
	    lseek(fd, 0, SEEK_SET))
		abort();
	return fd;
}

static void put_little(uint8_t *at, uint64_t value, unsigned size)
{
	for (unsigned i = 0; i < size; i++)
		at[i] = (uint8_t)(value >> 8 * i);
}

/* Make the sums of a file right, and lengths that reach beyond its end. */
static void set_sums(uint8_t *bytes, size_t size)
{
	size_t at = GT_HEADER_SIZE;
	uint64_t id;

	if (size < GT_HEADER_SIZE)
		return;
	put_little(bytes + 24, XXH64(bytes, 24, 0), 8);
	memcpy(&id, bytes + 16, sizeof(id));
	id = le64toh(id);
	while (size - at >= GT_CHUNK_SIZE) {
		struct cursor c = cursor_over(bytes + at + 8, 4);
		size_t stored = cursor_u32(&c), left = size - at -
			GT_CHUNK_SIZE;

		if (stored > left)
			stored = left;
		put_little(bytes + at, GT_CHUNK_MAGIC, 4);
		put_little(bytes + at + 8, stored, 4);
		put_little(bytes + at + GT_CHUNK_SIZE - 8,
			   scan_checksum(bytes + at, bytes + at +
					 GT_CHUNK_SIZE, (uint32_t)stored, id),
			   8);
		at += GT_CHUNK_SIZE + stored;
	}
}

/* As it is if its first byte is odd, else with right sums. */
static int trace_file(const uint8_t *data, size_t size)
{
	uint8_t *copy = grow_alloc(size);
	int fd;

	memcpy(copy, data, size);
	if (size > 0 && data[0] % 2 == 0) {
		copy[0] = GT_MAGIC[0] & 0xff;
		set_sums(copy, size);
	}
	fd = memory_file(copy, size);
	free(copy);
	return fd;
}

static void read_file(const uint8_t *data, size_t size)
{
	static struct inflater inflater;
	struct scan reader;
	struct cursor payload;
	struct chunk chunk;

	if (scan_open(&reader, trace_file(data, size)) == SCAN_OPEN_OK)
		while (scan_next(&reader, &chunk))
			if (!inflater_payload(&inflater, &chunk, &payload))
				read_payload(chunk.type, &payload, &inflater);
	scan_close(&reader);
}

static void read_leftover(const uint8_t *data, size_t size)
{
	struct live_read_snapshot snapshot = { 0 };
	int fd = memory_file(data, size);
	uint64_t id = 0;

	/* The id that the header claims: another one is refused at once. */
	for (int i = 0; i < 8 && size >= 24; i++)
		id |= (uint64_t)data[16 + i] << (8 * i);
	if (!live_read_fd(fd, id, &snapshot))
		live_read_free(&snapshot);
	close(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct inflater inflater;
	struct cursor payload;

	if (size < 1)
		return 0;
	if (data[0] == 0) {
		read_file(data + 1, size - 1);
	} else if (data[0] < GT_CHUNK_TYPES) {
		payload = cursor_over(data + 1, size - 1);
		read_payload(data[0], &payload, &inflater);
	} else {
		read_leftover(data + 1, size - 1);
	}
	return 0;
}
