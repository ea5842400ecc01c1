/*
 * store_write.c: see store_write.h. Rows are collected in buffers
 * (store_buffers.h), one for each chunk.
 *
 *  I1  Full chunks of ended blocks come before all other chunks, so that they
 *      can be copied in one piece: no other buffer is passed on until these are
 *      packed.
 */
#include "cli/store/store_write.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/base/grow.h"
#include "cli/base/io_full.h"
#include "cli/store/store_file.h"
#include "cli/store/store_buffers.h"
#include "cli/store/store_chunk_reader.h"
#include "unwind/base/assertion.h"

#define COPY_SIZE ((size_t)1 << 20)

struct kept_blob {
	char name[STORE_NAME_MAX + 1];
	void *bytes;
	size_t size;
};

struct store_writer {
	int fd;
	struct store_buffers *buffers;
	struct store_buffer *buffer;	/* being filled */
	struct store_directory directory;
	struct kept_blob *blobs;
	size_t blob_count, blob_capacity;
	uint64_t blob_bytes;
	uint64_t rows, live_rows;
	uint64_t last_edge;
	bool live;			/* all ended rows were added */
	bool limited;			/* a limit was exceeded */
	bool finished;
};

static struct store_writer *new_writer(int fd)
{
	struct store_writer *writer = grow_zeroed(1, sizeof(*writer));

	writer->fd = fd;
	return writer;
}

static void begin_piles(struct store_writer *writer, unsigned packers,
			uint64_t end)
{
	writer->buffers = store_buffers_new(writer->fd, packers, end,
					    &writer->directory);
	writer->buffer = store_buffers_take(writer->buffers);
}

struct store_writer *store_writer_new(int fd, unsigned packers)
{
	struct store_writer *writer = new_writer(fd);

	begin_piles(writer, packers, STORE_HEADER_SIZE);
	return writer;
}

void store_writer_free(struct store_writer *writer)
{
	if (writer == NULL)
		return;
	store_buffers_free(writer->buffers);
	if (writer->buffer != NULL)
		free(writer->buffer->rows);
	free(writer->buffer);
	store_directory_free(&writer->directory);
	for (size_t i = 0; i < writer->blob_count; i++)
		free(writer->blobs[i].bytes);
	free(writer->blobs);
	free(writer);
}

/* ---- rows ---- */

/* Ensures I1. */
static void pass_on_rest(struct store_writer *writer)
{
	if (writer->buffer->count == 0)
		return;
	store_buffers_wait(writer->buffers);
	writer->buffer = store_buffers_pack(writer->buffers, writer->buffer,
					    writer->live);
}

static void begin_live(struct store_writer *writer)
{
	pass_on_rest(writer);
	store_buffers_wait(writer->buffers);	/* I1 */
	writer->live = true;
}

void store_writer_add(struct store_writer *writer, const struct store_row *row)
{
	ASSERT(!writer->finished && row->how < STORE_HOWS);
	if (row->how == STORE_LIVE) {
		if (!writer->live)
			begin_live(writer);
		writer->live_rows++;
	} else {
		ASSERT(!writer->live && (row->end_edge > writer->last_edge ||
					 writer->rows == 0));
		writer->last_edge = row->end_edge;
	}
	writer->rows++;
	writer->buffer->rows[writer->buffer->count++] = *row;
	if (writer->buffer->count == STORE_CHUNK_ROWS)
		writer->buffer = store_buffers_pack(
			writer->buffers, writer->buffer, writer->live);
}

int store_writer_error(struct store_writer *writer)
{
	int error = store_buffers_error(writer->buffers);

	return error != 0 ? error : writer->limited ? -EFBIG : 0;
}

uint64_t store_writer_rows(const struct store_writer *writer)
{
	return writer->rows;
}

uint64_t store_writer_bytes(struct store_writer *writer)
{
	return store_buffers_end(writer->buffers);
}

/* ---- facts and blobs ---- */

