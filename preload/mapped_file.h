/*
 * mapped_file.h: a whole file to read, for a moment.
 */
#ifndef GNOMON_MAPPED_FILE_H
#define GNOMON_MAPPED_FILE_H

#include <stdbool.h>
#include <stdint.h>

struct mapped_file {
	const uint8_t *bytes;
	uint64_t size;		/* at least 1 */
};

/*
 * path "": the program that runs. False: no regular file with bytes in it, or
 * it cannot be read. Any thread that may open files (SECCOMP_NO_FILES), and
 * the writer.
 */
bool mapped_file_open(struct mapped_file *file, const char *path);

/* Of one that was opened. */
void mapped_file_close(const struct mapped_file *file);

#endif
