/*
 * owner.h: files of a recording that are to be somebody else's: --chown. A
 * service that gives up its privileges, or runs as a user of its own, leaves
 * traces that its operator may read. The writer only.
 */
#ifndef GNOMON_OWNER_H
#define GNOMON_OWNER_H

#include <stdbool.h>
#include <stdint.h>

#define OWNER_KEEP UINT32_MAX	/* this id stays as it is */

struct owner {
	uint32_t user, group;
};

/* "USER", "USER:GROUP", ":GROUP"; names as in the files `passwd` and `group`,
 * or numbers. False: there is no such name. */
bool owner_find(struct owner *owner, const char *text, const char *passwd,
		const char *group);

/* Gives it to whom --chown says. 0, also where nothing is to be done, or
 * -errno (-ENOENT: there is no such user or group). */
long owner_apply(int fd);

#endif
