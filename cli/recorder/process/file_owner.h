/*
 * file_owner.h: changes the owner of a recording's files (--chown). So an
 * operator can read traces of a service that drops its privileges or has its
 * own user. The recorder only.
 */
#ifndef GNOMON_FILE_OWNER_H
#define GNOMON_FILE_OWNER_H

#include <stdbool.h>
#include <stdint.h>

#define FILE_OWNER_KEEP UINT32_MAX	/* do not change this id */

struct file_owner {
	uint32_t user, group;
};

/* "USER", "USER:GROUP", ":GROUP"; names as in the files `passwd` and `group`,
 * or numbers. False: there is no such name. */
bool file_owner_find(struct file_owner *owner, const char *text,
		     const char *passwd, const char *group);

/* Changes the owner as --chown says. 0 (also without --chown), or -errno
 * (-ENOENT: no such user or group). */
long file_owner_apply(int fd);

#endif