void store_writer_fact(struct store_writer *writer, const char *name,
		       uint64_t value)
{
	struct store_directory *directory = &writer->directory;
	struct store_fact_entry *fact = NULL;

	ASSERT(!writer->finished && strlen(name) <= STORE_NAME_MAX);
	for (size_t i = 0; i < directory->fact_count && fact == NULL; i++)
		if (strcmp(directory->facts[i].name, name) == 0)
			fact = &directory->facts[i];
	if (fact == NULL) {
		GROW(directory->facts, directory->fact_count,
		     directory->fact_capacity);
		fact = &directory->facts[directory->fact_count++];
		*fact = (struct store_fact_entry){ 0 };
		memcpy(fact->name, name, strlen(name));
	}
	fact->value = value;
	writer->limited |= directory->fact_count > STORE_FACTS_MAX;
}

void store_writer_blob(struct store_writer *writer, const char *name,
		       const void *bytes, size_t size)
{
	struct kept_blob *blob = NULL;

	ASSERT(!writer->finished && strlen(name) <= STORE_NAME_MAX);
	for (size_t i = 0; i < writer->blob_count && blob == NULL; i++)
		if (strcmp(writer->blobs[i].name, name) == 0)
			blob = &writer->blobs[i];
	if (blob == NULL) {
		GROW(writer->blobs, writer->blob_count, writer->blob_capacity);
		blob = &writer->blobs[writer->blob_count++];
		*blob = (struct kept_blob){ 0 };
		memcpy(blob->name, name, strlen(name));
	}
	writer->blob_bytes += size - blob->size;
	free(blob->bytes);
	blob->bytes = grow_copy(bytes, size);
	blob->size = size;
	writer->limited |= writer->blob_count > STORE_BLOBS_MAX ||
			   writer->blob_bytes > STORE_BLOB_BYTES_MAX;
}

/* ---- finish ---- */

static int write_blobs(struct store_writer *writer, uint64_t *end)
{
	struct store_directory *directory = &writer->directory;
	int error = 0;

	for (size_t i = 0; i < writer->blob_count && error == 0; i++) {
		const struct kept_blob *kept = &writer->blobs[i];
		struct store_blob_entry *blob;

		GROW(directory->blobs, directory->blob_count,
		     directory->blob_capacity);
		blob = &directory->blobs[directory->blob_count++];
		*blob = (struct store_blob_entry){
			.offset = *end, .size = kept->size,
			.checksum = store_checksum(kept->bytes, kept->size,
						   *end),
		};
		memcpy(blob->name, kept->name, sizeof(blob->name));
		error = io_full_write_at(writer->fd, kept->bytes, kept->size,
					 *end);
		*end += kept->size;
	}
	return error;
}

static int write_directory(struct store_writer *writer,
			   struct store_header *header, uint64_t end)
{
	LOCAL_BUFFER bytes = { 0 };

	store_directory_put(&bytes, &writer->directory);
	if (bytes.size > STORE_DIRECTORY_MAX)
		return -EFBIG;
	header->directory_offset = end;
	header->directory_size = bytes.size;
	header->directory_checksum = store_checksum(bytes.data, bytes.size,
						    end);
	header->file_size = end + bytes.size;
	return io_full_write_at(writer->fd, bytes.data, bytes.size, end);
}

/* All other data is on the disk: a reader that finds a header finds
 * everything. */
static int write_header(struct store_writer *writer,
			const struct store_header *header)
{
	LOCAL_BUFFER bytes = { 0 };
	int error;

	if (fdatasync(writer->fd) != 0)
		return -errno;
	store_header_put(&bytes, header);
	error = io_full_write_at(writer->fd, bytes.data, bytes.size, 0);
	if (error == 0 && fsync(writer->fd) != 0)
		error = -errno;
	return error;
}

int store_writer_finish(struct store_writer *writer,
			const struct store_key *key)
{
	struct store_header header = {
		.key = *key, .rows = writer->rows,
		.live_rows = writer->live_rows,
	};
	uint64_t end;
	int error;

	ASSERT(!writer->finished);
	writer->finished = true;
	pass_on_rest(writer);
	store_buffers_wait(writer->buffers);
	writer->limited |= writer->rows > STORE_ROWS_MAX ||
		writer->directory.chunk_count > STORE_CHUNKS_MAX ||
		store_directory_edges(&writer->directory) >
			STORE_EDGES(writer->rows);
	error = store_writer_error(writer);
	end = store_buffers_end(writer->buffers);
	if (error == 0)
		error = write_blobs(writer, &end);
	if (error == 0)
		error = write_directory(writer, &header, end);
	if (error == 0)
		error = write_header(writer, &header);
	return error;
}

