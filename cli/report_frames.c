/*
 * report_frames.c: see report_frames.h. Called by the main thread.
 */
#include "cli/report_frames.h"

#include <stdlib.h>
#include <string.h>

#include "cli/base/grow.h"
#include "cli/report.h"

/* Names are made once each (symbols.h), so that equal ones are one pointer. */
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
	uint64_t hash = table_mix(frame->address ^ (uint64_t)frame->line << 40);

	hash = table_mix(hash ^ (uintptr_t)frame->function);
	hash = table_mix(hash ^ (uintptr_t)frame->file ^ frame->column);
	return table_mix(hash ^ (uintptr_t)frame->library ^
			 frame->module_offset) + frame->inlined;
}

uint32_t report_frames_number(struct report_frames *frames,
			      const struct frame *frame)
{
	uint64_t hash = hash_of(frame);
	uint32_t number;

	/* Other frames of this hash stand at the next ones. */
	for (;; hash++) {
		number = table_get(&frames->number_of, hash);
		if (number == TABLE_NONE)
			break;
		if (is_same(&frames->list[number], frame))
			return number;
	}
	number = (uint32_t)frames->count;
	GROW(frames->list, frames->count, frames->capacity);
	frames->list[frames->count++] = *frame;
	table_set(&frames->number_of, hash, number);
	return number;
}

void report_frames_json(struct json *json, const struct report_frames *frames)
{
	json_array(json, "frames");
	for (size_t i = 0; i < frames->count; i++)
		report_json_frame(json, &frames->list[i]);
	json_end_array(json);
}

void report_frames_free(struct report_frames *frames)
{
	free(frames->list);
	table_free(&frames->number_of);
	memset(frames, 0, sizeof(*frames));
}
