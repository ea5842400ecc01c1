/*
 * message_out.h: prints the recorder's messages to the target's standard error,
 * while that is still the same file as at the start (preload/base/message.h).
 */
#ifndef GNOMON_MESSAGE_OUT_H
#define GNOMON_MESSAGE_OUT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

/* Sets which file was the target's standard error at its start. Once. */
void message_out_init(bool known, uint64_t device, uint64_t inode);

/* Whether `fd` is still that file; *st: the stat of `fd`. */
bool message_out_is_standard(int fd, struct stat *st);

/* Writes "gnomon: " text "\n" through the target's descriptor. `tid`: a live
 * thread of the target. */
void message_out_print(int tid, const char *text);

/* Gives message_out_print a copy of the target's descriptor to use, which
 * shares its file position. -1: none. */
void message_out_keep(int fd);

/* The same to a descriptor of the recorder; -1: writes nothing. */
void message_out_at(int fd, const char *text);

#endif
