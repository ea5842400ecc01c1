/*
 * strip_marks.h: two bits for each event of a trace, by its place there.
 * There may be billions: they are kept in a temporary file, of which the kernel
 * holds in memory what it has room for.
 */
#ifndef GNOMON_STRIP_MARKS_H
#define GNOMON_STRIP_MARKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/base/table.h"
#include "cli/trace/format/trace_format.h"

enum strip_mark {
	STRIP_DROP = 1,		/* what the event begins, or ends, goes */
	STRIP_TELL = 2		/* say behind it how many allocations of its
				 * thread were left out so far */
};

struct strip_marks {
	int fd;
	uint8_t **segments;	/* the file, mapped piece by piece */
	size_t segment_count;
	size_t segment_capacity;
	struct table streams;	/* ring, generation -> number */
	struct table pages;	/* stream, page of it -> number */
	uint32_t page_count;
	uint64_t last_key;	/* of the page used last, */
	uint8_t *last;		/* and where it is; NULL: none yet */
	int error;		/* errno: no room any more */
};

/* `directory`: where the temporary file may be. 0, or -errno. */
int strip_marks_open(struct strip_marks *marks, const char *directory);
/* The stream of a generation of a ring, by number, made if it is new. */
uint32_t strip_marks_stream(struct strip_marks *marks, uint32_t ring,
			    uint32_t generation);
/* The position of an event in its stream: chunk and index as struct repack_place
 * has them. No two are less than 16 apart. */
static inline uint64_t strip_marks_position(uint64_t chunk, uint64_t index)
{
	return (chunk * GT_EVENTS_MAX + index) * 16;
}
void strip_marks_set(struct strip_marks *marks, uint32_t stream,
		     uint64_t position, enum strip_mark mark);
unsigned strip_marks_get(struct strip_marks *marks, uint32_t stream,
			 uint64_t position);
void strip_marks_close(struct strip_marks *marks);

#endif
