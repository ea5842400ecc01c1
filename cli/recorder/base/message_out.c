/*
 * message_out.c: see message_out.h.
 */
#include "cli/recorder/base/message_out.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/recorder/base/proc_file.h"
#include "preload/base/base.h"

#define MESSAGE_OUT_MAX 768

static bool message_out_known;
static uint64_t message_out_device, message_out_inode;
static int message_out_kept = -1;

void message_out_init(bool known, uint64_t device, uint64_t inode)
{
	message_out_known = known;
	message_out_device = device;
	message_out_inode = inode;
}

bool message_out_is_standard(int fd, struct stat *st)
{
	return message_out_known && fstat(fd, st) == 0 &&
	       st->st_dev == message_out_device &&
	       st->st_ino == message_out_inode;
}

void message_out_print(int tid, const char *message)
{
	struct stat st;
	char path[64];
	int fd;

	if (!proc_file_is_ours())
		return;
	snprintf(path, sizeof(path), "/proc/%d/fd/2", tid);
	/* O_APPEND: the new descriptor has its own file position. The program's
	 * position in a file would not advance (message_out_keep). */
	fd = open(path, O_WRONLY | O_APPEND | O_NOCTTY | O_NONBLOCK |
			O_CLOEXEC);
	if (fd < 0)
		return;
	if (message_out_is_standard(fd, &st))
		message_out_at(message_out_kept >= 0 ? message_out_kept : fd,
			       message);
	close(fd);
}

void message_out_keep(int fd)
{
	message_out_kept = fd;
}

void message_out_at(int fd, const char *message)
{
	char line[MESSAGE_OUT_MAX];
	size_t size = sizeof(line) - 1, n;

	if (fd < 0)
		return;
	/* a longer line is truncated */
	n = base_min(snprintf(line, size, "gnomon: %s", message), size - 1);
	line[n] = '\n';
	/* a failure cannot be reported anywhere */
	write(fd, line, n + 1);
}
