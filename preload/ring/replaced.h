/*
 * replaced.h: code made at run time that was replaced by other code. The writer
 * finds it out (emit_names.c), the context tree has to forget it (jit.h), which
 * a thread of the target sees to.
 *
 *	writer                                a hook's slow branch
 *	replaced[replaced_put] ── ask ──▶ RING_ASKED ──▶ jit_replaced
 *	replaced_put++                                   replaced_taken++
 *
 * I1: an entry is written before replaced_put covers it, and again only when
 *     replaced_taken does.
 */
#ifndef GNOMON_REPLACED_H
#define GNOMON_REPLACED_H

#include <stdbool.h>

#include "preload/ring/shared.h"

/* Code lay in [start, end). False: there is no room, try again later. The
 * writer. */
bool replaced_tell(struct gl_shared *shared, uint64_t start, uint64_t end);

/* Has a thread look, if there is something it has not taken: to be called again
 * and again. The writer. */
void replaced_ask(struct gl_shared *shared);

/* A hook has found RING_ASKED: takes what there is. Any thread, also in a
 * signal handler; each entry is taken by one. */
void replaced_take(struct gl_shared *shared);

#endif
