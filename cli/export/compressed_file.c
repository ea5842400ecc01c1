/*
 * compressed_file.c: see compressed_file.h. Equal input gives equal files: the
 * gzip header has neither time nor name.
 */
#include "cli/export/compressed_file.h"

#include <assert.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "cli/base/grow.h"
#include "unwind/base/assertion.h"

#define GZIP_WINDOW (MAX_WBITS + 16)	/* zlib's flag for gzip */
#define GZIP_MEMORY 8			/* zlib's default */

static void deflate_raw(struct compressed_file *compressed, int flush)
{
	z_stream *stream = compressed->gzip;

	stream->next_in = compressed->raw;
	stream->avail_in = (uInt)compressed->raw_size;
	do {
		stream->next_out = compressed->out;
		stream->avail_out = sizeof(compressed->out);
		/* Z_BUF_ERROR means nothing to do. */
		deflate(stream, flush);
		fwrite(compressed->out, 1,
		       sizeof(compressed->out) - stream->avail_out,
		       compressed->file);
	} while (stream->avail_out == 0);
}

static void zstd_raw(struct compressed_file *compressed, ZSTD_EndDirective end)
{
	ZSTD_inBuffer in = { compressed->raw, compressed->raw_size, 0 };
	size_t left;

	do {
		ZSTD_outBuffer out = { compressed->out, sizeof(compressed->out),
				       0 };

		left = ZSTD_compressStream2(compressed->zstd, &out, &in, end);
		/* Cannot fail: the arguments are valid, and memory suffices. */
		assert(!ZSTD_isError(left));
		fwrite(compressed->out, 1, out.pos, compressed->file);
	} while (end == ZSTD_e_end ? left > 0 : in.pos < in.size);
}

static void compress_raw(struct compressed_file *compressed, bool end)
{
	if (compressed->zstd != NULL)
		zstd_raw(compressed, end ? ZSTD_e_end : ZSTD_e_continue);
	else if (compressed->gzip != NULL)
		deflate_raw(compressed, end ? Z_FINISH : Z_NO_FLUSH);
	else
		fwrite(compressed->raw, 1, compressed->raw_size,
		       compressed->file);
	compressed->raw_size = 0;
}

void compressed_file_flush(struct compressed_file *compressed)
{
	compress_raw(compressed, false);
}

void compressed_file_bytes(struct compressed_file *compressed,
			   const void *bytes, size_t size)
{
	DEBUG_ASSERT(compressed->raw_size <= sizeof(compressed->raw));
	while (size > 0) {
		size_t n = sizeof(compressed->raw) - compressed->raw_size;

		if (n == 0) {
			compressed_file_flush(compressed);
			continue;
		}
		if (n > size)
			n = size;
		memcpy(compressed->raw + compressed->raw_size, bytes, n);
		compressed->raw_size += n;
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

static void begin_gzip(struct compressed_file *compressed)
{
	int status;

	compressed->gzip = grow_zeroed(1, sizeof(*compressed->gzip));
	compressed->gzip->zalloc = allocate;
	compressed->gzip->zfree = release;
	status = deflateInit2(compressed->gzip, Z_DEFAULT_COMPRESSION,
			      Z_DEFLATED, GZIP_WINDOW, GZIP_MEMORY,
			      Z_DEFAULT_STRATEGY);
	/* Cannot fail: the arguments are valid, and memory suffices. */
	assert(status == Z_OK);
	(void)status;
}

void compressed_file_begin(struct compressed_file *compressed, FILE *file,
			   const char *name)
{
	compressed->file = file;
	compressed->zstd = NULL;
	compressed->gzip = NULL;
	compressed->raw_size = 0;
	if (name != NULL && fnmatch("*.zst", name, 0) == 0) {
		compressed->zstd = ZSTD_createCCtx();
		assert(compressed->zstd != NULL);
	} else if (name != NULL && fnmatch("*.gz", name, 0) == 0) {
		begin_gzip(compressed);
	}
}

void compressed_file_end(struct compressed_file *compressed)
{
	compress_raw(compressed, true);
	ZSTD_freeCCtx(compressed->zstd);
	if (compressed->gzip != NULL)
		deflateEnd(compressed->gzip);
	free(compressed->gzip);
}
