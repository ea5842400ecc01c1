/*
 * compose.c: the inverse of scan.c, columns.c, records.c and
 * event_decoder.c. Called by the main thread.
 */
#include "cli/trace/write/compose.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "cli/base/grow.h"
#include "cli/trace/format/recent.h"
#include "cli/trace/format/ring_record.h"
#include "unwind/base/assertion.h"

void compose_varint(struct buffer *out, uint64_t value)
{
	char bytes[CURSOR_VARINT_MAX];
	size_t n = 0;

	for (; value >= 0x80; value >>= 7)
		bytes[n++] = (char)(value | 0x80);
	bytes[n++] = (char)value;
	DEBUG_ASSERT(n <= CURSOR_VARINT_MAX);
	buffer_add(out, bytes, n);
}

static uint64_t zigzag(int64_t value)
{
	return (uint64_t)value << 1 ^ (uint64_t)(value >> 63);
}

static void put_block(struct buffer *out, const void *bytes, size_t size)
{
	compose_varint(out, size);
	buffer_add(out, bytes, size);
}

void compose_header(struct buffer *out, uint64_t trace_id)
{
	size_t start = out->size;

	buffer_add(out, GT_MAGIC, GT_MAGIC_SIZE);
	buffer_little(out, GT_MAJOR, 2);
	buffer_little(out, GT_MINOR, 2);
	buffer_little(out, GT_HEADER_SIZE, 4);
	buffer_little(out, trace_id, 8);
	buffer_little(out, XXH64(out->data + start, GT_HEADER_SIZE - 8, 0), 8);
	assert(out->size - start == GT_HEADER_SIZE);
}

void compose_chunk(struct buffer *out, const struct chunk *chunk,
		  uint64_t trace_id, const struct buffer *payload)
{
	size_t start = out->size;
	bool whole = chunk->flags & GT_COMPRESSED;

	assert(payload->size <= GT_PAYLOAD_MAX);
	buffer_little(out, GT_CHUNK_MAGIC, 4);
	buffer_little(out, chunk->type, 2);
	buffer_little(out, chunk->flags, 2);
	buffer_little(out, payload->size, 4);
	buffer_little(out, whole ? chunk->raw : payload->size, 4);
	buffer_little(out, chunk->ring, 4);
	buffer_little(out, chunk->generation, 4);
	buffer_little(out, chunk->first, 8);
	buffer_little(out, chunk->last, 8);
	buffer_little(out, chunk->sequence, 8);
	buffer_little(out, scan_checksum((uint8_t *)out->data + start,
					(uint8_t *)payload->data,
					(uint32_t)payload->size, trace_id),
		      8);
	assert(out->size - start == GT_CHUNK_SIZE);
	buffer_add(out, payload->data, payload->size);
}

void compose_line(struct buffer *out, const char *key, const char *value)
{
	buffer_string(out, key);
	buffer_string(out, "=");
	for (; *value != 0; value++)
		if (*value == '\n')
			buffer_string(out, "\\n");
		else if (*value == '\\')
			buffer_string(out, "\\\\");
		else if (*value == RECORDS_NUL)
			buffer_string(out, "\\0");
		else
			buffer_add(out, value, 1);
	buffer_string(out, "\n");
}

void compose_thread(struct buffer *out, const struct trace_thread *thread)
{
	compose_varint(out, thread->what);
	compose_varint(out, thread->ring);
	compose_varint(out, thread->tid);
	compose_varint(out, thread->flags);
	compose_varint(out, thread->stamp);
	if (thread->what == GT_THREAD_START)
		compose_varint(out, thread->pointer);
	put_block(out, thread->name, thread->name_size);
}

void compose_capture(struct buffer *out, const struct trace_capture *capture)
{
	compose_varint(out, capture->ring);
	compose_varint(out, GT_CAPTURE_VALUES);
	for (unsigned i = 0; i < GT_CAPTURE_VALUES; i++)
		compose_varint(out, capture->value[i]);
}

void compose_image(struct buffer *out, const struct trace_image *image)
{
	compose_varint(out, image->what);
	compose_varint(out, image->index);
	if (image->what == GT_IMAGE_GONE) {
		compose_varint(out, image->end_node);
		return;
	}
	assert(image->segment_count <= GL_SEGMENTS_MAX);
	assert(image->build_id_size <= GL_BUILD_ID_MAX);
	compose_varint(out, image->flags);
	compose_varint(out, image->first_node);
	compose_varint(out, image->bias);
	compose_varint(out, image->segment_count);
	for (unsigned i = 0; i < image->segment_count; i++) {
		compose_varint(out, image->segments[i].start);
		compose_varint(out, image->segments[i].size);
		compose_varint(out, image->segments[i].offset);
		compose_varint(out, image->segments[i].flags);
	}
	put_block(out, image->build_id, image->build_id_size);
	put_block(out, image->path, image->path_size);
}

void compose_sync(struct buffer *out, const struct trace_sync *sync)
{
	compose_varint(out, sync->watermark);
	compose_varint(out, sync->ticks);
	compose_varint(out, sync->monotonic_ns);
	compose_varint(out, sync->realtime_ns);
	compose_varint(out, sync->dropped);
}

