/*
 * proc.c: /proc, read with raw system calls. See the header.
 */
#include "preload/base/proc.h"

#include <errno.h>
#include <string.h>

#include "preload/base/sys.h"
#include "preload/base/text.h"
#include "unwind/base/assertion.h"

long proc_read(const char *path, char *to, size_t n)
{
	long fd = sys_open(path, O_RDONLY | O_CLOEXEC, 0);
	size_t done = 0;
	long got;

	if (sys_failed(fd))
		return fd;
	do {
		got = sys_read(fd, to + done, n - 1 - done);
		if (got > 0)
			done += got;
	} while ((got > 0 && done < n - 1) || got == -EINTR);
	sys_close(fd);
	ASSERT(done < n);
	to[done] = '\0';
	return got < 0 ? got : (long)done;
}

bool proc_is_ours(void)
{
	char own[24], found[24];
	struct text text;
	long n;

	text_init(&text, own, sizeof(own));
	text_number(&text, sys_getpid());
	n = arch_syscall4(__NR_readlinkat, AT_FDCWD, (long)"/proc/self",
			  (long)found, sizeof(found));
	return n == (long)text.length && memcmp(own, found, n) == 0;
}

long proc_read_of(int pid, const char *name, char *to, size_t n)
{
	char path[64];
	struct text text;

	if (!proc_is_ours())
		return -ENOENT;
	text_init(&text, path, sizeof(path));
	text_put(&text, "/proc/");
	text_number(&text, pid);
	text_char(&text, '/');
	text_put(&text, name);
	return proc_read(path, to, n);
}
