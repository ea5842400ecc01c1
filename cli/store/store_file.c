/*
 * store_file.c: see store_file.h. Any thread, each its own structures.
 */
#include "cli/store/store_file.h"

#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "cli/base/grow.h"
#include "cli/trace/decode/cursor.h"
#include "unwind/base/assertion.h"

#define CHECKSUM_SIZE 8

uint64_t store_checksum(const void *bytes, size_t size, uint64_t offset)
{
	return XXH3_64bits_withSeed(bytes, size, offset);
}

/* ---- the header ---- */

void store_header_put(struct buffer *bytes, const struct store_header *header)
{
	const uint64_t order = STORE_ORDER_WORD;
	size_t start = bytes->size;

	buffer_add(bytes, STORE_MAGIC, STORE_MAGIC_SIZE);
	buffer_little(bytes, STORE_VERSION, 4);
	buffer_little(bytes, STORE_HEADER_SIZE, 4);
	buffer_add(bytes, (const char *)&order, sizeof(order));
	buffer_little(bytes, header->key.trace_id, 8);
	buffer_little(bytes, header->key.prefix_bytes, 8);
	buffer_little(bytes, header->key.options, 8);
	buffer_little(bytes, header->key.maker, 4);
	buffer_little(bytes, header->key.trace_version, 4);
	buffer_little(bytes, header->directory_offset, 8);
	buffer_little(bytes, header->directory_size, 8);
	buffer_little(bytes, header->directory_checksum, 8);
	buffer_little(bytes, header->file_size, 8);
	buffer_little(bytes, header->rows, 8);
	buffer_little(bytes, header->live_rows, 8);
	while (bytes->size - start < STORE_HEADER_SIZE - CHECKSUM_SIZE)
		buffer_little(bytes, 0, 8);
	buffer_little(bytes, store_checksum(bytes->data + start,
					    bytes->size - start, 0), 8);
	ASSERT(bytes->size - start == STORE_HEADER_SIZE);
}

/* The state of a file by its first bytes, which all versions have. */
static enum store_state look_at_head(struct cursor *c)
{
	static const uint8_t nothing[STORE_MAGIC_SIZE];
	const uint8_t *magic = cursor_bytes(c, STORE_MAGIC_SIZE);
	const uint64_t order = STORE_ORDER_WORD;
	const uint8_t *word;
	uint32_t version;

	if (magic == NULL || memcmp(magic, nothing, sizeof(nothing)) == 0)
		return STORE_UNFINISHED;
	if (memcmp(magic, STORE_MAGIC, STORE_MAGIC_SIZE) != 0)
		return STORE_FOREIGN;
	version = cursor_u32(c);
	cursor_u32(c);		/* size of the header: given by the version */
	word = cursor_bytes(c, sizeof(order));
	if (word == NULL)
		return STORE_DAMAGED;
	if (version != STORE_VERSION)
		return version < STORE_VERSION ? STORE_OLDER : STORE_NEWER;
	return memcmp(word, &order, sizeof(order)) == 0 ? STORE_GOOD :
							  STORE_FOREIGN;
}

static void get_numbers(struct store_header *header, struct cursor *c)
{
	header->key.trace_id = cursor_u64(c);
	header->key.prefix_bytes = cursor_u64(c);
	header->key.options = cursor_u64(c);
	header->key.maker = cursor_u32(c);
	header->key.trace_version = cursor_u32(c);
	header->directory_offset = cursor_u64(c);
	header->directory_size = cursor_u64(c);
	header->directory_checksum = cursor_u64(c);
	header->file_size = cursor_u64(c);
	header->rows = cursor_u64(c);
	header->live_rows = cursor_u64(c);
}

enum store_state store_header_get(struct store_header *header,
				  const uint8_t *bytes, size_t size,
				  uint64_t file_size)
{
	struct cursor c = cursor_over(bytes, size);
	enum store_state state = look_at_head(&c);
	struct cursor sum;

	*header = (struct store_header){ 0 };
	if (state != STORE_GOOD)
		return state;
	if (size < STORE_HEADER_SIZE)
		return STORE_DAMAGED;
	get_numbers(header, &c);
	sum = cursor_over(bytes + STORE_HEADER_SIZE - CHECKSUM_SIZE,
			  CHECKSUM_SIZE);
	if (cursor_u64(&sum) != store_checksum(bytes, STORE_HEADER_SIZE -
					       CHECKSUM_SIZE, 0) ||
	    header->file_size != file_size ||
	    header->directory_size > STORE_DIRECTORY_MAX ||
	    header->directory_offset < STORE_HEADER_SIZE ||
	    header->directory_offset > file_size ||
	    header->directory_size != file_size - header->directory_offset)
		return STORE_DAMAGED;
	return STORE_GOOD;
}

