/*
 * store.c: see store.h: opens an index, returns facts without reading rows,
 * reads bytes. Any thread, once it is open.
 */
#include "cli/store/store.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/base/grow.h"
#include "cli/base/io_full.h"
#include "cli/store/store_file.h"
#include "unwind/base/assertion.h"

static enum store_state read_header(struct store *store)
{
	uint8_t bytes[STORE_HEADER_SIZE];
	struct stat file;
	ssize_t size;

	if (fstat(store->fd, &file) != 0)
		return STORE_UNREADABLE;
	if (!S_ISREG(file.st_mode))
		return STORE_FOREIGN;
	size = io_full_read_at(store->fd, bytes, sizeof(bytes), 0);
	if (size < 0) {
		errno = (int)-size;
		return STORE_UNREADABLE;
	}
	return store_header_get(&store->header, bytes, (size_t)size,
				(uint64_t)file.st_size);
}

static enum store_state read_directory(struct store *store)
{
	const struct store_header *header = &store->header;
	uint8_t *bytes = grow_alloc(header->directory_size);
	ssize_t size = io_full_read_at(store->fd, bytes, header->directory_size,
				       header->directory_offset);
	bool good = size == (ssize_t)header->directory_size &&
		store_checksum(bytes, (size_t)size,
			       header->directory_offset) ==
			header->directory_checksum &&
		store_directory_get(&store->directory, bytes, (size_t)size,
				    header->directory_offset) &&
		store_directory_rows(&store->directory, true) ==
			header->live_rows &&
		store_directory_rows(&store->directory, false) ==
			header->rows - header->live_rows;

	free(bytes);
	if (size < 0) {
		errno = (int)-size;
		return STORE_UNREADABLE;
	}
	return good ? STORE_GOOD : STORE_DAMAGED;
}

enum store_state store_open(int fd, const char *name, struct notes *notes,
			    struct store **store)
{
	struct store *new = grow_alloc(sizeof(*new));
	enum store_state state;
	int error;

	*new = (struct store){
		.fd = fd, .name = grow_copy(name, strlen(name)),
		.notes = notes,
	};
	*store = NULL;
	state = read_header(new);
	if (state == STORE_GOOD)
		state = read_directory(new);
	if (state == STORE_GOOD) {
		*store = new;
		return state;
	}
	error = errno;
	store_close(new);
	errno = error;
	return state;
}

void store_close(struct store *store)
{
	if (store == NULL)
		return;
	close(store->fd);	/* it was only read */
	store_directory_free(&store->directory);
	free(store->name);
	free(store);
}

const char *store_state_text(enum store_state state)
{
	static const char *const texts[] = {
		[STORE_GOOD] = "is good",
		[STORE_UNFINISHED] = "is not finished",
		[STORE_OLDER] = "is of an older format",
		[STORE_NEWER] = "is of a newer format",
		[STORE_FOREIGN] = "is no index that this machine can read",
		[STORE_DAMAGED] = "is damaged",
		[STORE_UNREADABLE] = "cannot be read",
	};

	ASSERT(state < sizeof(texts) / sizeof(*texts));
	return texts[state];
}

int store_note_damage(struct store *store, uint64_t offset)
{
	notes_error(store->notes, "%s: damaged at byte %llu", store->name,
		    (unsigned long long)offset);
	return -EBADMSG;
}

int store_read(struct store *store, uint64_t offset, void *to, size_t size,
	       uint64_t checksum)
{
	ssize_t got = io_full_read_at(store->fd, to, size, offset);

	if (got < 0) {
		notes_error(store->notes, "%s: cannot read at byte %llu: %s",
			    store->name, (unsigned long long)offset,
			    strerror((int)-got));
		return (int)got;
	}
	if ((size_t)got < size ||
	    store_checksum(to, size, offset) != checksum)
		return store_note_damage(store, offset);
	return 0;
}

/* ---- accessors ---- */

const struct store_key *store_key(const struct store *store)
{
	return &store->header.key;
}

const char *store_name(const struct store *store)
{
	return store->name;
}

int store_file(const struct store *store)
{
	return store->fd;
}

uint64_t store_rows(const struct store *store)
{
	return store->header.rows;
}

uint64_t store_live_rows(const struct store *store)
{
	return store->header.live_rows;
}

uint64_t store_bytes(const struct store *store)
{
	return store->header.file_size;
}

size_t store_chunks(const struct store *store)
{
	return store->directory.chunk_count;
}

bool store_bounds(const struct store *store, enum store_column column,
		  uint64_t *min, uint64_t *max)
{
	const struct store_directory *directory = &store->directory;
	bool found = false;

	ASSERT(column < STORE_ROW);
	*min = UINT64_MAX;
	*max = 0;
	for (size_t i = 0; i < directory->chunk_count; i++) {
		const struct store_chunk *chunk = &directory->chunks[i];
		struct store_range bounds = store_chunk_bounds(chunk, column);

		if (column == STORE_LIFETIME && chunk->live)
			continue;
		found = true;
		if (bounds.min < *min)
			*min = bounds.min;
		if (bounds.max > *max)
			*max = bounds.max;
	}
	return found;
}

uint64_t store_column_bytes(const struct store *store,
			    enum store_column column)
{
	uint64_t size = 0;

	ASSERT(column < STORE_STORED);
	for (size_t i = 0; i < store->directory.chunk_count; i++)
		size += store->directory.chunks[i].parts[column].size;
	return size;
}

bool store_fact(const struct store *store, const char *name, uint64_t *value)
{
	const struct store_directory *directory = &store->directory;

	for (size_t i = 0; i < directory->fact_count; i++) {
		if (strcmp(directory->facts[i].name, name) != 0)
			continue;
		*value = directory->facts[i].value;
		return true;
	}
	return false;
}

void *store_blob(struct store *store, const char *name, size_t *size)
{
	const struct store_directory *directory = &store->directory;

	for (size_t i = 0; i < directory->blob_count; i++) {
		const struct store_blob_entry *blob = &directory->blobs[i];
		void *bytes;

		if (strcmp(blob->name, name) != 0)
			continue;
		bytes = grow_alloc(blob->size);
		*size = blob->size;
		if (store_read(store, blob->offset, bytes, blob->size,
			       blob->checksum) == 0)
			return bytes;
		free(bytes);
		return NULL;
	}
	return NULL;
}
