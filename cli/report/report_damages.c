/*
 * report_damages.c: see report.h. Called by the main thread.
 */
#include "cli/report/report.h"

#include <inttypes.h>

#include "cli/base/text/quantity.h"
#include "cli/model/core/damages.h"
#include "cli/model/core/pools.h"
#include "cli/model/core/threads.h"

#define ROWS 10			/* without --top */
#define INDENT 9

static const char *const when_words[GT_DAMAGE_COUNT + 1] = {
	[GT_DAMAGE_FREE] = "free", [GT_DAMAGE_REALLOC] = "realloc",
	[GT_DAMAGE_END] = "end", [GT_DAMAGE_COUNT] = "unknown",
};

static uint64_t distance(int64_t offset)
{
	return offset < 0 ? 0 - (uint64_t)offset : (uint64_t)offset;
}

/* Prints the kind of damage and its place relative to the block. */
static void put_what(const struct damage *damage, FILE *out)
{
	if (damage->bytes == 0) {
		fprintf(out, "freed a second time");
		return;
	}
	fprintf(out, "%s written ", COUNTED(damage->bytes, "byte"));
	if (damage->offset < 0)
		fprintf(out, "from %s before its start on",
			COUNT_TEXT(distance(damage->offset)));
	else if ((uint64_t)damage->offset >= damage->size)
		fprintf(out, "from %s after its end on",
			COUNT_TEXT((uint64_t)damage->offset - damage->size));
	else
		fprintf(out, "at offset %s",
			COUNT_TEXT((uint64_t)damage->offset));
}

static void put_stack(struct report *r, const char *title, uint32_t node)
{
	if (node == 0)
		return;
	fprintf(r->out, "%*s%s by\n", INDENT, "", title);
	report_load_context(r, node);
	report_stack(r, 0, 0, INDENT + 2);
}

static void put_damage(struct report *r, const struct damage *damage,
		       size_t number)
{
	static const char *const found[GT_DAMAGE_COUNT + 1] = {
		"freed", "reallocated", "found", "found",
	};

	fprintf(r->out, "\n%4zu. %s", number, r->style->warn);
	put_what(damage, r->out);
	fprintf(r->out, "%s\n%*sblock of %s at 0x%" PRIx64 ", %s after %s, "
		"thread %" PRIu32 "\n", r->style->off, INDENT, "",
		SIZE_TEXT(damage->size), pools_address(damage->address),
		damage->when == GT_DAMAGE_END ? "found at the end," : "found",
		TIME_TEXT(model_since_start_ns(r->model, damage->stamp)),
		model_thread(r->model, damage->thread)->tid);
	put_stack(r, "allocated", damage->allocated_by);
	put_stack(r, found[damage->when], damage->found_by);
}

void report_damages_text(struct report *r)
{
	const struct damages *damages = model_damages(r->model);
	size_t shown = report_shown(r, damages->count, ROWS);

	if (damages->all == 0)
		return;
	fprintf(r->out, "\n%sDAMAGE%s: the program wrote outside of blocks, or "
		"freed a block twice\n", r->style->title, r->style->off);
	for (size_t i = 0; i < shown; i++)
		put_damage(r, &damages->list[i], i + 1);
	if (shown < damages->all)
		fprintf(r->out, "\n      and %s more\n",
			COUNT_TEXT(damages->all - shown));
}

static void json_stack(struct json *json, struct report *r, const char *key,
		       uint32_t node)
{
	if (node == 0)
		return;
	report_load_context(r, node);
	json_object(json, key);
	json_uint(json, "context", node);
	report_json_stack(json, &r->stack, 0, NULL);
	json_end_object(json);
}

void report_damages_json(struct json *json, struct report *r)
{
	const struct damages *damages = model_damages(r->model);

	if (damages->count == 0)
		return;
	json_array(json, "damages");
	for (size_t i = 0; i < damages->count; i++) {
		const struct damage *damage = &damages->list[i];

		json_object(json, NULL);
		json_uint(json, "time_ns",
			  model_since_start_ns(r->model, damage->stamp));
		json_string(json, "found", when_words[damage->when]);
		json_uint(json, "address", pools_address(damage->address));
		json_uint(json, "size", damage->size);
		json_int(json, "offset", damage->offset);
		json_uint(json, "bytes", damage->bytes);
		json_bool(json, "freed_twice", damage->bytes == 0);
		json_uint(json, "tid",
			  model_thread(r->model, damage->thread)->tid);
		json_stack(json, r, "allocated", damage->allocated_by);
		json_stack(json, r, "found_by", damage->found_by);
		json_end_object(json);
	}
	json_end_array(json);
}
