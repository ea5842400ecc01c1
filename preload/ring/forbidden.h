/*
 * forbidden.h: which system calls the target's threads must not make, shared
 * between hooks and the recorder.
 *
 *	hooks ──▶ unwind_ban ──▶ ban_known ──▶ the recorder
 *	          unwind_ban_found ◀── ban_found ◀── the recorder
 *
 * The bits are in unwind_ban and *unwind_ban_found (unwind/base/memory.h; our own
 * bits: ban.h). unwind_ban is static data, which a forked child keeps, as it
 * keeps its filters. *unwind_ban_found lies in the live mapping, which a child
 * does not have. So its bits are copied into unwind_ban now and then, and
 * before each fork that a hook sees.
 */
#ifndef GNOMON_FORBIDDEN_H
#define GNOMON_FORBIDDEN_H

#include <stdbool.h>
#include <stdint.h>

#include "preload/base/ban.h"

struct producer;
struct gl_shared;

/* Forbids these calls, permanently. */
void forbidden_add(uint32_t bits);

/*
 * Around a call that may forbid system calls. Between the two, no thread makes
 * a system call for us. bits: what the call has forbidden; filter: whether it
 * installed a filter.
 */
void forbidden_before(void);
void forbidden_after(uint32_t bits, bool filter);

/* Publish the known bits to the recorder when it starts: before it runs, and
 * again when p->shared is there. */
void forbidden_report_start(struct gl_shared *shared);
void forbidden_report(struct producer *p);

/* Copies the bits that the recorder has found. Any thread, at any time. */
void forbidden_take_over(void);

#endif
