/*
 * compressor.h: the compressor that compress.h uses: zstd (compressor_zstd.c),
 * or none if zstd is not available for the target (compressor_none.c). The
 * recorder only.
 */
#ifndef GNOMON_COMPRESSOR_H
#define GNOMON_COMPRESSOR_H

#include <stddef.h>
#include <stdint.h>

/* Whether literals are coded by their frequency. */
enum compressor_literals { COMPRESSOR_AUTO, COMPRESSOR_CODED, COMPRESSOR_RAW };

struct compressor_how {
	int level;		/* zstd's */
	enum compressor_literals literals;
	int hash_log;		/* of the search table; 0: the level's
				 * default */
};

/* A compressor with all memory that it ever needs, from zeroed_alloc; NULL: no
 * compression. window_log: log2 of the distance it searches back. */
void *compressor_new(int window_log);

/* Applies the settings `how` from now on. */
void compressor_set(void *compressor, const struct compressor_how *how);

/* Size of the frame at `to`, which has room for n; n if it would not be
 * smaller. */
size_t compressor_pack(void *compressor, uint8_t *to, const uint8_t *from,
		       size_t n);

#endif
