/*
 * source.h: a file as a window of bytes that moves forward. Regular files and
 * pipes alike; a file that grows meanwhile is read to where it ended when
 * it was opened, or (`growing`) when it was looked at last. Or bytes that
 * somebody feeds it with, as they come.
 */
#ifndef GNOMON_SOURCE_H
#define GNOMON_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct source {
	int fd;
	const uint8_t *data;	/* the window */
	size_t available;	/* bytes in it */
	uint64_t offset;	/* of the window in the file */
	uint64_t file_size;	/* 0 where it is not known */
	uint64_t got;		/* bytes read so far */
	bool regular;
	bool growing;		/* more may come behind what is there */
	int error;		/* errno of a read that failed, else 0 */
	bool at_end;
	uint8_t *buffer;
	size_t capacity;
	size_t step;		/* bytes that the next read is to take */
	size_t end;
};

/* Takes over `fd`. */
void source_open(struct source *source, int fd);
/* For bytes that are fed; `growing` until source_end. */
void source_open_fed(struct source *source);
void source_feed(struct source *source, const void *bytes, size_t size);
/* A growing file may be longer by now, or shorter. Its size. */
uint64_t source_look(struct source *source);
/* The window begins there, and all of it is read anew. Not beyond its end. */
void source_rewind(struct source *source, uint64_t offset);
/* It grows no more. */
void source_end(struct source *source);
/* Make the window at least `size` bytes long; the end of the file may come
 * first, or of what there is by now. Returns `available`. */
size_t source_fill(struct source *source, size_t size);
void source_skip(struct source *source, size_t size);	/* <= available */
void source_close(struct source *source);

/* The window lies in the buffer, and in what was read. With GNOMON_CLAIMS. */
bool source_is_valid(const struct source *source);

#endif
