/*
 * store_file.h: the header and the directory of an index file, as structs and
 * as bytes. Private to the store.
 */
#ifndef GNOMON_STORE_FILE_H
#define GNOMON_STORE_FILE_H

#include "cli/base/text/buffer.h"
#include "cli/store/store_format.h"
#include "cli/store/store_write.h"

/*
 * A stored column of a chunk. Its words follow those of the previous column.
 * For ended blocks STORE_BEGIN and STORE_ALLOC_EDGE are stored as differences
 * to STORE_END and STORE_END_EDGE; `bounds` are those of the values.
 */
struct store_part {
	uint32_t size;		/* in bytes, a multiple of 8; 0: all values are
				 * bounds.min */
	uint64_t checksum;	/* of its words */
	struct store_range bounds;
};

struct store_chunk {
	uint64_t offset;	/* in the file */
	uint64_t first_row;
	uint32_t rows;
	bool live;
	struct store_part parts[STORE_STORED];
	/* Of STORE_LIFETIME (with live rows 0 … UINT64_MAX) and
	 * STORE_USABLE. */
	struct store_range derived[STORE_DERIVED];
};

struct store_fact_entry {
	char name[STORE_NAME_MAX + 1];
	uint64_t value;
};

struct store_blob_entry {
	char name[STORE_NAME_MAX + 1];
	uint64_t offset, size, checksum;
};

/* Zero it first. */
struct store_directory {
	struct store_chunk *chunks;	/* live ones last */
	size_t chunk_count, chunk_capacity;
	struct store_fact_entry *facts;
	size_t fact_count, fact_capacity;
	struct store_blob_entry *blobs;
	size_t blob_count, blob_capacity;
};

struct store_header {
	struct store_key key;
	uint64_t directory_offset, directory_size, directory_checksum;
	uint64_t file_size;
	uint64_t rows, live_rows;
};

/* Includes the offset, so that no part of a file can replace another. */
uint64_t store_checksum(const void *bytes, size_t size, uint64_t offset);

/* STORE_HEADER_SIZE bytes. */
void store_header_put(struct buffer *bytes, const struct store_header *header);
/* The state of a file of this size that begins with these bytes; `size` of
 * them, at most STORE_HEADER_SIZE. */
enum store_state store_header_get(struct store_header *header,
				  const uint8_t *bytes, size_t size,
				  uint64_t file_size);

void store_directory_put(struct buffer *bytes,
			 const struct store_directory *directory);
/* False: invalid. Otherwise all offsets in it are between the header and `end`,
 * and edges are fewer than STORE_EDGES. To be freed in any case. */
bool store_directory_get(struct store_directory *directory,
			 const uint8_t *bytes, size_t size, uint64_t end);
void store_directory_free(struct store_directory *directory);

/* Whether a column is stored as differences. */
static inline bool store_is_difference(enum store_column column, bool live)
{
	return !live && (column == STORE_BEGIN || column == STORE_ALLOC_EDGE);
}

/* Whether a column always has words: differences, and numbers of edges, so that
 * the size of the file bounds their count. */
static inline bool store_has_words(enum store_column column, bool live)
{
	return store_is_difference(column, live) || column == STORE_ALLOC_EDGE;
}

/* Sums over chunks. */
uint64_t store_directory_rows(const struct store_directory *directory,
			      bool live);
/* One more than the number of the last edge. */
uint64_t store_directory_edges(const struct store_directory *directory);
/* Bytes of all columns of a chunk. */
uint64_t store_chunk_bytes(const struct store_chunk *chunk);
/* Bounds of a stored or a derived column; for STORE_ROW, the row numbers. */
struct store_range store_chunk_bounds(const struct store_chunk *chunk,
				      enum store_column column);

/* ---- an open file ---- */

struct store {
	int fd;
	char *name;
	struct notes *notes;
	struct store_header header;
	struct store_directory directory;
};

/* Reads all of these bytes. 0, -errno, or -EBADMSG: the file is too short, or
 * the checksum differs. Errors are noted. */
int store_read(struct store *store, uint64_t offset, void *to, size_t size,
	       uint64_t checksum);
/* Notes damage at the offset; returns -EBADMSG. */
int store_note_damage(struct store *store, uint64_t offset);

#endif
