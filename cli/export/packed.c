/*
 * packed.c: see packed.h. Equal input gives equal files: the gzip header has
 * neither time nor name.
 */
#include "cli/export/packed.h"

#include <assert.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "cli/base/grow.h"
#include "unwind/claim.h"

#define GZIP_WINDOW (MAX_WBITS + 16)	/* zlib's flag for gzip */
#define GZIP_MEMORY 8			/* zlib's default */

static void deflate_raw(struct packed *packed, int flush)
{
	z_stream *stream = packed->gzip;

	stream->next_in = packed->raw;
	stream->avail_in = (uInt)packed->raw_size;
	do {
		stream->next_out = packed->out;
		stream->avail_out = sizeof(packed->out);
		/* Z_BUF_ERROR means nothing to do. */
		deflate(stream, flush);
		fwrite(packed->out, 1,
		       sizeof(packed->out) - stream->avail_out, packed->file);
	} while (stream->avail_out == 0);
}

static void zstd_raw(struct packed *packed, ZSTD_EndDirective end)
{
	ZSTD_inBuffer in = { packed->raw, packed->raw_size, 0 };
	size_t left;

	do {
		ZSTD_outBuffer out = { packed->out, sizeof(packed->out), 0 };

		left = ZSTD_compressStream2(packed->zstd, &out, &in, end);
		/* Cannot fail: the arguments are valid, and memory suffices. */
		assert(!ZSTD_isError(left));
		fwrite(packed->out, 1, out.pos, packed->file);
	} while (end == ZSTD_e_end ? left > 0 : in.pos < in.size);
}

static void compress_raw(struct packed *packed, bool end)
{
	if (packed->zstd != NULL)
		zstd_raw(packed, end ? ZSTD_e_end : ZSTD_e_continue);
	else if (packed->gzip != NULL)
		deflate_raw(packed, end ? Z_FINISH : Z_NO_FLUSH);
	else
		fwrite(packed->raw, 1, packed->raw_size, packed->file);
	packed->raw_size = 0;
}

void packed_flush(struct packed *packed)
{
	compress_raw(packed, false);
}

void packed_bytes(struct packed *packed, const void *bytes, size_t size)
{
	CLAIM_FULL(packed->raw_size <= sizeof(packed->raw));
	while (size > 0) {
		size_t n = sizeof(packed->raw) - packed->raw_size;

		if (n == 0) {
			packed_flush(packed);
			continue;
		}
		if (n > size)
			n = size;
		memcpy(packed->raw + packed->raw_size, bytes, n);
		packed->raw_size += n;
		bytes = (const uint8_t *)bytes + n;
		size -= n;
	}
}

static void *allocate(void *owner, unsigned count, unsigned size)
{
	(void)owner;
	return grow_zeroed(count, size);
}

static void release(void *owner, void *memory)
{
	(void)owner;
	free(memory);
}

static void begin_gzip(struct packed *packed)
{
	int status;

	packed->gzip = grow_zeroed(1, sizeof(*packed->gzip));
	packed->gzip->zalloc = allocate;
	packed->gzip->zfree = release;
	status = deflateInit2(packed->gzip, Z_DEFAULT_COMPRESSION, Z_DEFLATED,
			      GZIP_WINDOW, GZIP_MEMORY, Z_DEFAULT_STRATEGY);
	/* Cannot fail: the arguments are valid, and memory suffices. */
	assert(status == Z_OK);
	(void)status;
}

void packed_begin(struct packed *packed, FILE *file, const char *name)
{
	packed->file = file;
	packed->zstd = NULL;
	packed->gzip = NULL;
	packed->raw_size = 0;
	if (name != NULL && fnmatch("*.zst", name, 0) == 0) {
		packed->zstd = ZSTD_createCCtx();
		assert(packed->zstd != NULL);
	} else if (name != NULL && fnmatch("*.gz", name, 0) == 0) {
		begin_gzip(packed);
	}
}

void packed_end(struct packed *packed)
{
	compress_raw(packed, true);
	ZSTD_freeCCtx(packed->zstd);
	if (packed->gzip != NULL)
		deflateEnd(packed->gzip);
	free(packed->gzip);
}