/* ---- extending ---- */

/* How many full chunks of these rows come first, and where they end. */
static size_t count_full(const struct store *older, uint64_t ended,
			 uint64_t *end)
{
	const struct store_directory *directory = &older->directory;
	size_t count = 0;

	*end = STORE_HEADER_SIZE;
	while (count < directory->chunk_count) {
		const struct store_chunk *chunk = &directory->chunks[count];
		uint64_t behind = chunk->offset + store_chunk_bytes(chunk);

		if (chunk->live || chunk->rows < STORE_CHUNK_ROWS ||
		    (count + 1) * STORE_CHUNK_ROWS > ended)
			break;
		if (behind > *end)
			*end = behind;
		count++;
	}
	return count;
}

static int copy_plainly(int from, int to, uint64_t at, uint64_t end)
{
	char *bytes = grow_alloc(COPY_SIZE);
	int error = 0;

	while (at < end && error == 0) {
		size_t size = end - at < COPY_SIZE ? (size_t)(end - at) :
						     COPY_SIZE;
		ssize_t got = io_full_read_at(from, bytes, size, at);

		if (got != (ssize_t)size)
			error = got < 0 ? (int)got : -EBADMSG;
		else
			error = io_full_write_at(to, bytes, size, at);
		at += size;
	}
	free(bytes);
	return error;
}

/* Copies the bytes after the header, up to `end`, to the same offset.
 * copy_file_range does not work between all file systems. */
static int copy_chunks(int from, int to, uint64_t end)
{
	off_t in = STORE_HEADER_SIZE, out = STORE_HEADER_SIZE;

	while ((uint64_t)in < end) {
		ssize_t n = copy_file_range(from, &in, to, &out,
					    end - (uint64_t)in, 0);

		if (n <= 0)
			return copy_plainly(from, to, (uint64_t)in, end);
	}
	return 0;
}

static struct store_row make_row(const uint64_t *const values[STORE_STORED],
				 size_t i)
{
	return (struct store_row){
		.begin = values[STORE_BEGIN][i],
		.end = values[STORE_END][i],
		.alloc_edge = values[STORE_ALLOC_EDGE][i],
		.end_edge = values[STORE_END_EDGE][i],
		.address = values[STORE_ADDRESS][i],
		.size = values[STORE_SIZE][i],
		.between = values[STORE_BETWEEN][i],
		.thread = (uint32_t)values[STORE_THREAD][i],
		.node = (uint32_t)values[STORE_NODE][i],
		.end_thread = (uint32_t)values[STORE_END_THREAD][i],
		.end_node = (uint32_t)values[STORE_END_NODE][i],
		.chain = (uint32_t)values[STORE_CHAIN][i],
		.place = (uint32_t)values[STORE_PLACE][i],
		.layout = (uint16_t)values[STORE_LAYOUT][i],
		.how = (uint8_t)values[STORE_HOW][i],
		.flags = (uint8_t)values[STORE_FLAGS][i],
	};
}

/* False for rows that a writer would never have stored. */
static bool is_ended_row(const struct store_writer *writer,
			 const struct store_row *row)
{
	return row->how != STORE_LIVE && row->how < STORE_HOWS &&
	       (row->end_edge > writer->last_edge || writer->rows == 0);
}

static int add_block(struct store_writer *writer,
		     struct store_chunk_reader *reading, size_t block,
		     uint64_t ended)
{
	const uint64_t *values[STORE_STORED];
	int error;

	for (unsigned i = 0; i < STORE_STORED; i++) {
		values[i] =
			store_chunk_reader_values(reading, i, block, &error);
		if (values[i] == NULL)
			return error;
	}
	for (size_t i = 0; i < store_chunk_reader_rows(reading, block) &&
	     writer->rows < ended; i++) {
		struct store_row row = make_row(values, i);

		if (!is_ended_row(writer, &row))
			return -EBADMSG;
		store_writer_add(writer, &row);
	}
	return 0;
}

