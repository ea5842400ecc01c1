/*
 * parent.h: what the children of a fork are to know of the process that they
 * come from.
 */
#ifndef GNOMON_PARENT_H
#define GNOMON_PARENT_H

#include "preload/base/base.h"
#include "preload/format.h"

struct gl_shared;

/* Paths of its trace and of its live file; "": there is none, or it is not
 * known. Of its parent's in a child until that has started its recorder, of this
 * process's own from then on. */
struct parent {
	char trace[GT_PATH_MAX];
	char live[GT_PATH_MAX];
};

extern BASE_HIDDEN struct parent parent;

/* Its recorder has been started. A fork that passes no hook of ours (forkpty's,
 * or by an instruction) finds the live file here, and there the trace. */
void parent_starts(const struct gl_shared *shared);

/* The process is about to fork. Any thread, also signal handlers. */
void parent_forks(void);

#endif
