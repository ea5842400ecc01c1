/* damages.c: see damages.h. Called by the reader's thread. */
#include "cli/model/core/damages.h"

#include <stdlib.h>
#include <string.h>

#include "cli/base/grow.h"
#include "unwind/base/assertion.h"

void damages_extra(struct damages *damages, struct contexts *contexts,
		   uint32_t thread, const struct trace_event *event)
{
	uint64_t context;

	if (event->what != GT_EXTRA_DAMAGE)
		return;
	damages->all++;
	if (damages->count == DAMAGES_MAX)
		return;
	context = event->args[1] <= UINT32_MAX ? event->args[1] : 0;
	DEBUG_ASSERT(damages->count < damages->all);
	GROW(damages->list, damages->count, damages->capacity);
	damages->list[damages->count++] = (struct damage){
		.stamp = event->stamp,
		.address = event->address,
		.size = event->size,
		.offset = (int64_t)event->args[0],
		.bytes = event->args[2],
		.thread = thread,
		.allocated_by = contexts_node(contexts, (uint32_t)context),
		.found_by = contexts_node(contexts, event->context),
		.when = event->args[3] < GT_DAMAGE_COUNT ?
			(uint8_t)event->args[3] : GT_DAMAGE_COUNT,
	};
}

void damages_forget(struct damages *damages)
{
	damages->count = 0;
	damages->all = 0;
}

void damages_free(struct damages *damages)
{
	free(damages->list);
	memset(damages, 0, sizeof(*damages));
}
