/*
 * seccomp.h: what system calls are left to the target's threads.
 *
 * A program may forbid itself calls that our hooks would make in its threads,
 * on pain of death. What it asks the C library for (prctl, syscall) is seen
 * at once, and the filter is run over the calls that we would make. A filter
 * that was put there without the C library is found by the writer, a moment
 * later (seccomp_watch.h).
 *
 *	hooks ──▶ unwind_ban ──▶ ban_known ──▶ the writer
 *	          unwind_ban_found ◀── ban_found ◀── the writer
 *
 * The answer is in unwind_ban and *unwind_ban_found (unwind/memory.h; the bits
 * that are ours: ban.h). The first is static data, which a forked child keeps,
 * as it keeps the filter; the second lies in the live mapping, which a child
 * does not have, so it is taken over into the first now and then, and before a
 * fork that is seen.
 */
#ifndef GNOMON_SECCOMP_H
#define GNOMON_SECCOMP_H

#include <linux/filter.h>
#include <stdint.h>

#include "preload/base/ban.h"

/* Around the call that puts a filter, or strict mode, in force. From the first
 * to the second no thread makes a system call for us. */
void seccomp_before(void);
void seccomp_after_filter(const struct sock_fprog *program);
void seccomp_after_strict(void);
void seccomp_after_failure(void);

/* What is better not called for another reason: as by a filter, for good. */
void seccomp_forbid(uint32_t bits);

struct recorder;
struct gl_shared;

/* The recorder starts: what the writer is told as it is made, and then, when
 * r->shared is there. */
void seccomp_tell_start(struct gl_shared *shared);
void seccomp_tell(struct recorder *r);

/* Takes over what the writer has found. Any thread, at any time. */
void seccomp_take_over(void);

#endif
