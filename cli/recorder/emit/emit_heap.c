/* emit_heap.c: see emit_heap.h. */
#include "cli/recorder/emit/emit_heap.h"

#include <string.h>

#include "cli/recorder/base/counter.h"
#include "cli/recorder/emit/varint.h"
#include "preload/base/base.h"
#include "unwind/base/assertion.h"

static size_t emit_heap_length(const char *name)
{
	size_t n = 0;

	while (n < GL_HEAP_NAME - 1 && name[n])
		n++;
	return n;
}

void emit_heap_flush(struct emit_heap *emit)
{
	const struct gl_shared *shared = emit->shared;
	/* a reader that saw an event of a heap also sees its name; pairs with
	 * the release of heaps_report */
	uint64_t end = atomic_load_explicit(&shared->heaps_named,
					    memory_order_acquire) +
		       UINT64_C(1);
	uint8_t *to = chunk_payload(emit->out), *start = to;

	end = base_min(end, base_min(*emit->reserved, GL_HEAPS_MAX));
	/* all names fit: some 80 bytes each */
	while (emit->reported + 1 < end) {
		char name[GL_HEAP_NAME];
		size_t length;

		memcpy(name, shared->heap_name[++emit->reported], sizeof(name));
		DEBUG_ASSERT(emit->reported < GL_HEAPS_MAX);
		length = emit_heap_length(name);

		to = varint_put(to, GT_CONTROL_HEAP);
		to = varint_put(to, counter_now() >> emit->tick_shift);
		to = varint_put(to, emit->reported);
		to = varint_put(to, length);
		memcpy(to, name, length);
		to += length;
	}
	if (to != start)
		chunk_write(emit->out, GT_CONTROL, to, NULL);
}
