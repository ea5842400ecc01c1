/*
 * source.h: a file as a window of bytes that moves forward. Works for regular
 * files, pipes, and bytes that the caller feeds. A file that is still written
 * is read up to its size at opening, or (`growing`) at the last source_peek.
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
	uint64_t file_size;	/* 0: unknown */
	uint64_t got;		/* bytes read so far */
	bool regular;
	bool growing;		/* more bytes may be appended */
	int error;		/* errno of a read that failed, else 0 */
	bool at_end;
	uint8_t *buffer;
	size_t capacity;
	size_t step;		/* bytes that the next read is to take */
	size_t end;
};

/* Takes over `fd`. */
void source_open(struct source *source, int fd);
/* For bytes that the caller feeds; `growing` until source_end. */
void source_open_fed(struct source *source);
void source_feed(struct source *source, const void *bytes, size_t size);
/* Update the size of a growing file, which may have grown or shrunk. Returns
 * it. */
uint64_t source_peek(struct source *source);
/* Move the window back to `offset`, not after its end; the bytes are read
 * again. */
void source_rewind(struct source *source, uint64_t offset);
/* The source grows no more. */
void source_end(struct source *source);
/* Make the window at least `size` bytes long, unless the file (or the part of
 * it that exists so far) is shorter. Returns `available`. */
size_t source_fill(struct source *source, size_t size);
void source_skip(struct source *source, size_t size);	/* <= available */
void source_close(struct source *source);

/* The window lies in the buffer and in the bytes read. With
 * GNOMON_DEBUG_ASSERTS. */
bool source_is_valid(const struct source *source);

#endif
