/*
 * target.h: whether the recorded process is alive, and still runs the same
 * program.
 */
#ifndef GNOMON_TARGET_H
#define GNOMON_TARGET_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/recorder/base/recording.h"

struct target {
	struct recording *r;	/* r->pid is the process */
	int pidfd;		/* -1: none */
	uint64_t exec_ns;	/* when a call of exec was first seen; else 0 */
};

/* Starts to watch; r->live is attached. */
void target_watch(struct target *target);

/* Whether all of its threads have ended. */
bool target_dead(const struct target *target);

/* Its status as of waitpid, once it is dead; -1: not known. */
int target_exit_code(const struct target *target);

/* Whether no exec has replaced the program. */
bool target_same(struct target *target);

/* A thread of it that has probably not ended: the main thread, or another one
 * if the main thread called pthread_exit. */
int target_task(const struct target *target);

#endif
