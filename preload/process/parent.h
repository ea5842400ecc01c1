/*
 * parent.h: what the children of a fork are to know of the process that they
 * come from.
 */
#ifndef GNOMON_PARENT_H
#define GNOMON_PARENT_H

#include "preload/base/base.h"
#include "preload/format.h"

/* Paths of its trace and of its live file; "": there is none, or it is not
 * known. Of this process's own in one that has forked, of its parent's in a child
 * until that starts its recorder. */
struct parent {
	char trace[GT_PATH_MAX];
	char live[GT_PATH_MAX];
};

extern BASE_HIDDEN struct parent parent;

/* The process is about to fork. Any thread, also signal handlers. */
void parent_forks(void);

#endif
