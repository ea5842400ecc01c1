/*
 * message.c: one line on the target's standard error. See the header.
 */
#include "preload/base/message.h"

#include <stdbool.h>
#include <stdint.h>

#include "preload/base/sys.h"
#include "preload/base/text.h"
#include "unwind/base/assertion.h"

#define MESSAGE_MAX 768

/* Constant after message_init; a forked child inherits descriptor 2 too. */
static bool message_known;
static uint64_t message_device, message_inode;

static bool message_same(int fd)
{
	ARCH_STAT st;

	return message_known && sys_fstat(fd, &st) == 0 &&
	       st.st_dev == message_device && st.st_ino == message_inode;
}

bool message_standard(uint64_t *device, uint64_t *inode)
{
	*device = message_device;
	*inode = message_inode;
	return message_known;
}

static void message_write(int fd, const char *message)
{
	char line[MESSAGE_MAX];
	struct text text;

	text_init(&text, line, sizeof(line) - 1);
	text_put(&text, "gnomon: ");
	text_put(&text, message);
	ASSERT(text.length < sizeof(line));
	line[text.length] = '\n';
	/* nowhere to report a failure to */
	sys_write(fd, line, text.length + 1);
}

void message_init(void)
{
	ARCH_STAT st;

	if (sys_fstat(2, &st))
		return;
	message_device = st.st_dev;
	message_inode = st.st_ino;
	message_known = true;
}

void message_print(const char *text)
{
	if (message_same(2))
		message_write(2, text);
}
