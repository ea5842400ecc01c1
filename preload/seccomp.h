/*
 * seccomp.h: what system calls are left to the target's threads.
 *
 * A program may forbid itself calls that our hooks would make in its threads,
 * on pain of death. What it asks the C library for (prctl, syscall) is seen
 * at once, and the filter is run over the calls that we would make. A filter
 * that was put there without the C library is found by the writer, a moment
 * later.
 *
 * The answer is in unwind_ban (unwind/memory.h); the bits below are ours. It
 * is static data, which a forked child keeps, as it keeps the filter.
 */
#ifndef GNOMON_SECCOMP_H
#define GNOMON_SECCOMP_H

#include <linux/filter.h>
#include <stdbool.h>
#include <stdint.h>

#include "unwind/memory.h"

enum {
	SECCOMP_NO_FILES = 16,	/* open, map, close */
	SECCOMP_NO_START = 32,	/* everything that a new recorder needs */
	SECCOMP_NO_LOCK = 64,	/* to look what may be locked, and to lock */
	SECCOMP_NO_SOCKET = 128,	/* to be asked by others (writer) */
	/* 256: UNWIND_NO_COPY */
	SECCOMP_NO_STATUS = 512,	/* to ask how a process ended (writer) */
	SECCOMP_NO_PAGES = 1024,	/* to ask which pages are in use */
	SECCOMP_NO_ALL = 2047
};

/* Around the call that puts a filter, or strict mode, in force. From the first
 * to the second no thread makes a system call for us. */
void seccomp_before(void);
void seccomp_after_filter(const struct sock_fprog *program);
void seccomp_after_strict(void);
void seccomp_after_failure(void);

struct seccomp_watch {
	unsigned own_mode;
	unsigned own_filters;
	uint32_t next;		/* ring to look at */
};

struct recorder;

/* The writer, as it begins and now and then. */
void seccomp_watch_begin(struct seccomp_watch *watch);
/* Whether it has filters that no hook has seen: from before exec. */
bool seccomp_unseen(const struct seccomp_watch *watch);
void seccomp_look(struct seccomp_watch *watch, struct recorder *r);

#endif
