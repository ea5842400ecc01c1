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
#include <sys/stat.h>

/* Remembers what standard error is. At the first start, before the program's
 * own code has run. */
void message_init(void);

/* "gnomon: " text "\n", from a thread of the target. */
void message_say(const char *text);

/* The same from the writer, whose own descriptors are closed: through the
 * target's, by the id of a thread of it that lives. */
void message_say_for(int tid, const char *text);

/* The writer has this copy of it, which has the target's position in the file:
 * message_say_for uses it. -1: none. */
void message_keep(int fd);

/* Whether it is what standard error was; *st: of what it is. */
bool message_is_standard(int fd, struct stat *st);

/* The same to a descriptor of the writer's own; -1: to nobody. */
void message_say_at(int fd, const char *text);

#endif
