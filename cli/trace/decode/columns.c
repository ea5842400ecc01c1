/*
 * columns.c: see columns.h. Called by the reader's thread. Sizes in a frame are
 * only limits: zstd never gets more room than GT_PAYLOAD_MAX, and a frame that
 * does not fill its room exactly is an error.
 *
 *  I1  No column points into a payload. The payload of a chunk compressed as a
 *      whole lies in the inflater, which the next such chunk reuses; another
 *      ring's chunk may be opened while this one is being decoded.
 *  I2  Memory for columns is allocated only after all sizes in the payload are
 *      consistent and within the limits.
 */
#include "cli/trace/decode/columns.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "cli/base/grow.h"
#include "cli/trace/format/trace_format.h"
#include "unwind/base/assertion.h"

static int inflate(struct inflater *inflater, void *to, size_t raw,
		   const void *from, size_t stored)
{
	if (inflater->zstd == NULL)
		inflater->zstd = ZSTD_createDCtx();
	if (inflater->zstd == NULL)
		return -ENOMEM;
	if (ZSTD_decompressDCtx(inflater->zstd, to, raw, from, stored) != raw)
		return -EBADMSG;
	return 0;
}

static void make_room(uint8_t **buffer, size_t *capacity, size_t size)
{
	if (*capacity >= size)
		return;
	free(*buffer);
	*buffer = grow_alloc(size);
	*capacity = size;
}

int inflater_payload(struct inflater *inflater, const struct chunk *chunk,
		     struct cursor *payload)
{
	int error;

	if (!(chunk->flags & GT_COMPRESSED)) {
		*payload = cursor_over(chunk->payload, chunk->stored);
		return 0;
	}
	if (chunk->raw > GT_PAYLOAD_MAX)
		return -EBADMSG;
	make_room(&inflater->buffer, &inflater->capacity, chunk->raw);
	error = inflate(inflater, inflater->buffer, chunk->raw,
			chunk->payload, chunk->stored);
	*payload = cursor_over(inflater->buffer, error ? 0 : chunk->raw);
	return error;
}

void inflater_free(struct inflater *inflater)
{
	ZSTD_freeDCtx(inflater->zstd);
	free(inflater->buffer);
	memset(inflater, 0, sizeof(*inflater));
}

/* Positions and sizes of the columns in the payload. */
struct layout {
	const uint8_t *bytes[COLUMNS_MAX];
	uint64_t raw[COLUMNS_MAX], stored[COLUMNS_MAX];
	size_t room;		/* for all of them */
};

static bool column_fits(const struct layout *layout, unsigned i,
			uint64_t count, const struct columns_limits *limits)
{
	unsigned max = limits ? limits->entry_bytes[i] : 0;

	if (layout->raw[i] > GT_PAYLOAD_MAX ||
	    layout->stored[i] > layout->raw[i])
		return false;
	/* Each entry takes at least one byte of the first column. */
	if (i == 0 && count > layout->raw[0])
		return false;
	return max == 0 || layout->raw[i] <= max * count;
}

/* The columns of the payload, up to `n`; -EBADMSG: fewer than `min`. */
static int read_layout(struct layout *layout, struct cursor *payload,
		       uint64_t count, unsigned min, unsigned n,
		       const struct columns_limits *limits)
{
	if (limits != NULL && limits->entries > 0 && count > limits->entries)
		return -EBADMSG;
	for (unsigned i = 0; i < n; i++) {
		if (i >= min && cursor_left(payload) == 0)
			return 0;
		layout->raw[i] = cursor_varint(payload);
		layout->stored[i] = cursor_varint(payload);
		layout->bytes[i] = cursor_bytes(payload, layout->stored[i]);
		if (payload->bad || !column_fits(layout, i, count, limits))
			return -EBADMSG;
		layout->room += layout->raw[i];
	}
	return 0;
}

int columns_open_some(struct columns *columns, struct cursor *payload,
		      unsigned min, unsigned n,
		      const struct columns_limits *limits,
		      struct inflater *inflater)
{
	struct layout layout = { .room = 0 };
	uint8_t *to;
	int error;

	columns->count = cursor_varint(payload);
	if (min > n || n > COLUMNS_MAX)
		return -EINVAL;
	error = read_layout(&layout, payload, columns->count, min, n,
			    limits);
	if (error != 0)
		return error;
	DEBUG_ASSERT(layout.room <= (size_t)n * GT_PAYLOAD_MAX);
	make_room(&columns->buffer, &columns->capacity,
		  layout.room + COLUMNS_PAD);
	to = columns->buffer;
	for (unsigned i = 0; i < n; i++) {
		size_t raw = layout.raw[i];

		DEBUG_ASSERT((size_t)(to - columns->buffer) + raw <=
			     columns->capacity);
		if (layout.stored[i] < raw)
			error = inflate(inflater, to, raw, layout.bytes[i],
					layout.stored[i]);
		else if (raw > 0)
			memcpy(to, layout.bytes[i], raw);
		if (error != 0)
			return -EBADMSG;
		/* not cursor_over: an empty column must be followed by bytes,
		 * too */
		columns->column[i] = (struct cursor){ to, to + raw, false };
		to += raw;
	}
	DEBUG_ASSERT((size_t)(to - columns->buffer) == layout.room);	/* I2 */
	memset(to, 0, COLUMNS_PAD);
	return 0;
}

void columns_free(struct columns *columns)
{
	free(columns->buffer);
	memset(columns, 0, sizeof(*columns));
}
