/*
 * io_full.c: see io_full.h.
 */
#include "cli/base/io_full.h"

#include <errno.h>
#include <stdbool.h>
#include <unistd.h>

#include "unwind/base/assertion.h"

/* At `offset` if `there`, else at the descriptor's position. */
static ssize_t read_all(int fd, char *to, size_t size, bool there,
			uint64_t offset)
{
	size_t done = 0;

	while (done < size) {
		ssize_t n = there ? pread(fd, to + done, size - done,
					  (off_t)(offset + done)) :
				    read(fd, to + done, size - done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (n == 0)
			break;
		done += (size_t)n;
	}
	DEBUG_ASSERT(done <= size);
	return (ssize_t)done;
}

ssize_t io_full_read(int fd, void *to, size_t size)
{
	return read_all(fd, to, size, false, 0);
}

ssize_t io_full_read_at(int fd, void *to, size_t size, uint64_t offset)
{
	return read_all(fd, to, size, true, offset);
}

/* At `offset` if `there`, else at the descriptor's position. */
static int write_all(int fd, const char *bytes, size_t size, bool there,
		     uint64_t offset)
{
	size_t done = 0;

	while (done < size) {
		ssize_t n = there ? pwrite(fd, bytes + done, size - done,
					   (off_t)(offset + done)) :
				    write(fd, bytes + done, size - done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : -EIO;
		done += (size_t)n;
	}
	return 0;
}

int io_full_write(int fd, const void *bytes, size_t size)
{
	return write_all(fd, bytes, size, false, 0);
}

int io_full_write_at(int fd, const void *bytes, size_t size, uint64_t offset)
{
	return write_all(fd, bytes, size, true, offset);
}
