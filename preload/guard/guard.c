/*
 * guard.c: see guard.h.
 *
 * I1: `guard` is static, so that a forked child continues with it: the child
 * may free blocks of its parent. Their contexts are in the parent's tree; the
 * number of forks in the header identifies the tree.
 */
#include "preload/guard/guard.h"

#include <string.h>

#include "preload/base/sys.h"
#include "preload/hooks/guard_note.h"
#include "preload/ring/producer.h"

struct guard guard;

void guard_begin(uint32_t zone)
{
	struct guard_mark *mark = &guard.mark;

	ASSERT(!guard.on);
	guard.shape = guard_shape(zone, sys_random());
	mark->bytes = sizeof(*mark);
	mark->pid = sys_getpid();
	mark->zone = zone;
	mark->front = guard.shape.front;
	mark->fill = GUARD_FILL;
	mark->secret = guard.shape.secret;
	/* last, when all other fields are set */
	memcpy(mark->magic, GUARD_MARK, sizeof(mark->magic));
	guard.on = true;
	if (producer_tls && producer_tls->own)
		producer_set_skip(producer_tls, THREAD_NOTES, true);
	if (producer && producer->live)
		guard_recorded(producer, false);
}

void guard_recorded(struct producer *p, bool forked)
{
	if (!guard.on)
		return;
	guard.mark.pid = p->pid;
	guard.mark.live = (uintptr_t)p->live;
	if (forked)
		guard.mark.forks = (uint8_t)(guard.mark.forks + 1);
}

void guard_note(uintptr_t block, uint32_t context)
{
	struct guard_found found;

	if (!guard.on ||
	    guard_find(&guard.shape, block, &found) != GUARD_LIVE)
		return;
	guard_moves(block);
	guard_name(&guard.shape, block, context, (uint8_t)guard.mark.forks);
}
