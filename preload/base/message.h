/*
 * message.h: the few messages that the library prints on standard error.
 *
 * A program may close descriptor 2 and open something else there. Therefore the
 * library remembers which file it was at the start, and prints only while it
 * still is that file, never into a file that merely has the same number.
 */
#ifndef GNOMON_MESSAGE_H
#define GNOMON_MESSAGE_H

#include <stdbool.h>
#include <stdint.h>

/* Remembers which file standard error is. At the first start, before the
 * program's own code has run. */
void message_init(void);

/* Device and inode of that file. False: they are not known. */
bool message_standard(uint64_t *device, uint64_t *inode);

/* "gnomon: " text "\n", from a thread of the target. */
void message_print(const char *text);

#endif
