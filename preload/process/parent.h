/*
 * parent.h: what a forked child needs to know about its parent.
 */
#ifndef GNOMON_PARENT_H
#define GNOMON_PARENT_H

#include "preload/base/base.h"
#include "preload/format.h"

struct gl_shared;

/* Paths of the trace and the live file; "": none, or unknown. In a child they
 * are the parent's until the child has started its recorder, then its own. */
struct parent {
	char trace[GT_PATH_MAX];
	char live[GT_PATH_MAX];
};

extern BASE_HIDDEN struct parent parent;

/* The recorder of this process was started. A fork that passes none of our
 * hooks (by forkpty, or by an instruction) finds the live file here, and in it
 * the trace. */
void parent_starts(const struct gl_shared *shared);

/* The process is about to fork. Any thread, also signal handlers. */
void parent_forks(void);

#endif
