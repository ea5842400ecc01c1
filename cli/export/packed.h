/*
 * packed.h: writes a file, compressed according to its name: zstd for `.zst`,
 * gzip for `.gz`, else uncompressed. Uses constant memory. Called by the main
 * thread.
 */
#ifndef GNOMON_PACKED_H
#define GNOMON_PACKED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <zlib.h>

#define PACKED_BYTES 65536

struct packed {
	FILE *file;		/* the owner checks its errors */
	struct ZSTD_CCtx_s *zstd;	/* NULL: not zstd */
	z_stream *gzip;		/* NULL: not gzip */
	size_t raw_size;
	uint8_t raw[PACKED_BYTES];	/* not compressed yet */
	uint8_t out[PACKED_BYTES];
};

/* `name`: the file's name or its suffix; NULL: standard output,
 * uncompressed. */
void packed_begin(struct packed *packed, FILE *file, const char *name);
void packed_flush(struct packed *packed);
void packed_bytes(struct packed *packed, const void *bytes, size_t size);
void packed_end(struct packed *packed);

static inline void packed_byte(struct packed *packed, uint8_t byte)
{
	if (packed->raw_size == sizeof(packed->raw))
		packed_flush(packed);
	packed->raw[packed->raw_size++] = byte;
}

#endif
