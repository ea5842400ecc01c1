/*
 * packed.h: bytes on their way to a file, compressed as the file's name says:
 * `.zst` as zstd does, `.gz` as gzip does, all others not at all. In constant
 * memory. Called by the main thread.
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
	FILE *file;		/* its errors are its owner's to look at */
	struct ZSTD_CCtx_s *zstd;	/* NULL: no .zst */
	z_stream *gzip;		/* NULL: no .gz */
	size_t raw_size;
	uint8_t raw[PACKED_BYTES];	/* not compressed yet */
	uint8_t out[PACKED_BYTES];
};

/* `name`: of the file, or its end; NULL: of standard output, without one. */
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
