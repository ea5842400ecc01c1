/*
 * credentials.h: the recorder gives up the same privileges as the target, so
 * that none of our tasks keeps privileges that the program has dropped. Called
 * in the thread that dropped them, after the call has succeeded and before it
 * returns to the program; errno is kept. If the recorder cannot follow,
 * recording ends.
 */
#ifndef GNOMON_CREDENTIALS_H
#define GNOMON_CREDENTIALS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "preload/ring/shared.h"

/* The recorder makes the same system call; none of the arguments is an
 * address. */
void credentials_follow(enum request_call call, long a, long b, long c, long d,
			long e);

/* The same for capset, whose header must mean the caller, and for setgroups. */
void credentials_follow_capset(const void *header, size_t header_bytes,
			       const void *data, size_t bytes);
void credentials_follow_setgroups(size_t count, const gid_t *groups);

/* The recorder sets the calling thread's supplementary groups. */
void credentials_follow_groups(void);

/* The recorder joins the calling thread's new user namespace. */
void credentials_follow_user_space(void);

/* Whether the calling thread's user ids are all equal and not root's: then a
 * raw system call, though it changes only one thread, was meant to be
 * permanent. */
bool credentials_are_final(void);

#endif
