/*
 * control_records.c: see the header. docs/FORMAT.md describes the payloads.
 * Called by the reader's thread.
 */
#include "cli/trace/decode/control_records.h"

#include <string.h>

#include "unwind/base/assertion.h"

bool control_records_next(struct cursor *c, struct trace_control *control)
{
	if (cursor_left(c) == 0)
		return false;
	control->what = (unsigned)cursor_varint(c);
	control->stamp = cursor_varint(c);
	control->number = cursor_varint(c);
	control->name_size = cursor_varint(c);
	control->name = (const char *)cursor_bytes(c, control->name_size);
	c->bad |= control->name_size > GT_NAME_MAX;
	return !c->bad;
}

bool live_decoder_open(struct live_decoder *decoder, struct cursor *c,
		       struct inflater *inflater)
{
	static const struct columns_limits limits = {
		.entry_bytes = { CURSOR_VARINT_MAX + 1, CURSOR_VARINT_MAX,
				 CURSOR_VARINT_MAX, CURSOR_VARINT_MAX,
				 CURSOR_VARINT_MAX },
	};

	memset(decoder, 0, sizeof(*decoder));
	if (columns_open_some(&decoder->columns, c, LIVE_COLUMNS, LIVE_COLUMNS,
			      &limits, inflater) != 0)
		return false;
	decoder->left = decoder->columns.count;
	return true;
}

bool live_decoder_next(struct live_decoder *decoder, struct trace_live *block,
		       bool *bad)
{
	struct cursor *column = decoder->columns.column;
	struct trace_live *last = &decoder->block;
	uint64_t place;

	*bad = false;
	if (decoder->left == 0) {
		for (unsigned i = 0; i < LIVE_COLUMNS; i++)
			*bad |= cursor_left(&column[i]) != 0;
		return false;
	}
	DEBUG_ASSERT(decoder->left <= decoder->columns.count);
	decoder->left--;
	place = cursor_varint(&column[LIVE_ADDRESS]);
	decoder->granule += (uint64_t)cursor_unzigzag(place >> 1);
	last->address = decoder->granule << 4;
	if (place & 1)
		last->address |= cursor_u8(&column[LIVE_ADDRESS]) & 15;
	last->context += (uint32_t)cursor_zigzag(&column[LIVE_CONTEXT]);
	last->size = cursor_varint(&column[LIVE_SIZE]);
	last->stamp += (uint64_t)cursor_zigzag(&column[LIVE_STAMP]);
	last->ring = (uint32_t)cursor_varint(&column[LIVE_RING]);
	*block = *last;
	for (unsigned i = 0; i < LIVE_COLUMNS; i++)
		*bad |= column[i].bad;
	if (*bad)
		decoder->left = 0;
	return !*bad;
}
