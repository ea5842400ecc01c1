/*
 * proc.c: /proc, read with raw system calls. See the header.
 */
#include "preload/base/proc.h"

#include <errno.h>
#include <string.h>

#include "preload/base/base.h"
#include "preload/base/sys.h"
#include "preload/base/text.h"

#define PROC_STAT_MAX 2048
#define PROC_LINE_FEED "\\012"
#define PROC_MAPS_BUFFER 8192	/* longer than any line: a path is 4096 */

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

static void proc_path(struct text *text, char *buffer, size_t n, int pid)
{
	text_init(text, buffer, n);
	text_put(text, "/proc/");
	text_number(text, pid);
	text_char(text, '/');
}

long proc_read_of(int pid, const char *name, char *to, size_t n)
{
	char path[64];
	struct text text;

	if (!proc_is_ours())
		return -ENOENT;
	proc_path(&text, path, sizeof(path), pid);
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

void proc_thread_name(int pid, int tid, char *to, size_t n)
{
	char path[64];
	struct text text;
	long length;

	to[0] = '\0';
	if (!proc_is_ours())
		return;
	proc_path(&text, path, sizeof(path), pid);
	text_put(&text, "task/");
	text_number(&text, tid);
	text_put(&text, "/comm");
	length = proc_read(path, to, n);
	if (length < 0)
		length = 0;
	if (length && to[length - 1] == '\n')
		length--;
	to[length] = '\0';
}

static uint64_t proc_hex(const char **s)
{
	uint64_t value = 0;

	for (;; ++*s) {
		if (**s >= '0' && **s <= '9')
			value = value << 4 | (**s - '0');
		else if (**s >= 'a' && **s <= 'f')
			value = value << 4 | (**s - 'a' + 10);
		else
			return value;
	}
}

static bool proc_is_file(const char *path, uint64_t inode)
{
	struct stat st;

	return !sys_failed(arch_syscall4(__NR_newfstatat, AT_FDCWD,
					 (long)path, (long)&st, 0)) &&
	       st.st_ino == inode;
}

static bool proc_at_line_feed(const char *path)
{
	return strncmp(path, PROC_LINE_FEED, sizeof(PROC_LINE_FEED) - 1) == 0;
}

/*
 * The kernel writes a line feed of a path as \012, and nothing else otherwise
 * than it is: so that may also be what the path really has. Then the file that
 * is mapped lies there.
 */
static void proc_map_path(char *path, uint64_t inode)
{
	char *from = path, *to;

	while (*from && !proc_at_line_feed(from))
		from++;
	if (likely(!*from) || proc_is_file(path, inode))
		return;
	for (to = from; *from; to++) {
		bool feed = proc_at_line_feed(from);

		*to = feed ? '\n' : *from;
		from += feed ? sizeof(PROC_LINE_FEED) - 1 : 1;
	}
	*to = '\0';
}

/* Behind the blank that ends a field. */
static char *proc_map_field(char *line)
{
	while (*line && *line != ' ')
		line++;
	return line + (*line == ' ');
}

/* START-END FLAGS OFFSET DEVICE INODE PATH */
static void proc_map_line(char *at,
			  void (*fn)(const struct proc_map *map, void *arg),
			  void *arg)
{
	const char *line = at;
	struct proc_map map;
	unsigned fields;
	char *path;

	map.start = proc_hex(&line);
	if (*line++ != '-')
		return;
	map.end = proc_hex(&line);
	for (fields = 0; fields < 4; fields++)
		at = proc_map_field(at);
	path = at;
	while (*path && *path != '/' && *path != '[')
		path++;
	line = at;
	if (*path == '/')
		proc_map_path(path, text_parse(&line));
	map.path = path;
	if (*path)
		fn(&map, arg);
}

void proc_maps(int fd, void (*fn)(const struct proc_map *map, void *arg), void *arg)
{
	char buffer[PROC_MAPS_BUFFER + 1];
	size_t held = 0;
	long got;

	for (;;) {
		char *line = buffer, *end;

		got = sys_read(fd, buffer + held, PROC_MAPS_BUFFER - held);
		if (got == -EINTR)
			continue;
		if (got <= 0)
			break;
		held += got;
		buffer[held] = '\0';
		for (end = line; *end; end++) {
			if (*end != '\n')
				continue;
			*end = '\0';
			proc_map_line(line, fn, arg);
			line = end + 1;
		}
		held = buffer + held - line;
		if (held == PROC_MAPS_BUFFER)
			held = 0;	/* no such line exists */
		memmove(buffer, line, held);
	}
}
