/*
 * copied_file.c: see copied_file.h.
 *
 * Memory for the whole file is reserved, which costs nothing, and parts are
 * read to where they are in the file. So offsets are as they are there, and
 * memory is used by what was asked for alone.
 *
 * I1  Only what is a file without any doubt is opened: opening a device may do
 *     something, and opening a pipe waits. The path may lead elsewhere a moment
 *     later, so what was opened is looked at again.
 * I2  No byte of a file is looked at but by pread.
 */
#include "cli/recorder/copied_file.h"

#include <errno.h>

#include "preload/base/sys.h"

static bool copied_file_good(const struct stat *st)
{
	return S_ISREG(st->st_mode) && st->st_size > 0;
}

static bool copied_file_reserve(struct copied_file *file, int fd)
{
	struct stat st;
	long at;

	if (sys_failed(sys_fstat(fd, &st)) || !copied_file_good(&st))
		return false;
	at = sys_mmap(NULL, st.st_size, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (sys_failed(at))
		return false;
	file->bytes = (uint8_t *)at;
	file->size = st.st_size;
	file->left = COPIED_FILE_MAX;
	file->fd = fd;
	return true;
}

bool copied_file_open(struct copied_file *file, const char *path)
{
	struct stat st;
	int fd;

	/* I1 */
	if (sys_failed(arch_syscall4(__NR_newfstatat, AT_FDCWD, (long)path,
				     (long)&st, 0)) ||
	    !copied_file_good(&st))
		return false;
	fd = sys_open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0);
	if (fd < 0)
		return false;
	if (copied_file_reserve(file, fd))
		return true;
	sys_close(fd);
	return false;
}

const void *copied_file_part(struct copied_file *file, uint64_t offset,
			     uint64_t size)
{
	uint64_t done = 0;

	if (offset > file->size || size > file->size - offset)
		return NULL;
	if (file->fd < 0)
		return file->bytes + offset;
	if (size > file->left)
		return NULL;
	file->left -= size;
	while (done < size) {
		long got = arch_syscall4(__NR_pread64, file->fd,
					 (long)(file->bytes + offset + done),
					 size - done, (long)(offset + done));

		if (got == -EINTR)
			continue;
		if (got <= 0)	/* it has become shorter, or cannot be read */
			return NULL;
		done += got;
	}
	return file->bytes + offset;
}

void copied_file_close(const struct copied_file *file)
{
	sys_munmap(file->bytes, file->size);
	sys_close(file->fd);
}
