/*
 * forbidden.h: which system calls are left to the target's threads, as hooks and
 * the writer tell each other.
 *
 *	hooks ──▶ unwind_ban ──▶ ban_known ──▶ the writer
 *	          unwind_ban_found ◀── ban_found ◀── the writer
 *
 * The answer is in unwind_ban and *unwind_ban_found (unwind/memory.h; the bits
 * that are ours: ban.h). The first is static data, which a forked child keeps,
 * as it keeps its filters of system calls; the second lies in the live mapping,
 * which a child does not have, so it is taken over into the first now and then,
 * and before a fork that is seen.
 */
#ifndef GNOMON_FORBIDDEN_H
#define GNOMON_FORBIDDEN_H

#include <stdbool.h>
#include <stdint.h>

#include "preload/base/ban.h"

struct recorder;
struct gl_shared;

/* These are not called any more, for good. */
void forbidden_add(uint32_t bits);

/*
 * Around a call that may forbid some. From the first to the second no thread
 * makes a system call for us. bits: what it has forbidden; filter: whether it
 * was by a filter.
 */
void forbidden_before(void);
void forbidden_after(uint32_t bits, bool filter);

/* The recorder starts: what the writer is told as it is made, and then, when
 * r->shared is there. */
void forbidden_tell_start(struct gl_shared *shared);
void forbidden_tell(struct recorder *r);

/* Takes over what the writer has found. Any thread, at any time. */
void forbidden_take_over(void);

#endif