void compose_column(struct buffer *out, const struct buffer *column, int level)
{
	size_t room = ZSTD_compressBound(column->size), size = column->size;
	char *packed = NULL;

	if (level != 0) {
		packed = grow_alloc(room);
		size = ZSTD_compress(packed, room, column->data, column->size,
				     level);
		if (ZSTD_isError(size) || size >= column->size)
			size = column->size;
	}
	assert(size <= column->size && (level == 0 || size <= room));
	compose_varint(out, column->size);
	compose_varint(out, size);
	buffer_add(out, size < column->size ? packed : column->data, size);
	free(packed);
}

/* Also frees it. */
static void put_column(struct buffer *out, struct buffer *column, int level)
{
	compose_column(out, column, level);
	buffer_free(column);
}

void compose_file(struct buffer *out, const struct trace_file *file,
		  const uint8_t *bytes, int level)
{
	struct buffer column = { 0 };

	assert(file->piece_size <= GT_PAYLOAD_MAX);
	compose_varint(out, file->number);
	compose_varint(out, file->kind);
	compose_varint(out, file->size);
	compose_varint(out, file->offset);
	put_block(out, file->build_id, file->build_id_size);
	put_block(out, file->path, file->path_size);
	compose_varint(out, file->piece_size);
	buffer_add(&column, (const char *)bytes, file->piece_size);
	put_column(out, &column, level);
}

void compose_run(struct buffer *out, const struct trace_run *run)
{
	compose_varint(out, GT_TOTALS_RUN);
	compose_varint(out, GT_RUN_VALUES);
	for (unsigned i = 0; i < GT_RUN_VALUES; i++)
		compose_varint(out, run->value[i]);
}

static void put_classes(struct buffer *out, const uint64_t *values, unsigned n)
{
	unsigned count = 0;

	for (unsigned i = 0; i < GT_CLASSES; i++)
		count += values[i * n] > 0;
	compose_varint(out, n);
	compose_varint(out, count);
	for (unsigned i = 0; i < GT_CLASSES; i++) {
		if (values[i * n] == 0)
			continue;
		compose_varint(out, i);
		for (unsigned k = 0; k < n; k++)
			compose_varint(out, values[i * n + k]);
	}
}

void compose_classes(struct buffer *out, const struct trace_classes *classes)
{
	compose_varint(out, GT_TOTALS_CLASSES);
	put_classes(out, classes->size[0], GT_SIZE_VALUES);
	put_classes(out, classes->lifetime[0], GT_LIFETIME_VALUES);
}

void compose_skipped(struct buffer *out, const struct trace_skipped *rest)
{
	compose_varint(out, GT_TOTALS_REST);
	put_classes(out, rest->size[0], GT_REST_VALUES);
}

/* The rest of the chunk, after its first number. */
static void put_totals(struct buffer *out, const struct trace_totals *totals,
		       size_t count, unsigned values, int level)
{
	struct buffer rows = { 0 };
	uint32_t context = 0;

	assert(values <= GT_TOTALS_VALUES);
	compose_varint(out, values);
	compose_varint(out, count);
	for (size_t i = 0; i < count; i++) {
		compose_varint(&rows, zigzag((int32_t)(totals[i].context -
						       context)));
		context = totals[i].context;
		compose_varint(&rows, totals[i].thread);
		for (unsigned k = 0; k < values; k++)
			compose_varint(&rows, totals[i].value[k]);
	}
	put_column(out, &rows, level);
}

void compose_totals(struct buffer *out, const struct trace_totals *totals,
		    size_t count, int level)
{
	compose_varint(out, GT_TOTALS_CONTEXTS);
	put_totals(out, totals, count, GT_TOTALS_VALUES, level);
}

void compose_freed(struct buffer *out, const struct trace_totals *freed,
		   size_t count, int level)
{
	put_totals(out, freed, count, GT_FREED_VALUES, level);
}

void compose_chains(struct buffer *out, const struct trace_totals *chains,
		    size_t count, int level)
{
	put_totals(out, chains, count, GT_CHAINS_VALUES, level);
}

void compose_nodes(struct buffer *out, const struct trace_node *nodes,
		  size_t count, int level)
{
	struct buffer columns[3] = { 0 };
	struct trace_node previous = { 0 };

	compose_varint(out, count);
	for (size_t i = 0; i < count; i++) {
		compose_varint(&columns[0], zigzag((int32_t)(nodes[i].id -
							    previous.id)));
		compose_varint(&columns[1], zigzag((int32_t)(nodes[i].id -
							nodes[i].parent)));
		compose_varint(&columns[2], zigzag((int64_t)(nodes[i].address -
							previous.address)));
		previous = nodes[i];
	}
	for (unsigned i = 0; i < 3; i++)
		put_column(out, &columns[i], level);
}

static void put_address(struct buffer *out, uint64_t address, uint64_t *granule)
{
	uint64_t low = address & 15, step = (address >> 4) - *granule;

	*granule = address >> 4;
	compose_varint(out, zigzag((int64_t)step) << 1 | (low != 0));
	if (low != 0)
		buffer_little(out, low, 1);
}

