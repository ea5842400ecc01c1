/*
 * proc.c: /proc, read with raw system calls. See the header.
 */
#include "preload/base/proc.h"

#include <errno.h>
#include <string.h>

#include "preload/base/sys.h"
#include "preload/base/text.h"

#define PROC_STAT_MAX 2048

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

bool proc_stat_field(const char *stat, unsigned field, uint64_t *value)
{
	const char *at, *after = NULL;
	unsigned i;

	/* the name, field 2, may hold blanks and brackets of its own */
	for (at = stat; *at; at++)
		if (*at == ')')
			after = at + 1;
	if (!after)
		return false;
	for (i = PROC_STAT_STATE, at = after; i < field; i++) {
		while (*at == ' ')
			at++;
		while (*at && *at != ' ')
			at++;
	}
	while (*at == ' ')
		at++;
	if (!*at || *at == '\n')
		return false;
	*value = field == PROC_STAT_STATE ? (uint64_t)*at : text_parse(&at);
	return true;
}

bool proc_stat(int pid, unsigned field, uint64_t *value)
{
	char buffer[PROC_STAT_MAX];

	return proc_read_of(pid, "stat", buffer, sizeof(buffer)) > 0 &&
	       proc_stat_field(buffer, field, value);
}
