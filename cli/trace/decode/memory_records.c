/*
 * memory_records.c: see the header. docs/FORMAT.md describes the payloads.
 * Unknown values of later recorders are skipped. Called by the reader's thread.
 */
#include "cli/trace/decode/memory_records.h"

#include <string.h>

#include "unwind/base/assertion.h"

#define VALUES_MAX 64		/* of a record: more are an error */
#define NAME_MAX_BYTES 256	/* of a snapshot */
#define PAGE_BITS 12

static uint64_t read_value_count(struct cursor *c)
{
	uint64_t count = cursor_varint(c);

	if (count <= VALUES_MAX)
		return count;
	c->bad = true;
	c->next = c->end;
	return 0;
}

void usage_decoder_open(struct usage_decoder *decoder, struct cursor *c)
{
	memset(decoder, 0, sizeof(*decoder));
	decoder->values = read_value_count(c);
}

bool usage_decoder_next(struct usage_decoder *decoder, struct cursor *c,
			struct trace_usage *usage)
{
	struct trace_usage *before = &decoder->before;

	if (cursor_left(c) == 0)
		return false;
	DEBUG_ASSERT(decoder->values <= VALUES_MAX);
	before->stamp += cursor_varint(c);
	for (uint64_t i = 0; i < decoder->values; i++) {
		uint64_t step = (uint64_t)cursor_zigzag(c);

		if (i < GT_USAGE_VALUES)
			before->value[i] += step;
	}
	*usage = *before;
	return !c->bad;
}

enum gt_snapshot_what snapshot_decoder_open(struct snapshot_decoder *decoder,
					    struct cursor *c,
					    struct inflater *inflater)
{
	uint64_t what = cursor_varint(c);

	decoder->left = 0;
	decoder->page = 0;
	decoder->path = "";
	decoder->path_size = 0;
	if (what == GT_SNAPSHOT_TAKEN)
		return GT_SNAPSHOT_TAKEN;
	decoder->number = cursor_varint(c);
	decoder->values = read_value_count(c);
	if (what != GT_SNAPSHOT_MAPPINGS || c->bad ||
	    columns_open(&decoder->columns, c, 1, inflater) != 0)
		return 0;
	decoder->left = decoder->columns.count;
	return GT_SNAPSHOT_MAPPINGS;
}

static void read_path(struct snapshot_decoder *decoder, struct cursor *c,
		      struct trace_mapping *mapping)
{
	uint64_t size = cursor_varint(c);

	if (size == 0)
		return;
	if (size > 1) {
		decoder->path_size = size - 2;
		decoder->path = (const char *)cursor_bytes(c, size - 2);
		if (size - 2 > GT_PATH_MAX)
			c->bad = true;
	}
	mapping->path = decoder->path;
	mapping->path_size = decoder->path_size;
}

bool snapshot_decoder_next(struct snapshot_decoder *decoder,
			   struct trace_mapping *mapping, bool *bad)
{
	struct cursor *c = &decoder->columns.column[0];
	uint64_t pages;

	*bad = false;
	if (decoder->left == 0) {
		*bad = cursor_left(c) != 0;
		return false;
	}
	DEBUG_ASSERT(decoder->left <= decoder->columns.count &&
		     decoder->values <= VALUES_MAX);
	memset(mapping, 0, sizeof(*mapping));
	mapping->path = "";
	mapping->snapshot = decoder->number;
	decoder->page += cursor_varint(c);
	mapping->start = decoder->page << PAGE_BITS;
	pages = cursor_varint(c);
	mapping->size = pages << PAGE_BITS;
	decoder->page += pages;
	mapping->flags = (uint32_t)cursor_varint(c);
	for (uint64_t i = 0; i < decoder->values; i++) {
		uint64_t value = cursor_varint(c);

		if (i < GT_MAPPING_VALUES)
			mapping->value[i] = value;
	}
	read_path(decoder, c, mapping);
	decoder->left--;
	*bad = c->bad;
	return !c->bad;
}

static void read_arenas(struct cursor *c, struct trace_snapshot *snapshot)
{
	uint64_t count;

	snapshot->arenas_stamp = cursor_varint(c);
	count = read_value_count(c);
	for (uint64_t i = 0; i < count; i++) {
		uint64_t value = cursor_varint(c);

		if (i < GT_ARENAS_VALUES)
			snapshot->arenas_value[i] = value;
	}
}

bool snapshot_decoder_taken(struct cursor *c, struct trace_snapshot *snapshot)
{
	memset(snapshot, 0, sizeof(*snapshot));
	snapshot->number = cursor_varint(c);
	snapshot->kind = (uint32_t)cursor_varint(c);
	snapshot->flags = (uint32_t)cursor_varint(c);
	snapshot->begin = cursor_varint(c);
	snapshot->end = cursor_varint(c);
	snapshot->mappings = cursor_varint(c);
	snapshot->name_size = cursor_varint(c);
	snapshot->name = (const char *)cursor_bytes(c, snapshot->name_size);
	if (snapshot->name_size > NAME_MAX_BYTES)
		snapshot->name_size = NAME_MAX_BYTES;
	snapshot->arenas = (uint32_t)cursor_varint(c);
	if (snapshot->arenas == GT_ARENAS_TAKEN)
		read_arenas(c, snapshot);
	if (snapshot->arenas >= GT_ARENAS_STATES)
		snapshot->arenas = GT_ARENAS_FOREIGN;
	return !c->bad;
}