/* Adds ended rows that are not in the copied chunks. */
static int add_rest(struct store_writer *writer, struct store *older,
		    size_t chunk, uint64_t ended)
{
	struct store_chunk_reader *reading = store_chunk_reader_new(older, 0);
	const struct store_directory *directory = &older->directory;
	int error = 0;

	for (; chunk < directory->chunk_count && writer->rows < ended &&
	       !directory->chunks[chunk].live && error == 0; chunk++) {
		store_chunk_reader_go(reading, &directory->chunks[chunk]);
		for (size_t b = 0; b * STORE_BLOCK <
		     directory->chunks[chunk].rows && error == 0; b++)
			error = add_block(writer, reading, b, ended);
	}
	store_chunk_reader_free(reading);
	return error != 0 || writer->rows == ended ? error : -EBADMSG;
}

static void take_chunks(struct store_writer *writer,
			const struct store_chunk *chunks, size_t count)
{
	struct store_directory *directory = &writer->directory;

	if (count == 0)
		return;
	directory->chunks = grow_resize(NULL, count,
					sizeof(*directory->chunks));
	memcpy(directory->chunks, chunks, count * sizeof(*directory->chunks));
	directory->chunk_count = directory->chunk_capacity = count;
	writer->rows = count * STORE_CHUNK_ROWS;
	writer->last_edge = directory->chunks[count - 1]
		.parts[STORE_END_EDGE].bounds.max;
}

/* Adds the other rows: full chunks up to `end` are already in the file. */
static struct store_writer *go_on(struct store_writer *writer,
				  unsigned packers, struct store *older,
				  uint64_t ended, uint64_t end, int *error)
{
	size_t count = writer->directory.chunk_count;

	begin_piles(writer, packers, end);
	if (*error == 0)
		*error = add_rest(writer, older, count, ended);
	if (*error == 0)
		return writer;
	store_writer_free(writer);
	return NULL;
}

struct store_writer *store_writer_extend(int fd, unsigned packers,
					 struct store *older, uint64_t ended,
					 int *error)
{
	struct store_writer *writer = new_writer(fd);
	uint64_t end;
	size_t count = count_full(older, ended, &end);

	take_chunks(writer, older->directory.chunks, count);
	*error = copy_chunks(older->fd, fd, end);
	return go_on(writer, packers, older, ended, end, error);
}

/* ---- branches ---- */

struct store_writer *store_writer_branch(struct store_writer *writer, int fd,
					 unsigned packers)
{
	struct store_writer *branch = new_writer(fd);

	ASSERT(!writer->live && !writer->finished);
	store_buffers_wait(writer->buffers);
	take_chunks(branch, writer->directory.chunks,
		    writer->directory.chunk_count);
	begin_piles(branch, packers, store_buffers_end(writer->buffers));
	for (size_t i = 0; i < writer->buffer->count; i++)
		store_writer_add(branch, &writer->buffer->rows[i]);
	ASSERT(branch->rows == writer->rows);
	return branch;
}

/* 0: the file has all bytes up to `end`, and was truncated there. */
static int cut_off(int fd, uint64_t end)
{
	struct stat status;

	if (fstat(fd, &status) != 0)
		return -errno;
	if ((uint64_t)status.st_size < end && end > STORE_HEADER_SIZE)
		return -EBADMSG;
	return ftruncate(fd, (off_t)end) == 0 ? 0 : -errno;
}

struct store_writer *store_writer_resume(int fd, unsigned packers,
					 struct store *branch, int *error)
{
	struct store_writer *writer = new_writer(fd);
	uint64_t ended = store_rows(branch) - store_live_rows(branch);
	uint64_t end;
	size_t count = count_full(branch, ended, &end);

	take_chunks(writer, branch->directory.chunks, count);
	*error = cut_off(fd, end);
	return go_on(writer, packers, branch, ended, end, error);
}
