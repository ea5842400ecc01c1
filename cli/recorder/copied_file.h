/*
 * copied_file.h: parts of a file to read, for a moment. They are copies, each
 * at its place in memory that belongs to nobody else: a file that is mapped may
 * be shortened by anyone at any time, and who reads there is killed by SIGBUS.
 */
#ifndef GNOMON_COPIED_FILE_H
#define GNOMON_COPIED_FILE_H

#include <stdbool.h>
#include <stdint.h>

#include "preload/base/base.h"

/* Of one file; what would be more is not read. */
#define COPIED_FILE_MAX (UINT64_C(256) << 20)

struct copied_file {
	uint8_t *bytes;		/* zeroes where nothing was copied */
	uint64_t size;		/* as it was when opened; at least 1 */
	uint64_t left;		/* how much may still be copied */
	int fd;			/* -1: all of it is there */
};

/*
 * False: no regular file with bytes in it, or it cannot be read.
 */
bool copied_file_open(struct copied_file *file, const char *path);

/*
 * These bytes, copied now; NULL: the file has not all of them. A part that
 * overlaps an earlier one changes that if the file has changed, so what bounds
 * anything is to be kept elsewhere before the next part is asked for.
 */
const void *copied_file_part(struct copied_file *file, uint64_t offset,
			     uint64_t size);

/* Of one that was opened. */
void copied_file_close(const struct copied_file *file);

#endif
