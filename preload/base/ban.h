/*
 * ban.h: bits for what a process must not do any more because a system call
 * filter would kill it (forbidden.h). The first bits are those of unwind/.
 */
#ifndef GNOMON_BAN_H
#define GNOMON_BAN_H

#include "unwind/base/memory.h"

enum {
	/* up to 16: UNWIND_NO_… */
	SECCOMP_NO_START = 32,	/* everything that a new recorder needs */
	SECCOMP_NO_LOCK = 64,	/* to read the lock limit, and to lock */
	SECCOMP_NO_SOCKET = 128,	/* to serve requests of others
					 * (recorder) */
	/* 256: UNWIND_NO_COPY */
	SECCOMP_NO_STATUS = 512,	/* to query how a process ended
					 * (recorder) */
	SECCOMP_NO_PAGES = 1024,	/* to query which pages are in use */
	/* 2048: UNWIND_NO_READ */
	SECCOMP_NO_GROWTH = 4096,	/* to map more of our own memory */
	SECCOMP_NO_ALL = 8191
};

#endif
