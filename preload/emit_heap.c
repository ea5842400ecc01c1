/* emit_heap.c: see emit_heap.h. */
#include "preload/emit_heap.h"

#include <string.h>

#include "arch.h"
#include "preload/varint.h"

void emit_heap_flush(struct emit_heap *emit)
{
	uint8_t *to = chunk_payload(emit->out), *start = to;
	const char *name;
	uint32_t heap;

	/* all of them fit: some 80 bytes each */
	while ((heap = heaps_next(&emit->told, &name)) != 0) {
		size_t length = strlen(name);

		to = varint_put(to, GT_CONTROL_HEAP);
		to = varint_put(to, arch_cycles() >> emit->tick_shift);
		to = varint_put(to, heap);
		to = varint_put(to, length);
		memcpy(to, name, length);
		to += length;
	}
	if (to != start)
		chunk_write(emit->out, GT_CONTROL, to, NULL);
}
