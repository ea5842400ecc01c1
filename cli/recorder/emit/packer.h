/*
 * packer.h: the compressor that compress.h uses: zstd (packer_zstd.c), or none
 * if zstd is not available for the target (packer_none.c). The writer only.
 */
#ifndef GNOMON_PACKER_H
#define GNOMON_PACKER_H

#include <stddef.h>
#include <stdint.h>

/* Whether literals are coded by their frequency. */
enum packer_literals { PACKER_AUTO, PACKER_CODED, PACKER_RAW };

struct packer_how {
	int level;		/* zstd's */
	enum packer_literals literals;
	int hash_log;		/* of the search table; 0: the level's
				 * default */
};

/* A compressor with all memory that it ever needs, from zeroed_alloc; NULL: no
 * compression. window_log: log2 of the distance it searches back. */
void *packer_new(int window_log);

/* Applies the settings `how` from now on. */
void packer_set(void *packer, const struct packer_how *how);

/* Size of the frame at `to`, which has room for n; n if it would not be
 * smaller. */
size_t packer_pack(void *packer, uint8_t *to, const uint8_t *from, size_t n);

#endif
