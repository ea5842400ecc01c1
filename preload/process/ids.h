/*
 * ids.h: the writer follows the target where it gives up privileges: no task
 * of ours keeps what the program has laid down. Called in the thread that did
 * it, after it has succeeded and before it returns to the program; errno is
 * kept. Where the writer cannot follow, recording ends.
 */
#ifndef GNOMON_IDS_H
#define GNOMON_IDS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "preload/ring/shared.h"

/* The writer makes the same system call, none of whose arguments is an
 * address. */
void ids_follow(enum ask_call call, long a, long b, long c, long d, long e);

/* The same for capset, of which the header is to mean the caller, and for
 * setgroups. */
void ids_follow_capset(const void *header, size_t header_bytes,
		       const void *data, size_t bytes);
void ids_follow_setgroups(size_t count, const gid_t *groups);

/* The calling thread's supplementary groups. */
void ids_follow_groups(void);

/* The calling thread is in another user namespace now. */
void ids_follow_user_space(void);

/* Whether the calling thread's user ids are all the same and not root's: then
 * a raw system call, which is for one thread, was meant for good. */
bool ids_are_final(void);

#endif
