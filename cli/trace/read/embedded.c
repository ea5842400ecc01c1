/*
 * embedded.c: see the header. A piece counts only if it begins where the one
 * before ended, and agrees with it about the file. So a file that is read back
 * has no holes.
 *
 *  I1  pieces[i].offset is the sum of the sizes before; `got` is the sum of
 *      all.
 *
 * Called by any thread, each list by one at a time. Each call reads the bytes
 * through a descriptor of its own.
 */
#include "cli/trace/read/embedded.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cli/base/grow.h"
#include "cli/base/io_full.h"
#include "cli/trace/decode/scan.h"
#include "unwind/base/assertion.h"

#define FILES_MAX 65536		/* a reader's limit */

static struct embedded_file *file_of(struct embedded *list,
				     const struct trace_file *piece)
{
	uint32_t i = table_get(&list->by_number, piece->number);
	struct embedded_file *file;

	DEBUG_ASSERT(i == TABLE_NONE || i < list->count);
	if (i != TABLE_NONE)
		return &list->files[i];
	if (list->count == FILES_MAX || piece->offset != 0)
		return NULL;
	GROW(list->files, list->count, list->capacity);
	table_set(&list->by_number, piece->number, (uint32_t)list->count);
	file = &list->files[list->count++];
	memset(file, 0, sizeof(*file));
	file->number = piece->number;
	file->kind = piece->kind;
	file->size = piece->size;
	file->path = grow_copy(piece->path, piece->path_size);
	file->build_id_size = piece->build_id_size;
	DEBUG_ASSERT(piece->build_id_size <= sizeof(file->build_id));
	if (piece->build_id_size > 0)
		memcpy(file->build_id, piece->build_id, piece->build_id_size);
	return file;
}

void embedded_add(struct embedded *list, const struct trace_file *piece,
		  uint64_t at)
{
	struct embedded_file *file = file_of(list, piece);

	if (file == NULL || piece->size != file->size ||
	    piece->kind != file->kind || piece->offset != file->got ||
	    (piece->piece_size == 0 && file->size > 0)) {
		list->refused++;
		return;
	}
	GROW(file->pieces, file->piece_count, file->piece_capacity);
	file->pieces[file->piece_count++] = (struct embedded_piece){
		at, piece->offset, (uint32_t)piece->piece_size
	};
	DEBUG_ASSERT(file->pieces[0].offset == 0);	/* I1 */
	file->got += piece->piece_size;
	DEBUG_ASSERT(file->got >= piece->offset);
	DEBUG_ASSERT(file->got <= file->size);
}

void embedded_free(struct embedded *list)
{
	for (size_t i = 0; i < list->count; i++) {
		free(list->files[i].path);
		free(list->files[i].pieces);
	}
	free(list->files);
	table_free(&list->by_number);
	memset(list, 0, sizeof(*list));
}

static bool fits(const struct embedded_file *file, const uint8_t *build_id,
		 size_t build_id_size, const char *path)
{
	if (file->got != file->size || file->build_id_size != build_id_size ||
	    (file->kind != GT_FILE_DEBUG && file->kind != GT_FILE_FULL))
		return false;
	if (build_id_size == 0)
		return path != NULL && strcmp(file->path, path) == 0;
	return memcmp(file->build_id, build_id, build_id_size) == 0;
}

size_t embedded_find(const struct embedded *list, const uint8_t *build_id,
		     size_t build_id_size, const char *path)
{
	size_t found = EMBEDDED_NONE;

	for (size_t i = 0; i < list->count; i++)
		if (fits(&list->files[i], build_id, build_id_size, path) &&
		    (found == EMBEDDED_NONE ||
		     list->files[i].kind == GT_FILE_DEBUG))
			found = i;
	return found;
}

/* ---- the bytes ---- */

struct piece_reader {
	int fd;
	uint64_t trace_id;
	struct inflater inflater;
	struct columns columns;
	uint8_t *chunk;		/* GT_CHUNK_SIZE + GT_PAYLOAD_MAX at most */
	size_t capacity;
};

static int open_trace(struct piece_reader *reader, const char *trace)
{
	struct scan scan;
	enum scan_open_result result;
	int fd = open(trace, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

	if (fd < 0)
		return -errno;
	reader->fd = dup(fd);
	result = scan_open(&scan, fd);
	if (result != SCAN_OPEN_OK || scan.trace_id != reader->trace_id ||
	    !scan.source.regular) {
		scan_close(&scan);
		return -ESTALE;
	}
	scan_close(&scan);
	return reader->fd < 0 ? -EMFILE : 0;
}

static int read_piece(struct piece_reader *reader,
		      const struct embedded_file *file,
		      const struct embedded_piece *piece,
		      const uint8_t **bytes)
{
	struct trace_file record;
	struct chunk chunk;
	struct cursor c;

	if (!scan_chunk_at(reader->fd, reader->trace_id, piece->at,
			   &reader->chunk, &reader->capacity, &chunk) ||
	    chunk.type != GT_FILE ||
	    inflater_payload(&reader->inflater, &chunk, &c) != 0 ||
	    !file_records_file(&c, &record) ||
	    record.number != file->number || record.offset != piece->offset ||
	    record.piece_size != piece->size ||
	    !file_records_bytes(&c, &record, &reader->columns,
				&reader->inflater, bytes))
		return -EBADMSG;
	return 0;
}

int embedded_read(const struct embedded *list, size_t index,
		  const char *trace, uint64_t trace_id,
		  int (*take)(void *owner, const uint8_t *bytes, size_t size),
		  void *owner)
{
	const struct embedded_file *file = &list->files[index];
	struct piece_reader reader = { .fd = -1, .trace_id = trace_id };
	int error = open_trace(&reader, trace);

	assert(index < list->count);
	if (error == 0 && file->got != file->size)
		error = -EBADMSG;
	for (size_t i = 0; i < file->piece_count && error == 0; i++) {
		const uint8_t *bytes;

		error = read_piece(&reader, file, &file->pieces[i], &bytes);
		if (error == 0)
			error = take(owner, bytes, file->pieces[i].size);
	}
	if (reader.fd >= 0)
		close(reader.fd);
	columns_free(&reader.columns);
	inflater_free(&reader.inflater);
	free(reader.chunk);
	return error;
}

static int write_piece(void *owner, const uint8_t *bytes, size_t size)
{
	return io_full_write(*(int *)owner, bytes, size);
}

int embedded_open(const struct embedded *list, size_t index,
		  const char *trace, uint64_t trace_id)
{
	int fd, error;

	assert(index < list->count);
	if (list->files[index].size > EMBEDDED_OPEN_MAX)
		return -EFBIG;
	fd = memfd_create("embedded", MFD_CLOEXEC);
	if (fd < 0)
		return -errno;
	error = embedded_read(list, index, trace, trace_id, write_piece, &fd);
	if (error == 0 && lseek(fd, 0, SEEK_SET) != 0)
		error = -errno;
	if (error == 0)
		return fd;
	close(fd);
	return error;
}
