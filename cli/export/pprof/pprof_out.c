/*
 * pprof_out.c: see pprof_out.h. The same messages are the same bytes: gzip's
 * header has no time and no name here.
 */
#include "cli/export/pprof/pprof_out.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/grow.h"
#include "unwind/claim.h"

#define GZIP_WINDOW (MAX_WBITS + 16)	/* zlib's way to ask for gzip */
#define GZIP_MEMORY 8			/* zlib's default */

static void compress_raw(struct pprof_out *out, int flush)
{
	z_stream *stream = &out->stream;

	stream->next_in = out->raw;
	stream->avail_in = (uInt)out->raw_size;
	do {
		stream->next_out = out->packed;
		stream->avail_out = sizeof(out->packed);
		/* Z_BUF_ERROR: there was nothing to do. */
		deflate(stream, flush);
		fwrite(out->packed, 1,
		       sizeof(out->packed) - stream->avail_out, out->file);
	} while (stream->avail_out == 0);
	out->raw_size = 0;
}

static void append(ProtobufCBuffer *sink, size_t size, const uint8_t *bytes)
{
	struct pprof_out *out = (struct pprof_out *)sink;

	CLAIM_FULL(out->raw_size < sizeof(out->raw));
	while (size > 0) {
		size_t n = sizeof(out->raw) - out->raw_size;

		if (n > size)
			n = size;
		memcpy(out->raw + out->raw_size, bytes, n);
		out->raw_size += n;
		bytes += n;
		size -= n;
		if (out->raw_size == sizeof(out->raw))
			compress_raw(out, Z_NO_FLUSH);
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

void pprof_out_begin(struct pprof_out *out, FILE *file)
{
	int status;

	memset(&out->stream, 0, sizeof(out->stream));
	out->stream.zalloc = allocate;
	out->stream.zfree = release;
	out->sink.append = append;
	out->file = file;
	out->raw_size = 0;
	status = deflateInit2(&out->stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED,
			      GZIP_WINDOW, GZIP_MEMORY, Z_DEFAULT_STRATEGY);
	/* The arguments are right, and there is memory. */
	assert(status == Z_OK);
	(void)status;
}

void pprof_out_message(struct pprof_out *out, const ProtobufCMessage *message)
{
	protobuf_c_message_pack_to_buffer(message, &out->sink);
}

void pprof_out_end(struct pprof_out *out)
{
	compress_raw(out, Z_FINISH);
	deflateEnd(&out->stream);
}
