/*
 * target.h: whether the program that is recorded still lives, and still is
 * the program that shares our memory. The writer only.
 */
#ifndef GNOMON_TARGET_H
#define GNOMON_TARGET_H

#include <stdbool.h>
#include <stdint.h>

#include "preload/recorder.h"

/* _IOWR(0xff, 11, 64 bytes), of <linux/pidfd.h>, which is too new. */
#define TARGET_GET_INFO 0xc040ff0bu

struct target {
	struct recorder *r;	/* r->pid is the process */
	int pidfd;		/* -1: none */
	bool thread;		/* the writer is a thread of it */
	bool kcmp;		/* the kernel compares address spaces */
};

/* Begins to watch; r->live is there. */
void target_watch(struct target *target);

/* All of its threads have ended. */
bool target_dead(const struct target *target);

/* How it ended, once it is dead, as waitpid would tell; -1: not known. */
int target_exit_code(const struct target *target);

/* No exec has replaced it. */
bool target_same(const struct target *target);

/* A thread of it that has not ended, as far as is known: the first one, or
 * where that one has left (pthread_exit) another. */
int target_task(const struct target *target);

#endif
