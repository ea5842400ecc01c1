/*
 * source.c: buffered reading. A trace is read with read(), not mapped:
 * truncation of a mapped file would kill the reader by SIGBUS. It is read only
 * up to its initial size: a program may write its trace faster than we read it.
 */
#include "cli/trace/decode/source.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/base/grow.h"
#include "unwind/base/assertion.h"

/* Reads grow: of many traces only the first bytes are needed. */
#define READ_BYTES_FIRST (1u << 14)
#define READ_BYTES_MAX (1u << 20)

void source_open(struct source *source, int fd)
{
	struct stat status;

	memset(source, 0, sizeof(*source));
	source->fd = fd;
	source->step = READ_BYTES_FIRST;
	if (fstat(fd, &status) == 0 && S_ISREG(status.st_mode)) {
		source->regular = true;
		source->file_size = (uint64_t)status.st_size;
	}
}

void source_open_fed(struct source *source)
{
	memset(source, 0, sizeof(*source));
	source->fd = -1;
	source->step = READ_BYTES_FIRST;
	source->growing = true;
}

#ifdef GNOMON_DEBUG_ASSERTS
bool source_is_valid(const struct source *source)
{
	if (source->buffer == NULL)
		return source->available == 0 && source->got == 0;
	return source->data >= source->buffer &&
	       source->data + source->available ==
		       source->buffer + source->end &&
	       source->end <= source->capacity &&
	       source->offset + source->available == source->got;
}
#endif

static void make_room(struct source *source, size_t size)
{
	size_t begin = (size_t)(source->data - source->buffer);

	if (source->buffer == NULL)
		begin = 0;
	if (source->capacity - begin >= size + source->step)
		return;
	if (begin > 0)
		memmove(source->buffer, source->buffer + begin,
			source->available);
	if (source->capacity < size + source->step) {
		source->capacity = size + 2 * source->step;
		source->buffer = grow_resize(source->buffer, source->capacity,
					     1);
	}
	source->data = source->buffer;
	source->end = source->available;
	assert(source->end <= source->capacity);
	assert(source->capacity - source->end >= source->step);
}

/* `size` more bytes are after the window. */
static void take(struct source *source, size_t size)
{
	source->got += size;
	source->end += size;
	source->available += size;
	assert(source->end <= source->capacity);
}

void source_feed(struct source *source, const void *bytes, size_t size)
{
	assert(source->fd < 0 && source->growing);
	if (size == 0)
		return;
	make_room(source, source->available + size);
	memcpy(source->buffer + source->end, bytes, size);
	take(source, size);
	DEBUG_ASSERT(source_is_valid(source));
}

uint64_t source_peek(struct source *source)
{
	struct stat status;

	if (!source->regular || fstat(source->fd, &status) != 0)
		return source->file_size;
	/* if it shrank, bytes already read have to be read again */
	if ((uint64_t)status.st_size > source->got)
		source->file_size = (uint64_t)status.st_size;
	return (uint64_t)status.st_size;
}

void source_rewind(struct source *source, uint64_t offset)
{
	uint64_t size = source_peek(source);

	assert(source->regular);
	if (offset > size)
		offset = size;
	if (lseek(source->fd, (off_t)offset, SEEK_SET) < 0) {
		source->error = errno;
		source->at_end = true;
		return;
	}
	source->file_size = size;
	source->data = source->buffer;
	source->available = source->end = 0;
	source->offset = source->got = offset;
	source->at_end = source->error != 0;
	DEBUG_ASSERT(source_is_valid(source));
}

void source_end(struct source *source)
{
	source->growing = false;
}

size_t source_fill(struct source *source, size_t size)
{
	while (source->available < size && !source->at_end) {
		ssize_t n;
		size_t room;

		if (source->fd < 0) {
			source->at_end = !source->growing;
			break;
		}
		make_room(source, size);
		room = source->capacity - source->end;
		if (source->regular && room > source->file_size - source->got)
			room = source->file_size - source->got;
		n = room > 0 ? read(source->fd, source->buffer + source->end,
				    room) : 0;
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			source->error = n < 0 ? errno : 0;
			source->at_end = n < 0 || !source->growing;
			break;
		}
		if (source->step < READ_BYTES_MAX)
			source->step *= 4;
		assert((size_t)n <= room);
		take(source, (size_t)n);
		assert(!source->regular || source->got <= source->file_size);
	}
	DEBUG_ASSERT(source->available >= size || source->at_end ||
		     source->growing);
	DEBUG_ASSERT(source_is_valid(source));
	return source->available;
}

void source_skip(struct source *source, size_t size)
{
	assert(size <= source->available);
	source->data += size;
	source->available -= size;
	source->offset += size;
	DEBUG_ASSERT(source_is_valid(source));
}

void source_close(struct source *source)
{
	if (source->fd >= 0)
		close(source->fd);
	free(source->buffer);
	memset(source, 0, sizeof(*source));
	source->fd = -1;
}