void compose_control(struct buffer *out, const struct trace_control *control)
{
	compose_varint(out, control->what);
	compose_varint(out, control->stamp);
	compose_varint(out, control->number);
	put_block(out, control->name, control->name_size);
}

void compose_live(struct buffer *out, const struct trace_live *blocks,
		  size_t count, int level)
{
	struct buffer columns[5] = { 0 };
	uint64_t granule = 0, stamp = 0;
	uint32_t context = 0;

	compose_varint(out, count);
	for (size_t i = 0; i < count; i++) {
		const struct trace_live *block = &blocks[i];

		put_address(&columns[0], block->address, &granule);
		compose_varint(&columns[1], zigzag((int32_t)(block->context -
							     context)));
		context = block->context;
		compose_varint(&columns[2], block->size);
		compose_varint(&columns[3], zigzag((int64_t)(block->stamp -
							     stamp)));
		stamp = block->stamp;
		compose_varint(&columns[4], block->ring);
	}
	for (unsigned i = 0; i < 5; i++)
		put_column(out, &columns[i], level);
}

/* Runs of equal layouts: value and length of each. */
static void put_layouts(struct buffer *out, const struct trace_event *events,
			size_t count)
{
	unsigned layout = 0;
	uint64_t run = 0;

	for (size_t i = 0; i <= count; i++) {
		if (i < count && events[i].kind != GT_ALLOC &&
		    events[i].kind != GT_REALLOC_DONE)
			continue;
		if (i < count && run > 0 && events[i].layout == layout) {
			run++;
			continue;
		}
		if (run > 0) {
			compose_varint(out, layout);
			compose_varint(out, run);
		}
		layout = i < count ? events[i].layout : 0;
		run = 1;
	}
}

static void put_extra(struct buffer *out, const struct trace_event *event)
{
	compose_varint(out, event->what);
	for (unsigned i = 0; i < GT_EXTRA_ARGS; i++)
		compose_varint(out, event->args[i]);
}

static bool frees_a_block(const struct trace_event *event)
{
	return gt_event_kind(event->kind).has & GT_MAY_STACK;
}

/* Whether any of these events has the freeing context. */
static bool has_freed_by(const struct trace_event *events, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (frees_a_block(&events[i]) && events[i].context != 0)
			return true;
	return false;
}

static void put_change(struct buffer *out, uint32_t context, uint32_t *before)
{
	compose_varint(out, zigzag((int32_t)(context - *before)));
	*before = context;
}

/* Kinds, and those addresses that are not recent. */
static void put_heads(struct buffer *kinds, struct buffer *addresses,
		      const struct trace_event *events, size_t count)
{
	struct recent_finder *recent = grow_zeroed(1, sizeof(*recent));
	struct recent_place place = recent_begin(recent);
	uint64_t granules[RECENT_LISTS] = { 0 };

	for (size_t i = 0; i < count; i++) {
		bool begins = recent_begins(events[i].kind);
		uint64_t age = recent_age(recent, &place, begins,
					  events[i].address);

		compose_varint(kinds, age << GT_KIND_SHIFT | events[i].kind);
		if (age == 0)
			put_address(addresses, events[i].address,
				    &granules[begins]);
		granules[begins] = events[i].address >> 4;
	}
	free(recent);
}

/* Runs of equal stamps: the length of each, and the difference to the next. */
static void put_stamps(struct buffer *runs, struct buffer *ticks,
		       const struct trace_event *events, size_t count)
{
	size_t first = 0;

	for (size_t i = 1; i < count; i++) {
		if (events[i].stamp == events[first].stamp)
			continue;
		compose_varint(runs, i - first);
		compose_varint(ticks, events[i].stamp - events[first].stamp);
		first = i;
	}
}

void compose_events(struct buffer *out, const struct trace_event *events,
		   size_t count, int level)
{
	struct buffer columns[9] = { 0 };
	unsigned column_count = 8 + has_freed_by(events, count);
	uint32_t context = 0, freed_by = 0;

	assert(count <= GT_EVENTS_MAX);
	compose_varint(out, count ? events[0].stamp : 0);
	compose_varint(out, count);
	put_heads(&columns[0], &columns[1], events, count);
	for (size_t i = 0; i < count; i++) {
		const struct trace_event *event = &events[i];

		if (event->kind == GT_EXTRA)
			put_extra(&columns[5], event);
		if (frees_a_block(event))
			put_change(&columns[8], event->context, &freed_by);
		if (event->kind != GT_EXTRA && event->kind != GT_ALLOC &&
		    event->kind != GT_REALLOC_DONE)
			continue;
		put_change(&columns[2], event->context, &context);
		compose_varint(&columns[3], event->size);
	}
	put_layouts(&columns[4], events, count);
	put_stamps(&columns[6], &columns[7], events, count);
	for (unsigned i = 0; i < column_count; i++)
		put_column(out, &columns[i], level);
	if (column_count < 9)
		buffer_free(&columns[8]);
}
