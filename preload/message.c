/*
 * message.c: one line on the target's standard error. See the header.
 * message_say: threads of the target. message_say_for: the writer.
 */
#include "preload/message.h"

#include <stdbool.h>
#include <stdint.h>

#include "preload/proc.h"
#include "preload/sys.h"
#include "preload/text.h"

#define MESSAGE_MAX 768

/* Constant after message_init; a forked child inherits descriptor 2 too. */
static bool message_known;
static uint64_t message_device, message_inode;

/* The writer's own copy of it, if it keeps one. */
static int message_kept = -1;

bool message_is_standard(int fd, struct stat *st)
{
	return message_known && sys_fstat(fd, st) == 0 &&
	       st->st_dev == message_device && st->st_ino == message_inode;
}

static bool message_same(int fd)
{
	struct stat st;

	return message_is_standard(fd, &st);
}

static void message_write(int fd, const char *message)
{
	char line[MESSAGE_MAX];
	struct text text;

	text_init(&text, line, sizeof(line) - 1);
	text_put(&text, "gnomon: ");
	text_put(&text, message);
	line[text.length] = '\n';
	/* nowhere to report a failure to */
	sys_write(fd, line, text.length + 1);
}

void message_init(void)
{
	struct stat st;

	if (sys_fstat(2, &st))
		return;
	message_device = st.st_dev;
	message_inode = st.st_ino;
	message_known = true;
}

void message_say(const char *text)
{
	if (message_same(2))
		message_write(2, text);
}

void message_say_for(int tid, const char *message)
{
	char path[64];
	struct text text;
	long fd;

	if (!proc_is_ours())
		return;
	text_init(&text, path, sizeof(path));
	text_put(&text, "/proc/");
	text_number(&text, tid);
	text_put(&text, "/fd/2");
	/* appending: the descriptor we get has a position of its own. Of a file
	 * the program's would not go along with it (message_keep). */
	fd = sys_open(path, O_WRONLY | O_APPEND | O_NOCTTY | O_NONBLOCK |
				    O_CLOEXEC, 0);
	if (sys_failed(fd))
		return;
	if (message_same(fd))
		message_write(message_kept >= 0 ? message_kept : fd, message);
	sys_close(fd);
}

void message_keep(int fd)
{
	message_kept = fd;
}

void message_say_at(int fd, const char *message)
{
	if (fd >= 0)
		message_write(fd, message);
}
