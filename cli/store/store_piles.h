/*
 * store_piles.h: piles of rows that become chunks, by threads of their own.
 * Private to the writer (store_write.c), whose one thread calls all of this.
 */
#ifndef GNOMON_STORE_PILES_H
#define GNOMON_STORE_PILES_H

#include "cli/store/store_file.h"
#include "cli/store/store_write.h"

struct store_pile {
	struct store_row *rows;		/* room for STORE_CHUNK_ROWS */
	size_t count;
	bool live;
	size_t chunk;			/* in the directory */
	struct store_pile *next;
};

struct store_piles;

/* `packers` may be 0. Chunks go to the file from `end` on, and into the
 * directory, which is borrowed: to be looked at after store_piles_wait only. */
struct store_piles *store_piles_new(int fd, unsigned packers, uint64_t end,
				    struct store_directory *directory);
void store_piles_free(struct store_piles *piles);	/* NULL is allowed */

/* An empty pile to begin with. */
struct store_pile *store_piles_take(struct store_piles *piles);
/* Give one that has rows; returns an empty one, which may take a while. */
struct store_pile *store_piles_pack(struct store_piles *piles,
				    struct store_pile *pile, bool live);
/* All that were given are packed. */
void store_piles_wait(struct store_piles *piles);
/* The first error, or 0; negative errno. */
int store_piles_error(struct store_piles *piles);
/* Where the file ends so far. */
uint64_t store_piles_end(struct store_piles *piles);

#endif
