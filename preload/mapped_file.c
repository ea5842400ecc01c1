/*
 * mapped_file.c: see mapped_file.h.
 *
 * I1  Only what is a file without any doubt is opened: opening a device may do
 *     something, and opening a pipe waits. The path may lead elsewhere a moment
 *     later, so what was opened is looked at again.
 *
 * Whoever shortens the file meanwhile makes the reader fail, as one who
 * shortens a library makes the program.
 */
#include "preload/mapped_file.h"

#include "preload/sys.h"

static bool mapped_file_good(const struct stat *st)
{
	return S_ISREG(st->st_mode) && st->st_size > 0;
}

static bool mapped_file_map(struct mapped_file *file, int fd)
{
	struct stat st;
	long map;

	if (sys_failed(sys_fstat(fd, &st)) || !mapped_file_good(&st))
		return false;
	map = sys_mmap(NULL, st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (sys_failed(map))
		return false;
	file->bytes = (const uint8_t *)map;
	file->size = st.st_size;
	return true;
}

bool mapped_file_open(struct mapped_file *file, const char *path)
{
	bool mapped;
	struct stat st;
	int fd;

	/* the first thread, which /proc/self is about, may have ended */
	if (!*path)
		path = "/proc/thread-self/exe";
	/* I1 */
	if (sys_failed(arch_syscall4(__NR_newfstatat, AT_FDCWD, (long)path,
				     (long)&st, 0)) ||
	    !mapped_file_good(&st))
		return false;
	fd = sys_open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0);
	if (fd < 0)
		return false;
	mapped = mapped_file_map(file, fd);
	sys_close(fd);
	return mapped;
}

void mapped_file_close(const struct mapped_file *file)
{
	sys_munmap((void *)file->bytes, file->size);
}
