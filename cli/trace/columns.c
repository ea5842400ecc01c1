/*
 * columns.c: see columns.h. Called by the reader's thread. The sizes that a
 * frame claims are limits: zstd is never given more room than GT_PAYLOAD_MAX,
 * and a frame that does not fill its room exactly is refused.
 */
#include "cli/trace/columns.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "cli/base/grow.h"
#include "preload/format.h"

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

int columns_open_some(struct columns *columns, struct cursor *payload,
		      unsigned least, unsigned n, struct inflater *inflater)
{
	const uint8_t *bytes[COLUMNS_MAX];
	uint64_t raw[COLUMNS_MAX], stored[COLUMNS_MAX];
	size_t room = 0, used = 0;

	columns->count = cursor_varint(payload);
	if (least > n || n > COLUMNS_MAX)
		return -EINVAL;
	for (unsigned i = 0; i < n; i++) {
		if (i >= least && cursor_left(payload) == 0) {
			for (; n > i; n--)
				columns->column[n - 1] = cursor_over(NULL, 0);
			break;
		}
		raw[i] = cursor_varint(payload);
		stored[i] = cursor_varint(payload);
		bytes[i] = cursor_bytes(payload, stored[i]);
		if (payload->bad || raw[i] > GT_PAYLOAD_MAX ||
		    stored[i] > raw[i])
			return -EBADMSG;
		if (stored[i] < raw[i])
			room += raw[i];
	}
	make_room(&columns->buffer, &columns->capacity, room);
	for (unsigned i = 0; i < n; i++) {
		if (stored[i] == raw[i]) {
			columns->column[i] = cursor_over(bytes[i], raw[i]);
			continue;
		}
		if (inflate(inflater, columns->buffer + used, raw[i],
			    bytes[i], stored[i]) != 0)
			return -EBADMSG;
		columns->column[i] = cursor_over(columns->buffer + used,
						 raw[i]);
		used += raw[i];
	}
	/* Each entry takes at least one byte of the first column. */
	return columns->count <= raw[0] ? 0 : -EBADMSG;
}

void columns_free(struct columns *columns)
{
	free(columns->buffer);
	memset(columns, 0, sizeof(*columns));
}