/* ---- the directory ---- */

static void put_range(struct buffer *bytes, const struct store_range *range)
{
	buffer_little(bytes, range->min, 8);
	buffer_little(bytes, range->max, 8);
}

static void put_chunk(struct buffer *bytes, const struct store_chunk *chunk)
{
	buffer_little(bytes, chunk->offset, 8);
	buffer_little(bytes, chunk->rows, 4);
	buffer_little(bytes, chunk->live ? STORE_CHUNK_LIVE : 0, 4);
	for (unsigned i = 0; i < STORE_STORED; i++) {
		buffer_little(bytes, chunk->parts[i].size, 4);
		buffer_little(bytes, chunk->parts[i].checksum, 8);
		put_range(bytes, &chunk->parts[i].bounds);
	}
	for (unsigned i = 0; i < STORE_DERIVED; i++)
		put_range(bytes, &chunk->derived[i]);
}

static void put_name(struct buffer *bytes, const char *name)
{
	size_t size = strlen(name);

	buffer_little(bytes, size, 1);
	buffer_add(bytes, name, size);
}

void store_directory_put(struct buffer *bytes,
			 const struct store_directory *directory)
{
	buffer_little(bytes, directory->chunk_count, 4);
	buffer_little(bytes, directory->fact_count, 4);
	buffer_little(bytes, directory->blob_count, 4);
	for (size_t i = 0; i < directory->chunk_count; i++)
		put_chunk(bytes, &directory->chunks[i]);
	for (size_t i = 0; i < directory->fact_count; i++) {
		put_name(bytes, directory->facts[i].name);
		buffer_little(bytes, directory->facts[i].value, 8);
	}
	for (size_t i = 0; i < directory->blob_count; i++) {
		put_name(bytes, directory->blobs[i].name);
		buffer_little(bytes, directory->blobs[i].offset, 8);
		buffer_little(bytes, directory->blobs[i].size, 8);
		buffer_little(bytes, directory->blobs[i].checksum, 8);
	}
}

static bool get_range(struct cursor *c, struct store_range *range)
{
	range->min = cursor_u64(c);
	range->max = cursor_u64(c);
	return range->min <= range->max;
}

static bool lies_within(uint64_t offset, uint64_t size, uint64_t end)
{
	return offset >= STORE_HEADER_SIZE && offset <= end &&
	       size <= end - offset;
}

static bool get_chunk(struct cursor *c, struct store_chunk *chunk,
		      uint64_t end)
{
	bool good = true;
	uint32_t flags;

	chunk->offset = cursor_u64(c);
	chunk->rows = cursor_u32(c);
	flags = cursor_u32(c);
	chunk->live = flags & STORE_CHUNK_LIVE;
	for (unsigned i = 0; i < STORE_STORED; i++) {
		struct store_part *part = &chunk->parts[i];

		part->size = cursor_u32(c);
		part->checksum = cursor_u64(c);
		good &= get_range(c, &part->bounds) &&
			part->size % sizeof(uint64_t) == 0 &&
			part->size <= STORE_COLUMN_MAX &&
			(part->size > 0 ||
			 (part->bounds.min == part->bounds.max &&
			  !store_has_words(i, chunk->live)));
	}
	for (unsigned i = 0; i < STORE_DERIVED; i++)
		good &= get_range(c, &chunk->derived[i]);
	return good && !c->bad && flags <= STORE_CHUNK_LIVE &&
	       chunk->rows > 0 && chunk->rows <= STORE_CHUNK_ROWS &&
	       lies_within(chunk->offset, store_chunk_bytes(chunk), end);
}

/* Rows are numbered consecutively, and live ones come last. */
static bool get_chunks(struct cursor *c, struct store_directory *directory,
		       size_t count, uint64_t end)
{
	uint64_t rows = 0;
	bool live = false;

	for (size_t i = 0; i < count; i++) {
		struct store_chunk *chunk;

		GROW(directory->chunks, directory->chunk_count,
		     directory->chunk_capacity);
		chunk = &directory->chunks[directory->chunk_count++];
		if (!get_chunk(c, chunk, end) || (live && !chunk->live))
			return false;
		live = chunk->live;
		chunk->first_row = rows;
		rows += chunk->rows;
	}
	return true;
}

