/*
 * frames_prepare.c: finds addresses that were not looked up yet. The caller of
 * a signal frame needs the symbol of the address itself, not of the call before
 * it: these few are looked up one by one later.
 *
 * Called by the main thread.
 */
#include "cli/stack/frames_prepare.h"

#include <stdlib.h>

#include "cli/base/grow.h"
#include "cli/model/core/contexts.h"

struct wanted {
	struct symbol_request *list;
	size_t count;
	size_t capacity;
	struct table seen;	/* hash of address and image */
};

static void want(struct wanted *wanted, const struct frames *frames,
		 uint32_t node)
{
	uint64_t address = frames->contexts->nodes[node].address;
	struct symbol_request *request;
	uint32_t index;
	uint64_t key;

	index = frames_image(frames, node);
	if (index == IMAGE_NONE || frames_is_own(frames, index))
		return;
	key = frames_place_key(address, index, false);
	/* If another one has the same hash, this one is looked up later. */
	if (table_get(&frames->place_of, key) != TABLE_NONE ||
	    table_get(&wanted->seen, key) != TABLE_NONE)
		return;
	table_set(&wanted->seen, key, 0);
	GROW(wanted->list, wanted->count, wanted->capacity);
	request = &wanted->list[wanted->count++];
	request->index = index;
	request->image = frames_symbol_image(frames, index);
	request->address = address;
	request->exact = false;
}

static void look_up(struct wanted *wanted, struct frames *frames)
{
	symbols_prepare(frames->symbols, wanted->list, wanted->count);
	table_free(&wanted->seen);
	free(wanted->list);
}

void frames_prepare_all(struct frames *frames)
{
	size_t count = frames->contexts->node_count;
	struct wanted wanted = { 0 };

	if (frames->prepared)
		return;
	frames->prepared = true;
	for (size_t i = CONTEXT_ROOTS; i < count; i++)
		want(&wanted, frames, (uint32_t)i);
	look_up(&wanted, frames);
}

void frames_prepare_stack(struct frames *frames, uint32_t node)
{
	const struct contexts *contexts = frames->contexts;
	struct wanted wanted = { 0 };

	if (frames->prepared)
		return;
	for (; node >= CONTEXT_ROOTS; node = contexts->nodes[node].parent)
		want(&wanted, frames, node);
	look_up(&wanted, frames);
}

void frames_prepare_nodes(struct frames *frames, const uint32_t *nodes,
			  size_t count)
{
	struct wanted wanted = { 0 };

	if (frames->prepared)
		return;
	for (size_t i = 0; i < count; i++)
		want(&wanted, frames, nodes[i]);
	look_up(&wanted, frames);
}
