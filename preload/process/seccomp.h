/*
 * seccomp.h: filters of system calls.
 *
 * A program may forbid itself calls that our hooks would make in its threads,
 * on pain of death. What it asks the C library for (prctl, syscall) is seen
 * at once, and the filter is run over the calls that we would make. A filter
 * that was put there without the C library is found by the writer, a moment
 * later (seccomp_watch.h). What either knows is forbidden.h's.
 */
#ifndef GNOMON_SECCOMP_H
#define GNOMON_SECCOMP_H

#include <linux/filter.h>

/* This filter is in force, since forbidden_before. */
void seccomp_after_filter(const struct sock_fprog *program);

#endif
