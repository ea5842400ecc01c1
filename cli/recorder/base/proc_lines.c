/*
 * proc_lines.c: see the header. The kernel returns such files in pieces that
 * end at line ends, but this code does not rely on it.
 *
 * I1: buffer[at, end) was read and not returned yet; end < size, so that there
 *     is room for a NUL.
 */
#include "cli/recorder/base/proc_lines.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "preload/base/base.h"
#include "unwind/base/assertion.h"

int proc_lines_open(struct proc_lines *lines, const char *path, char *buffer,
		    size_t size)
{
	*lines = (struct proc_lines){
		.fd = open(path, O_RDONLY | O_CLOEXEC),
		.buffer = buffer,
		.size = size,
	};
	return lines->fd < 0 ? -errno : 0;
}

void proc_lines_close(struct proc_lines *lines)
{
	if (lines->fd >= 0)
		close(lines->fd);
	lines->fd = -1;
	lines->at = lines->end = 0;
}

/* Index of the next line feed in the buffer, or `end`. */
static size_t proc_lines_feed(const struct proc_lines *lines)
{
	const char *drain = memchr(lines->buffer + lines->at, '\n',
				   lines->end - lines->at);

	DEBUG_ASSERT(lines->at <= lines->end &&
		     lines->end < lines->size); /* I1 */
	return drain ? (size_t)(drain - lines->buffer) : lines->end;
}

/* Appends the data of one read. False: end of file or error. */
static bool proc_lines_fill(struct proc_lines *lines)
{
	ssize_t got;

	if (lines->at) {
		memmove(lines->buffer, lines->buffer + lines->at,
			lines->end - lines->at);
		lines->end -= lines->at;
		lines->at = 0;
	}
	do
		got = read(lines->fd, lines->buffer + lines->end,
			   lines->size - 1 - lines->end);
	while (got < 0 && errno == EINTR);
	if (got <= 0)
		return false;
	lines->end += got;
	DEBUG_ASSERT(lines->at == 0 && lines->end < lines->size); /* I1 */
	return true;
}

/* Returns the buffered text up to `to` as a line. */
static char *proc_lines_give(struct proc_lines *lines, size_t to)
{
	char *line = lines->buffer + lines->at;

	DEBUG_ASSERT(to >= lines->at && to <= lines->end);
	lines->buffer[to] = '\0';
	lines->at = to < lines->end ? to + 1 : to;
	return line;
}

char *proc_lines_next(struct proc_lines *lines)
{
	bool more = lines->fd >= 0, skipped;
	size_t drain;
	char *line;

	for (;;) {
		drain = proc_lines_feed(lines);
		if (drain == lines->end && more &&
		    lines->end - lines->at < lines->size - 1) {
			more = proc_lines_fill(lines);
			continue;
		}
		if (drain == lines->at && drain == lines->end)
			return NULL;
		skipped = lines->skipping;
		/* the line fills the buffer: what follows belongs to it */
		lines->skipping = drain == lines->end && more;
		lines->cut += lines->skipping && !skipped;
		line = proc_lines_give(lines, drain);
		if (!skipped)
			return line;
	}
}

uint64_t proc_lines_number(const char **s)
{
	uint64_t value = 0;

	for (; **s >= '0' && **s <= '9'; ++*s)
		value = value * 10 + (**s - '0');
	return value;
}

static uint64_t proc_lines_hex(const char **s)
{
	uint64_t value = 0;

	for (;; ++*s) {
		if (**s >= '0' && **s <= '9')
			value = value << 4 | (uint64_t)(**s - '0');
		else if (**s >= 'a' && **s <= 'f')
			value = value << 4 | (uint64_t)(**s - 'a' + 10);
		else
			return value;
	}
}

/* Skips one character. False: another character is there. */
static bool proc_lines_skip(const char **s, char c)
{
	if (**s != c)
		return false;
	++*s;
	return true;
}

static bool proc_lines_flags(const char **s, unsigned *flags)
{
	static const char letters[] = "rwx";
	unsigned i;

	*flags = 0;
	for (i = 0; letters[i]; i++, ++*s) {
		if (**s == letters[i])
			*flags |= 1u << i;
		else if (**s != '-')
			return false;
	}
	if (**s == 's')
		*flags |= PROC_LINES_SHARED;
	else if (**s != 'p')
		return false;
	++*s;
	return true;
}

static uint64_t proc_lines_move;

void proc_lines_moved(uint64_t by)
{
	proc_lines_move = by;
}

bool proc_lines_mapping(const char *line, struct proc_lines_mapping *mapping)
{
	const char *s = line;

	mapping->start = proc_lines_hex(&s);
	if (s == line || !proc_lines_skip(&s, '-'))
		return false;
	mapping->end = proc_lines_hex(&s);
	if (mapping->end <= mapping->start || !proc_lines_skip(&s, ' ') ||
	    !proc_lines_flags(&s, &mapping->flags) ||
	    !proc_lines_skip(&s, ' '))
		return false;
	mapping->offset = proc_lines_hex(&s);
	if (!proc_lines_skip(&s, ' '))
		return false;
	mapping->major = (uint32_t)proc_lines_hex(&s);
	if (!proc_lines_skip(&s, ':'))
		return false;
	mapping->minor = (uint32_t)proc_lines_hex(&s);
	if (!proc_lines_skip(&s, ' '))
		return false;
	mapping->inode = proc_lines_number(&s);
	while (*s == ' ')
		s++;
	mapping->path = s;
	if (mapping->end <= proc_lines_move)
		return false;
	mapping->start -= base_min(mapping->start, proc_lines_move);
	mapping->end -= proc_lines_move;
	return true;
}
