/*
 * ban.h: bits of what a process may not do any more, beside those of unwind/,
 * because it has a filter of system calls that would end it (forbidden.h).
 */
#ifndef GNOMON_BAN_H
#define GNOMON_BAN_H

#include "unwind/memory.h"

enum {
	/* up to 16: UNWIND_NO_… */
	SECCOMP_NO_START = 32,	/* everything that a new recorder needs */
	SECCOMP_NO_LOCK = 64,	/* to look what may be locked, and to lock */
	SECCOMP_NO_SOCKET = 128,	/* to be asked by others (writer) */
	/* 256: UNWIND_NO_COPY */
	SECCOMP_NO_STATUS = 512,	/* to ask how a process ended (writer) */
	SECCOMP_NO_PAGES = 1024,	/* to ask which pages are in use */
	/* 2048: UNWIND_NO_READ */
	SECCOMP_NO_GROWTH = 4096,	/* to map more memory of ours */
	SECCOMP_NO_ALL = 8191
};

#endif
