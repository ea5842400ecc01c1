/*
 * control_probe.h: whether the calls that a control socket takes are allowed.
 * A program may have been started under a filter of system calls that nobody
 * can read, which kills who makes one. The writer, once.
 */
#ifndef GNOMON_CONTROL_PROBE_H
#define GNOMON_CONTROL_PROBE_H

#include <stdbool.h>

bool control_probe(void);

#endif
