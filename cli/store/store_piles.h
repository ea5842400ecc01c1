/*
 * store_piles.h: piles of rows, which threads compress to chunks. Private to
 * the writer (store_write.c); only its thread calls these functions.
 */
#ifndef GNOMON_STORE_PILES_H
#define GNOMON_STORE_PILES_H

#include "cli/store/store_file.h"
#include "cli/store/store_write.h"

struct store_pile {
	struct store_row *rows;		/* room for STORE_CHUNK_ROWS */
	size_t count;
	bool live;
	size_t chunk;			/* index in the directory */
	struct store_pile *next;
};

struct store_piles;

/* `packers` may be 0. Chunks are written to the file from `end` on, and added
 * to the directory, which is borrowed: read it only after store_piles_wait. */
struct store_piles *store_piles_new(int fd, unsigned packers, uint64_t end,
				    struct store_directory *directory);
void store_piles_free(struct store_piles *piles);	/* NULL is allowed */

/* An empty pile to begin with. */
struct store_pile *store_piles_take(struct store_piles *piles);
/* Passes on a pile that has rows; returns an empty one, possibly after
 * waiting. */
struct store_pile *store_piles_pack(struct store_piles *piles,
				    struct store_pile *pile, bool live);
/* Waits until all piles are compressed. */
void store_piles_wait(struct store_piles *piles);
/* The first error as a negative errno, or 0. */
int store_piles_error(struct store_piles *piles);
/* The current end of the file. */
uint64_t store_piles_end(struct store_piles *piles);

#endif
