/*
 * packer.h: the compressor behind compress.h: zstd (packer_zstd.c), or, where
 * there is none for the target, nothing (packer_none.c). The writer only.
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
	int hash_log;		/* of the search's table; 0: as the level has it */
};

/* The compressor, with all memory that it ever needs, from zeroed_alloc; NULL:
 * nothing can be compressed. window_log: how far back it looks. */
void *packer_new(int window_log);

/* From now on as `how` says. */
void packer_set(void *packer, const struct packer_how *how);

/* Size of the frame at `to`, which has room for n; n if it would not be
 * smaller. */
size_t packer_pack(void *packer, uint8_t *to, const uint8_t *from, size_t n);

#endif
