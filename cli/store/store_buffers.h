/*
 * store_buffers.h: buffers of rows, which threads compress to chunks. Private
 * to the writer (store_write.c); only its thread calls these functions.
 */
#ifndef GNOMON_STORE_BUFFERS_H
#define GNOMON_STORE_BUFFERS_H

#include "cli/store/store_file.h"
#include "cli/store/store_write.h"

struct store_buffer {
	struct store_row *rows;		/* room for STORE_CHUNK_ROWS */
	size_t count;
	bool live;
	size_t chunk;			/* index in the directory */
	struct store_buffer *next;
};

struct store_buffers;

/* `packers` may be 0. Chunks are written to the file from `end` on, and added
 * to the directory, which is borrowed: read it only after
 * store_buffers_wait. */
struct store_buffers *store_buffers_new(int fd, unsigned packers, uint64_t end,
					struct store_directory *directory);
void store_buffers_free(struct store_buffers *buffers);	/* NULL is allowed */

/* An empty buffer to begin with. */
struct store_buffer *store_buffers_take(struct store_buffers *buffers);
/* Passes on a buffer that has rows; returns an empty one, possibly after
 * waiting. */
struct store_buffer *store_buffers_pack(struct store_buffers *buffers,
					struct store_buffer *buffer, bool live);
/* Waits until all buffers are compressed. */
void store_buffers_wait(struct store_buffers *buffers);
/* The first error as a negative errno, or 0. */
int store_buffers_error(struct store_buffers *buffers);
/* The current end of the file. */
uint64_t store_buffers_end(struct store_buffers *buffers);

#endif
