/*
 * seccomp.h: system call filters.
 *
 * A program may install a filter that kills it for system calls that our hooks
 * make in its threads. Filters installed through the C library (prctl, syscall)
 * are seen at once, and the recorder runs them over the calls that we would
 * make (seccomp_verdict.h). The recorder finds filters installed in another way
 * a moment later (seccomp_watch.h). forbidden.h keeps the results of both.
 */
#ifndef GNOMON_SECCOMP_H
#define GNOMON_SECCOMP_H

#include <stdint.h>

/*
 * The calls of ours that this filter (a struct sock_fprog, as for prctl) would
 * forbid: bits of ban.h. All bits if there is no answer, or if the argument is
 * no filter (it may be any address). Call it before the filter takes effect.
 * Waits for the recorder, as request_make does. Any thread, also in handlers;
 * keeps errno.
 */
uint32_t seccomp_forbids(const void *filter);

#endif
