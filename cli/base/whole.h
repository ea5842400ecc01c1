/*
 * whole.h: all of the bytes, though the kernel may take or give a part, or be
 * interrupted.
 */
#ifndef GNOMON_WHOLE_H
#define GNOMON_WHOLE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* How many there are: fewer than `size` only at the file's end. -errno. */
ssize_t whole_read(int fd, void *to, size_t size);
ssize_t whole_read_at(int fd, void *to, size_t size, uint64_t offset);

/* 0 or -errno: then some of them may have been written. */
int whole_write(int fd, const void *bytes, size_t size);
int whole_write_at(int fd, const void *bytes, size_t size, uint64_t offset);

#endif
