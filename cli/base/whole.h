/*
 * whole.h: reads and writes in full, despite partial or interrupted system
 * calls.
 */
#ifndef GNOMON_WHOLE_H
#define GNOMON_WHOLE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Return the number of bytes, fewer than `size` only at the file's end; or
 * -errno. */
ssize_t whole_read(int fd, void *to, size_t size);
ssize_t whole_read_at(int fd, void *to, size_t size, uint64_t offset);

/* 0 or -errno; on error some bytes may have been written. */
int whole_write(int fd, const void *bytes, size_t size);
int whole_write_at(int fd, const void *bytes, size_t size, uint64_t offset);

#endif
