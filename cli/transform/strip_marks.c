/*
 * strip_marks.c: see the header. Two bits for 16 units of a position, in pages
 * of 512 bytes for 2048 events each. The file is mapped in segments. Their disk
 * space is reserved first: without space, access to a mapped file raises
 * SIGBUS.
 *
 * Called by the main thread.
 */
#include "cli/transform/strip_marks.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cli/base/grow.h"

#define UNIT 16			/* positions that share a mark */
#define PAGE_BYTES 512
#define PAGE_UNITS (PAGE_BYTES * 4)
#define SEGMENT_BYTES (4u << 20)
#define SEGMENT_PAGES (SEGMENT_BYTES / PAGE_BYTES)
#define PAGES_MAX (1u << 30)	/* of all streams */

int strip_marks_open(struct strip_marks *marks, const char *directory)
{
	memset(marks, 0, sizeof(*marks));
	marks->fd = open(directory, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	if (marks->fd < 0) {	/* the file system lacks O_TMPFILE */
		char *name = grow_format("%s/gnomon.XXXXXX", directory);

		marks->fd = mkostemp(name, O_CLOEXEC);
		if (marks->fd >= 0)
			unlink(name);
		free(name);
	}
	return marks->fd < 0 ? -errno : 0;
}

void strip_marks_close(struct strip_marks *marks)
{
	for (size_t i = 0; i < marks->segment_count; i++)
		munmap(marks->segments[i], SEGMENT_BYTES);
	free(marks->segments);
	table_free(&marks->streams);
	table_free(&marks->pages);
	if (marks->fd >= 0)
		close(marks->fd);
	marks->fd = -1;
}

uint32_t strip_marks_stream(struct strip_marks *marks, uint32_t ring,
			    uint32_t generation)
{
	return table_number(&marks->streams, (uint64_t)ring << 32 | generation,
			    marks->streams.used);
}

static bool add_segment(struct strip_marks *marks)
{
	off_t at = (off_t)(marks->segment_count * SEGMENT_BYTES);
	int error = posix_fallocate(marks->fd, at, SEGMENT_BYTES);
	void *segment = MAP_FAILED;

	if (error == 0) {
		segment = mmap(NULL, SEGMENT_BYTES, PROT_READ | PROT_WRITE,
			       MAP_SHARED, marks->fd, at);
		error = segment == MAP_FAILED ? errno : 0;
	}
	if (error != 0) {
		marks->error = error;
		return false;
	}
	GROW(marks->segments, marks->segment_count, marks->segment_capacity);
	marks->segments[marks->segment_count++] = segment;
	return true;
}

static uint8_t *page_at(const struct strip_marks *marks, uint32_t number)
{
	return marks->segments[number / SEGMENT_PAGES] +
	       number % SEGMENT_PAGES * PAGE_BYTES;
}

/* The page of that position. NULL: it does not exist and `make` is false, or
 * there is no room. */
static uint8_t *page_of(struct strip_marks *marks, uint32_t stream,
			uint64_t position, bool make)
{
	uint64_t page = position / UNIT / PAGE_UNITS;
	uint64_t key = (uint64_t)stream << 32 | (uint32_t)page;
	uint32_t number;

	if (marks->last != NULL && marks->last_key == key &&
	    page <= UINT32_MAX)
		return marks->last;
	number = page > UINT32_MAX ? TABLE_NONE :
		table_get(&marks->pages, key);
	if (number == TABLE_NONE) {
		if (!make || marks->error != 0)
			return NULL;
		if (marks->page_count == PAGES_MAX || page > UINT32_MAX) {
			marks->error = EFBIG;
			return NULL;
		}
		if (marks->page_count == marks->segment_count * SEGMENT_PAGES &&
		    !add_segment(marks))
			return NULL;
		number = marks->page_count++;
		table_set(&marks->pages, key, number);
	}
	marks->last_key = key;
	marks->last = page_at(marks, number);
	return marks->last;
}

void strip_marks_set(struct strip_marks *marks, uint32_t stream,
		     uint64_t position, enum strip_mark mark)
{
	uint8_t *page = page_of(marks, stream, position, true);
	unsigned unit = position / UNIT % PAGE_UNITS;

	if (page != NULL)
		page[unit / 4] |= (uint8_t)(mark << (unit % 4 * 2));
}

unsigned strip_marks_get(struct strip_marks *marks, uint32_t stream,
			 uint64_t position)
{
	const uint8_t *page = page_of(marks, stream, position, false);
	unsigned unit = position / UNIT % PAGE_UNITS;

	return page == NULL ? 0 : page[unit / 4] >> (unit % 4 * 2) & 3;
}
