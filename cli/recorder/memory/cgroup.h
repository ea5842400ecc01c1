/*
 * cgroup.h: the memory limit of a process's control group, and how often the
 * group reached it. The recorder only.
 *
 * Version 2 of control groups and version 1's memory controller, as described
 * in the kernel's Documentation/admin-guide/cgroup-v2.rst and cgroup-v1.
 */
#ifndef GNOMON_CGROUP_H
#define GNOMON_CGROUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/trace/format/trace_format.h"

#define CGROUP_ROOT "/sys/fs/cgroup"

struct cgroup {
	bool v1;
	size_t top;		/* length of the mount point in `dir` */
	char dir[GT_PATH_MAX];	/* "": none */
};

/* Finds the group below `root` by the lines of /proc/PID/cgroup. If its
 * directory is not visible (a container mounts its own group there), uses the
 * mount point. False: no memory controller. */
bool cgroup_find(struct cgroup *cgroup, const char *root, const char *lines);

/* The smallest limit of the group and its ancestors, in bytes; 0: none. */
uint64_t cgroup_limit(const struct cgroup *cgroup);

/* How often the group reached a limit (high, max, oom and oom_kill of
 * memory.events; memory.failcnt). False: not known. */
bool cgroup_events(const struct cgroup *cgroup, uint64_t *count);

#endif