static bool get_name(struct cursor *c, char name[STORE_NAME_MAX + 1])
{
	uint8_t size = cursor_u8(c);
	const uint8_t *bytes = cursor_bytes(c, size);

	if (bytes == NULL || size > STORE_NAME_MAX ||
	    memchr(bytes, 0, size) != NULL)
		return false;
	memcpy(name, bytes, size);
	name[size] = 0;
	return true;
}

static bool get_fact(struct cursor *c, struct store_directory *directory)
{
	struct store_fact_entry *fact;

	GROW(directory->facts, directory->fact_count,
	     directory->fact_capacity);
	fact = &directory->facts[directory->fact_count++];
	*fact = (struct store_fact_entry){ 0 };
	if (!get_name(c, fact->name))
		return false;
	fact->value = cursor_u64(c);
	return !c->bad;
}

static bool get_blob(struct cursor *c, struct store_directory *directory,
		     uint64_t end)
{
	struct store_blob_entry *blob;

	GROW(directory->blobs, directory->blob_count,
	     directory->blob_capacity);
	blob = &directory->blobs[directory->blob_count++];
	*blob = (struct store_blob_entry){ 0 };
	if (!get_name(c, blob->name))
		return false;
	blob->offset = cursor_u64(c);
	blob->size = cursor_u64(c);
	blob->checksum = cursor_u64(c);
	return !c->bad && blob->size <= STORE_BLOB_BYTES_MAX &&
	       lies_within(blob->offset, blob->size, end);
}

bool store_directory_get(struct store_directory *directory,
			 const uint8_t *bytes, size_t size, uint64_t end)
{
	struct cursor c = cursor_over(bytes, size);
	uint32_t chunks = cursor_u32(&c), facts = cursor_u32(&c),
		 blobs = cursor_u32(&c);

	if (chunks > STORE_CHUNKS_MAX || facts > STORE_FACTS_MAX ||
	    blobs > STORE_BLOBS_MAX || !get_chunks(&c, directory, chunks, end))
		return false;
	for (uint32_t i = 0; i < facts; i++)
		if (!get_fact(&c, directory))
			return false;
	for (uint32_t i = 0; i < blobs; i++)
		if (!get_blob(&c, directory, end))
			return false;
	return !c.bad && cursor_left(&c) == 0 &&
	       store_directory_edges(directory) <=
		       STORE_EDGES(store_directory_rows(directory, false) +
				   store_directory_rows(directory, true));
}

void store_directory_free(struct store_directory *directory)
{
	free(directory->chunks);
	free(directory->facts);
	free(directory->blobs);
	*directory = (struct store_directory){ 0 };
}

uint64_t store_directory_rows(const struct store_directory *directory,
			      bool live)
{
	uint64_t rows = 0;

	for (size_t i = 0; i < directory->chunk_count; i++)
		if (directory->chunks[i].live == live)
			rows += directory->chunks[i].rows;
	return rows;
}

uint64_t store_directory_edges(const struct store_directory *directory)
{
	uint64_t last = 0;

	for (size_t i = 0; i < directory->chunk_count; i++) {
		const struct store_part *parts = directory->chunks[i].parts;

		if (parts[STORE_ALLOC_EDGE].bounds.max > last)
			last = parts[STORE_ALLOC_EDGE].bounds.max;
		if (!directory->chunks[i].live &&
		    parts[STORE_END_EDGE].bounds.max > last)
			last = parts[STORE_END_EDGE].bounds.max;
	}
	return last == UINT64_MAX ? last : last + 1;
}

uint64_t store_chunk_bytes(const struct store_chunk *chunk)
{
	uint64_t size = 0;

	for (unsigned i = 0; i < STORE_STORED; i++)
		size += chunk->parts[i].size;
	return size;
}

struct store_range store_chunk_bounds(const struct store_chunk *chunk,
				      enum store_column column)
{
	ASSERT(column < STORE_COLUMNS);
	if (column < STORE_STORED)
		return chunk->parts[column].bounds;
	if (column == STORE_ROW)
		return (struct store_range){
			chunk->first_row, chunk->first_row + chunk->rows - 1
		};
	return chunk->derived[column - STORE_STORED];
}
