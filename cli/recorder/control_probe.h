/*
 * control_probe.h: checks whether the system calls for a control socket are
 * allowed. A program may have been started under a seccomp filter that cannot
 * be read and that kills the caller of a forbidden system call. The recorder,
 * once.
 */
#ifndef GNOMON_CONTROL_PROBE_H
#define GNOMON_CONTROL_PROBE_H

#include <stdbool.h>

bool control_probe(void);

#endif
