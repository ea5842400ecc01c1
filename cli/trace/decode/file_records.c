/*
 * file_records.c: see the header. docs/FORMAT.md describes the payloads.
 * Unknown further values are skipped. Called by the reader's thread.
 */
#include "cli/trace/decode/file_records.h"

#include <string.h>

#include "unwind/base/assertion.h"

#define VALUES_MAX 64		/* of a record: more are an error */

static uint64_t read_value_count(struct cursor *c)
{
	uint64_t count = cursor_varint(c);

	if (count <= VALUES_MAX)
		return count;
	c->bad = true;
	c->next = c->end;
	return 0;
}

/* `count` values, of which `known` are kept; missing ones are 0. */
static void read_values(struct cursor *c, uint64_t count, uint64_t *values,
			uint64_t known)
{
	DEBUG_ASSERT(count <= VALUES_MAX);
	memset(values, 0, known * sizeof(*values));
	for (uint64_t i = 0; i < count; i++) {
		uint64_t value = cursor_varint(c);

		if (i < known)
			values[i] = value;
	}
}

bool file_records_file(struct cursor *c, struct trace_file *file)
{
	struct cursor bytes;

	memset(file, 0, sizeof(*file));
	file->number = (uint32_t)cursor_varint(c);
	file->kind = (unsigned)cursor_varint(c);
	file->size = cursor_varint(c);
	file->offset = cursor_varint(c);
	file->build_id_size = cursor_varint(c);
	file->build_id = cursor_bytes(c, file->build_id_size);
	file->path_size = cursor_varint(c);
	file->path = (const char *)cursor_bytes(c, file->path_size);
	bytes = *c;
	file->piece_size = cursor_varint(&bytes);
	c->bad |= bytes.bad || file->build_id_size > GL_BUILD_ID_MAX ||
		  file->path_size > GT_PATH_MAX ||
		  file->piece_size > GT_PAYLOAD_MAX ||
		  file->offset > file->size ||
		  file->piece_size > file->size - file->offset;
	return !c->bad;
}

bool file_records_bytes(struct cursor *c, const struct trace_file *file,
			struct columns *columns, struct inflater *inflater,
			const uint8_t **bytes)
{
	static const struct columns_limits limits = { .entry_bytes = { 1 } };

	if (columns_open_some(columns, c, 1, 1, &limits, inflater) != 0 ||
	    cursor_left(&columns->column[0]) != file->piece_size) {
		c->bad = true;
		return false;
	}
	*bytes = columns->column[0].next;
	return true;
}

bool totals_decoder_open_rows(struct totals_decoder *decoder,
			       struct cursor *c, struct inflater *inflater)
{
	decoder->left = 0;
	decoder->context = 0;
	decoder->values = read_value_count(c);
	if (c->bad || columns_open(&decoder->columns, c, 1, inflater) != 0)
		return false;
	decoder->left = decoder->columns.count;
	return true;
}

enum gt_totals_what totals_decoder_open(struct totals_decoder *decoder,
					struct cursor *c,
					struct inflater *inflater)
{
	uint64_t what = cursor_varint(c);

	if (what == GT_TOTALS_RUN || what == GT_TOTALS_CLASSES ||
	    what == GT_TOTALS_REST)
		return (enum gt_totals_what)what;
	if (what != GT_TOTALS_CONTEXTS ||
	    !totals_decoder_open_rows(decoder, c, inflater))
		return 0;
	return GT_TOTALS_CONTEXTS;
}

bool totals_decoder_run(struct cursor *c, struct trace_run *run)
{
	read_values(c, read_value_count(c), run->value, GT_RUN_VALUES);
	return !c->bad;
}

/* Classes with `n` values each; classes beyond the known ones are skipped. */
static void read_classes(struct cursor *c, uint64_t *values, unsigned n)
{
	uint64_t there = read_value_count(c), count = cursor_varint(c);

	if (count > GT_CLASSES)
		c->bad = true;
	for (uint64_t i = 0; i < count && !c->bad; i++) {
		uint64_t class = cursor_varint(c);

		if (class >= GT_CLASSES)
			c->bad = true;
		else
			read_values(c, there, values + class * n, n);
	}
}

bool totals_decoder_classes(struct cursor *c, struct trace_classes *classes)
{
	memset(classes, 0, sizeof(*classes));
	read_classes(c, classes->size[0], GT_SIZE_VALUES);
	read_classes(c, classes->lifetime[0], GT_LIFETIME_VALUES);
	return !c->bad;
}

bool totals_decoder_skipped(struct cursor *c, struct trace_skipped *skipped)
{
	memset(skipped, 0, sizeof(*skipped));
	read_classes(c, skipped->size[0], GT_REST_VALUES);
	return !c->bad;
}

bool totals_decoder_next(struct totals_decoder *decoder,
			 struct trace_totals *totals, bool *bad)
{
	struct cursor *row = &decoder->columns.column[0];

	if (decoder->left == 0) {
		*bad = cursor_left(row) != 0;
		return false;
	}
	DEBUG_ASSERT(decoder->left <= decoder->columns.count &&
		     decoder->values <= VALUES_MAX);
	decoder->left--;
	decoder->context += (uint32_t)cursor_zigzag(row);
	totals->context = decoder->context;
	totals->thread = (uint32_t)cursor_varint(row);
	read_values(row, decoder->values, totals->value, GT_TOTALS_VALUES);
	*bad = row->bad;
	if (*bad)
		decoder->left = 0;
	return !*bad;
}
