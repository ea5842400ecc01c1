/*
 * io_full.h: reads and writes in full, despite partial or interrupted system
 * calls.
 */
#ifndef GNOMON_IO_FULL_H
#define GNOMON_IO_FULL_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Return the number of bytes, fewer than `size` only at the file's end; or
 * -errno. */
ssize_t io_full_read(int fd, void *to, size_t size);
ssize_t io_full_read_at(int fd, void *to, size_t size, uint64_t offset);

/* 0 or -errno; on error some bytes may have been written. */
int io_full_write(int fd, const void *bytes, size_t size);
int io_full_write_at(int fd, const void *bytes, size_t size, uint64_t offset);

#endif
