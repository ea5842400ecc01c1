/*
 * proc_file.c: see proc_file.h.
 */
#include "cli/recorder/base/proc_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "cli/base/io_full.h"

#define PROC_FILE_PATH 64

long proc_file_read(const char *path, char *to, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	long n;

	if (fd < 0)
		return -errno;
	n = io_full_read_at(fd, to, size - 1, 0);
	close(fd);
	to[n < 0 ? 0 : n] = '\0';
	return n;
}

bool proc_file_is_ours(void)
{
	char found[24];
	ssize_t n = readlink("/proc/self", found, sizeof(found) - 1);

	if (n < 0)
		return false;
	found[n] = '\0';
	return strtol(found, NULL, 10) == getpid();
}

long proc_file_read_of(int pid, const char *name, char *to, size_t size)
{
	char path[PROC_FILE_PATH];

	if (!proc_file_is_ours())
		return -ENOENT;
	snprintf(path, sizeof(path), "/proc/%d/%s", pid, name);
	return proc_file_read(path, to, size);
}
