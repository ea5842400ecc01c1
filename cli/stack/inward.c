/*
 * inward.c: see inward.h. Called by the main thread.
 *
 * A node's place depends on the frame inward of it in one case: if a signal
 * interrupted it, its address is the instruction itself, not the one after a
 * call. Few nodes were interrupted, but a node can occur both ways. So there
 * are two values per node; those for interrupted nodes are in a table.
 *
 *  I1  parent < node (contexts.h), so a walk outward ends.
 */
#include "cli/stack/inward.h"

#include <stdlib.h>
#include <string.h>

#include "cli/base/grow.h"
#include "cli/model/core/contexts.h"
#include "cli/stack/frames_prepare.h"
#include "unwind/claim.h"

void inward_init(struct inward *inward, struct frames *frames,
		 uint32_t (*early)(void *owner, enum gt_stop stop,
				   const char *words),
		 uint32_t (*step)(void *owner, uint32_t outer, uint32_t place),
		 void *owner)
{
	size_t count = frames->contexts->node_count;

	*inward = (struct inward){ .frames = frames, .early = early,
				   .step = step, .owner = owner };
	inward->values = grow_resize(NULL, count, sizeof(uint32_t));
	memset(inward->values, 0xff, count * sizeof(uint32_t));
}

void inward_free(struct inward *inward)
{
	free(inward->values);
	free(inward->stack);
	table_free(&inward->exact);
}

static uint32_t begin(const struct inward *inward, uint32_t root)
{
	const char *why = frames_stop_text((enum gt_stop)root);
	LOCAL_BUFFER words = { 0 };
	uint32_t value;

	if (why == NULL || inward->early == NULL)
		return 0;
	buffer_printf(&words, "[the stack ends here: %s]", why);
	value = inward->early(inward->owner, (enum gt_stop)root, words.data);
	return value;
}

static uint32_t known(const struct inward *inward, uint32_t node, bool exact)
{
	return exact ? table_get(&inward->exact, node) :
		inward->values[node];
}

static void push(struct inward *inward, uint32_t node, uint32_t place,
		 bool exact)
{
	GROW(inward->stack, inward->stack_count, inward->stack_capacity);
	inward->stack[inward->stack_count++] =
		(struct inward_frame){ node, place, exact };
}

uint32_t inward_value(struct inward *inward, uint32_t node)
{
	struct frames *frames = inward->frames;
	const struct context_node *nodes = frames->contexts->nodes;
	uint32_t value = TABLE_NONE;
	bool exact = false;

	CLAIM_FULL(inward->stack_count == 0);
	frames_prepare_all(frames);
	for (; node >= CONTEXT_ROOTS; node = nodes[node].parent) {
		uint32_t place;

		value = known(inward, node, exact);
		if (value != TABLE_NONE)
			break;
		place = frames_place(frames, node, exact);
		push(inward, node, place, exact);
		exact = frames->places[place].signal;
	}
	CLAIM_FULL(value != TABLE_NONE || node < CONTEXT_ROOTS);
	if (value == TABLE_NONE)
		value = begin(inward, node);
	while (inward->stack_count > 0) {
		const struct inward_frame *frame =
			&inward->stack[--inward->stack_count];

		value = inward->step(inward->owner, value, frame->place);
		CLAIM_FULL(value != TABLE_NONE);
		if (frame->exact)
			table_set(&inward->exact, frame->node, value);
		else
			inward->values[frame->node] = value;
	}
	return value;
}
