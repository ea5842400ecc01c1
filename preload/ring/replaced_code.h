/*
 * replaced_code.h: code generated at run time that was replaced by other code.
 * The recorder detects it (emit_names.c). A thread of the target then removes
 * it from the context tree (jit.h).
 *
 *	recorder                              a hook's slow branch
 *	replaced[replaced_put] ── ask ──▶ RING_ASKED ──▶ jit_replaced
 *	replaced_put++                                   replaced_taken++
 *
 * I1: an entry is written before replaced_put covers it, and written again only
 * after replaced_taken covers it.
 */
#ifndef GNOMON_REPLACED_CODE_H
#define GNOMON_REPLACED_CODE_H

#include "preload/ring/shared.h"

/* Called when a hook has found RING_ASKED: handles all new entries. Any thread,
 * also in a signal handler; each entry is taken by one thread. */
void replaced_code_take(struct gl_shared *shared);

#endif
