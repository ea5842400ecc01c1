/*
 * strip_marks.h: two bits for each event of a trace, by its position. There may
 * be billions of events: the bits are in a mapped temporary file, which the
 * kernel keeps in memory as far as there is room.
 */
#ifndef GNOMON_STRIP_MARKS_H
#define GNOMON_STRIP_MARKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/base/table.h"
#include "cli/trace/format/trace_format.h"

enum strip_mark {
	STRIP_DROP = 1,		/* drop the block that the event begins or
				 * ends */
	STRIP_TELL = 2		/* add an EXTRA after it: how many allocations
				 * of its thread were left out so far */
};

struct strip_marks {
	int fd;
	uint8_t **segments;	/* the file, mapped piece by piece */
	size_t segment_count;
	size_t segment_capacity;
	struct table streams;	/* (ring, generation) -> number */
	struct table pages;	/* (stream, its page) -> number */
	uint32_t page_count;
	uint64_t last_key;	/* of the page used last, */
	uint8_t *last;		/* its address; NULL: none yet */
	int error;		/* errno: no room left */
};

/* `directory`: for the temporary file. 0, or -errno. */
int strip_marks_open(struct strip_marks *marks, const char *directory);
/* The number of the stream for a ring's generation; a new one if needed. */
uint32_t strip_marks_stream(struct strip_marks *marks, uint32_t ring,
			    uint32_t generation);
/* The position of an event in its stream: chunk and index as in struct
 * repack_place. Positions are at least 16 apart. */
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
