/*
 * seccomp.h: filters of system calls.
 *
 * A program may forbid itself calls that our hooks would make in its threads,
 * on pain of death. What it asks the C library for (prctl, syscall) is seen
 * at once, and the writer runs the filter over the calls that we would make
 * (seccomp_verdict.h). A filter that was put there without the C library is
 * found by the writer, a moment later (seccomp_watch.h). What either knows is
 * forbidden.h's.
 */
#ifndef GNOMON_SECCOMP_H
#define GNOMON_SECCOMP_H

#include <stdint.h>

/*
 * What this filter (a struct sock_fprog, as prctl takes it) would forbid of
 * what we call: bits of ban.h. All of them where nobody answers, and of what is
 * no filter, which may be any address. Before it is in force: waits for the
 * writer, as ask_writer does. Any thread, also in handlers; keeps errno.
 */
uint32_t seccomp_forbids(const void *filter);

#endif
