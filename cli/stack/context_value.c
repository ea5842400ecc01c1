/*
 * context_value.c: see context_value.h. Called by the main thread.
 *
 * A node's place depends on the frame inward of it in one case: if a signal
 * interrupted it, its address is the instruction itself, not the one after a
 * call. Few nodes were interrupted, but a node can occur both ways. So there
 * are two values per node; those for interrupted nodes are in a table.
 *
 *  I1  parent < node (contexts.h), so a walk outward ends.
 */
#include "cli/stack/context_value.h"

#include <stdlib.h>
#include <string.h>

#include "cli/base/grow.h"
#include "cli/model/core/contexts.h"
#include "cli/stack/frames_prepare.h"
#include "unwind/base/assertion.h"

void context_value_init(
	struct context_value *context_value, struct frames *frames,
	uint32_t (*early)(void *owner, enum gt_stop stop, const char *words),
	uint32_t (*step)(void *owner, uint32_t outer, uint32_t place),
	void *owner)
{
	size_t count = frames->contexts->node_count;

	*context_value = (struct context_value){
		.frames = frames, .early = early, .step = step, .owner = owner
	};
	context_value->values = grow_resize(NULL, count, sizeof(uint32_t));
	memset(context_value->values, 0xff, count * sizeof(uint32_t));
}

void context_value_free(struct context_value *context_value)
{
	free(context_value->values);
	free(context_value->stack);
	table_free(&context_value->exact);
}

static uint32_t begin(const struct context_value *context_value, uint32_t root)
{
	const char *why = frames_stop_text((enum gt_stop)root);
	LOCAL_BUFFER words = { 0 };
	uint32_t value;

	if (why == NULL || context_value->early == NULL)
		return 0;
	buffer_printf(&words, "[the stack ends here: %s]", why);
	value = context_value->early(context_value->owner, (enum gt_stop)root,
				     words.data);
	return value;
}

static uint32_t known(const struct context_value *context_value, uint32_t node,
		      bool exact)
{
	return exact ? table_get(&context_value->exact, node) :
		context_value->values[node];
}

static void push(struct context_value *context_value, uint32_t node,
		 uint32_t place, bool exact)
{
	GROW(context_value->stack, context_value->stack_count,
	     context_value->stack_capacity);
	context_value->stack[context_value->stack_count++] =
		(struct context_value_frame){ node, place, exact };
}

uint32_t context_value_of(struct context_value *context_value, uint32_t node)
{
	struct frames *frames = context_value->frames;
	const struct context_node *nodes = frames->contexts->nodes;
	uint32_t value = TABLE_NONE;
	bool exact = false;

	DEBUG_ASSERT(context_value->stack_count == 0);
	frames_prepare_all(frames);
	for (; node >= CONTEXT_ROOTS; node = nodes[node].parent) {
		uint32_t place;

		value = known(context_value, node, exact);
		if (value != TABLE_NONE)
			break;
		place = frames_place(frames, node, exact);
		push(context_value, node, place, exact);
		exact = frames->places[place].signal;
	}
	DEBUG_ASSERT(value != TABLE_NONE || node < CONTEXT_ROOTS);
	if (value == TABLE_NONE)
		value = begin(context_value, node);
	while (context_value->stack_count > 0) {
		const struct context_value_frame *frame =
			&context_value->stack[--context_value->stack_count];

		value = context_value->step(context_value->owner, value,
					    frame->place);
		DEBUG_ASSERT(value != TABLE_NONE);
		if (frame->exact)
			table_set(&context_value->exact, frame->node, value);
		else
			context_value->values[frame->node] = value;
	}
	return value;
}
