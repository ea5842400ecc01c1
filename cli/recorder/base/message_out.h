/*
 * message_out.h: lines of the recorder on the target's standard error: only
 * while that is what it was at the start (preload/base/message.h).
 */
#ifndef GNOMON_MESSAGE_OUT_H
#define GNOMON_MESSAGE_OUT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

/* What the target's standard error was at its start. Once. */
void message_out_init(bool known, uint64_t device, uint64_t inode);

/* Whether it is what standard error was; *st: of what it is. */
bool message_out_is_standard(int fd, struct stat *st);

/* "gnomon: " text "\n" through the target's descriptor, by the id of a thread of
 * it that lives. */
void message_out_say(int tid, const char *text);

/* The recorder has this copy of it, which has the target's position in the
 * file: message_out_say uses it. -1: none. */
void message_out_keep(int fd);

/* The same to a descriptor of the recorder's own; -1: to nobody. */
void message_out_at(int fd, const char *text);

#endif
