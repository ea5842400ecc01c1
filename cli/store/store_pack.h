/*
 * store_pack.h: compresses a column of a chunk to words (store_format.h), with
 * the encoding that gives the fewest.
 */
#ifndef GNOMON_STORE_PACK_H
#define GNOMON_STORE_PACK_H

#include "cli/store/store_format.h"

struct store_packer;

/* Memory for compression, 2 MiB; for one thread at a time. Never NULL. */
struct store_packer *store_packer_new(void);
void store_packer_free(struct store_packer *packer);	/* NULL is allowed */

/*
 * Compresses `count` numbers, 1 … STORE_CHUNK_ROWS. *words is valid until the
 * next call. Returns how many words.
 */
size_t store_pack(struct store_packer *packer, const uint64_t *numbers,
		  size_t count, const uint64_t **words);

#endif
