/* nested_ring.c: see nested_ring.h. */
#include "cli/recorder/live/nested_ring.h"

#include <stdatomic.h>

#include "preload/base/base.h"

uint64_t nested_settled(struct nested_ring *nested, const struct gl_ring *first,
			uint64_t head)
{
	/* pairs with the release of ring_push_*: records reserved in the second
	 * ring before `head` was read are older than the push that moves
	 * this */
	uint64_t moved = atomic_load_explicit(&first->head,
					      memory_order_acquire);

	/* pairs with the release of ring_leave */
	if (atomic_load_explicit(&first->busy, memory_order_acquire) ==
	    GL_IDLE) {
		nested->to = base_max(nested->to, head);
		nested->watched = false;
		return nested->to;
	}
	if (nested->watched && nested->generation == first->generation) {
		if (nested->first == moved)
			return nested->to;
		nested->to = base_max(nested->to, nested->head);
	}
	nested->watched = true;
	nested->head = head;
	nested->first = moved;
	nested->generation = first->generation;
	return nested->to;
}
