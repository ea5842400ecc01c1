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

#include "preload/ring/shared.h"

/* A hook has found RING_ASKED: takes what there is. Any thread, also in a
 * signal handler; each entry is taken by one. */
void replaced_take(struct gl_shared *shared);

#endif
