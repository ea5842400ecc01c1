/*
 * message.h: the rare lines that the library prints on standard error.
 *
 * A program may close descriptor 2 and open something else there. So what it
 * was at the start is remembered, and a line is only written if it still is
 * the same; never into a file that merely got the number.
 */
#ifndef GNOMON_MESSAGE_H
#define GNOMON_MESSAGE_H

#include <stdbool.h>
#include <stdint.h>

/* Remembers what standard error is. At the first start, before the program's
 * own code has run. */
void message_init(void);

/* What it was then. False: it is not known. */
bool message_standard(uint64_t *device, uint64_t *inode);

/* "gnomon: " text "\n", from a thread of the target. */
void message_say(const char *text);

#endif
