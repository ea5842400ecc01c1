/*
 * compressed_file.h: writes a file, compressed according to its name: zstd for
 * `.zst`, gzip for `.gz`, else uncompressed. Uses constant memory. Called by
 * the main thread.
 */
#ifndef GNOMON_COMPRESSED_FILE_H
#define GNOMON_COMPRESSED_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <zlib.h>

#define COMPRESSED_FILE_BYTES 65536

struct compressed_file {
	FILE *file;		/* the owner checks its errors */
	struct ZSTD_CCtx_s *zstd;	/* NULL: not zstd */
	z_stream *gzip;		/* NULL: not gzip */
	size_t raw_size;
	uint8_t raw[COMPRESSED_FILE_BYTES];	/* not compressed yet */
	uint8_t out[COMPRESSED_FILE_BYTES];
};

/* `name`: the file's name or its suffix; NULL: standard output,
 * uncompressed. */
void compressed_file_begin(struct compressed_file *compressed, FILE *file,
			   const char *name);
void compressed_file_flush(struct compressed_file *compressed);
void compressed_file_bytes(struct compressed_file *compressed,
			   const void *bytes, size_t size);
void compressed_file_end(struct compressed_file *compressed);

static inline void compressed_file_byte(struct compressed_file *compressed,
					uint8_t byte)
{
	if (compressed->raw_size == sizeof(compressed->raw))
		compressed_file_flush(compressed);
	compressed->raw[compressed->raw_size++] = byte;
}

#endif
