/*
 * target.h: whether the process that is recorded still lives, and still is
 * the program that it was.
 */
#ifndef GNOMON_TARGET_H
#define GNOMON_TARGET_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/recorder/base/recording.h"

struct target {
	struct recording *r;	/* r->pid is the process */
	int pidfd;		/* -1: none */
	uint64_t exec_ns;	/* when a call of exec was first seen; 0 */
};

/* Begins to watch; r->live is there. */
void target_watch(struct target *target);

/* All of its threads have ended. */
bool target_dead(const struct target *target);

/* How it ended, once it is dead, as waitpid would tell; -1: not known. */
int target_exit_code(const struct target *target);

/* No exec has replaced it. */
bool target_same(struct target *target);

/* A thread of it that has not ended, as far as is known: the first one, or
 * where that one has left (pthread_exit) another. */
int target_task(const struct target *target);

#endif
