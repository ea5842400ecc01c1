/*
 * frame_table.c: see frame_table.h. Called by the main thread.
 */
#include "cli/stack/frame_table.h"

#include <stdlib.h>
#include <string.h>

#include "cli/base/grow.h"
#include "cli/base/hash.h"
#include "unwind/base/assertion.h"

/* Names are interned (symbols.h), so equal ones have the same pointer. */
static bool is_same(const struct frame *a, const struct frame *b)
{
	return a->function == b->function && a->file == b->file &&
		a->library == b->library && a->line == b->line &&
		a->column == b->column && a->inlined == b->inlined &&
		a->address == b->address &&
		a->module_offset == b->module_offset;
}

static uint64_t hash_of(const struct frame *frame)
{
	uint64_t hash = hash_number(frame->address ^ (uint64_t)frame->line << 40);

	hash = hash_number(hash ^ (uintptr_t)frame->function);
	hash = hash_number(hash ^ (uintptr_t)frame->file ^ frame->column);
	return hash_number(hash ^ (uintptr_t)frame->library ^
			 frame->module_offset) + frame->inlined;
}

uint32_t frame_table_number(struct frame_table *frames,
			      const struct frame *frame)
{
	uint64_t hash = hash_of(frame);
	uint32_t number;

	/* Frames with the same hash are stored under the following ones. */
	for (;; hash++) {
		number = table_get(&frames->number_of, hash);
		if (number == TABLE_NONE)
			break;
		DEBUG_ASSERT(number < frames->count);
		if (is_same(&frames->list[number], frame))
			return number;
	}
	number = (uint32_t)frames->count;
	GROW(frames->list, frames->count, frames->capacity);
	frames->list[frames->count++] = *frame;
	table_set(&frames->number_of, hash, number);
	return number;
}

void frame_table_frame(struct json *json, const struct frame *frame)
{
	json_object(json, NULL);
	json_string(json, "function", frame->function);
	json_bool(json, "named", frame->function && !frame->nameless);
	json_string(json, "file", frame->file);
	json_uint(json, "line", frame->line);
	json_uint(json, "column", frame->column);
	json_string(json, "library", frame->library);
	json_bool(json, "inlined", frame->inlined);
	json_uint(json, "address", frame->address);
	json_uint(json, "module_offset", frame->module_offset);
	json_end_object(json);
}

void frame_table_json(struct json *json, const struct frame_table *frames)
{
	json_array(json, "frames");
	for (size_t i = 0; i < frames->count; i++)
		frame_table_frame(json, &frames->list[i]);
	json_end_array(json);
}

void frame_table_free(struct frame_table *frames)
{
	free(frames->list);
	table_free(&frames->number_of);
	memset(frames, 0, sizeof(*frames));
}
