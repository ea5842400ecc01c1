/*
 * speedscope.c: speedscope's file format, as its file-format-schema.json
 * defines it: a table of frames, and one sampled profile for each cost. A
 * sample is a stack, outermost frame first, and its weight is the cost. Stacks
 * of weight 0 are left out of the profile. Stacks are in tree order, so those
 * with common callers are adjacent.
 */
#include "cli/export/exporters.h"

#include <stdlib.h>
#include <string.h>

#include "cli/base/grow.h"
#include "cli/base/status.h"
#include "cli/base/text/json.h"

/* The format is identified by its published URL. */
#define SCHEMA "https://www.speedscope.app/file-format-schema.json"

struct writing {
	struct export *export;
	const struct profile *profile;
	struct json json;
	struct buffer scratch;
	uint32_t *stack;	/* frames of a node's stack, outermost last */
	size_t depth, capacity;
};

static void write_frame(struct writing *writing,
			const struct profile_frame *frame)
{
	struct json *json = &writing->json;

	json_object(json, NULL);
	json_string(json, "name",
		    export_profile_name(&writing->scratch, frame));
	if (frame->file != NULL)
		json_string(json, "file", frame->file);
	else if (frame->library != NULL)
		json_string(json, "file", frame->library);
	if (frame->line > 0)
		json_uint(json, "line", frame->line);
	if (frame->column > 0)
		json_uint(json, "col", frame->column);
	json_end_object(json);
}

static void write_frames(struct writing *writing)
{
	const struct profile *profile = writing->profile;

	json_object(&writing->json, "shared");
	json_array(&writing->json, "frames");
	for (size_t i = 0; i < profile->frame_count; i++)
		write_frame(writing, &profile->frames[i]);
	json_end_array(&writing->json);
	json_end_object(&writing->json);
}

static void write_stack(struct writing *writing, uint32_t n)
{
	const struct profile_node *nodes = writing->profile->nodes;

	writing->depth = 0;
	for (; n != PROFILE_ROOT; n = nodes[n].parent) {
		GROW(writing->stack, writing->depth, writing->capacity);
		writing->stack[writing->depth++] = nodes[n].frame;
	}
	json_array(&writing->json, NULL);
	while (writing->depth > 0)
		json_uint(&writing->json, NULL,
			  writing->stack[--writing->depth]);
	json_end_array(&writing->json);
}

/* Stacks or their weights, for export->cost. */
static void write_samples(struct writing *writing, const char *key,
			  bool weights)
{
	const struct profile *profile = writing->profile;

	json_array(&writing->json, key);
	for (uint32_t n = PROFILE_ROOT; n < profile->node_count; n++) {
		struct figures own = { 0 };
		uint64_t value;

		profile_own(profile, n, 0, &own);
		value = export_value(writing->export, &own);
		if (value > 0 && weights)
			json_uint(&writing->json, NULL, value);
		else if (value > 0)
			write_stack(writing, n);
	}
	json_end_array(&writing->json);
}

static void write_profile(struct writing *writing, const char *name)
{
	struct json *json = &writing->json;
	struct figures all = { 0 };

	profile_inclusive(writing->profile, PROFILE_ROOT, 0, &all);
	json_object(json, NULL);
	json_string(json, "type", "sampled");
	json_string(json, "name", name);
	json_string(json, "unit",
		    strcmp(export_unit(writing->export), "bytes") == 0 ?
		    "bytes" : "none");
	json_uint(json, "startValue", 0);
	json_uint(json, "endValue", export_value(writing->export, &all));
	write_samples(writing, "samples", false);
	write_samples(writing, "weights", true);
	json_end_object(json);
}

static void write_all(struct writing *writing)
{
	struct export *export = writing->export;
	const char *name = export_program(export->model);
	enum measure first = export->cost;
	struct json *json = &writing->json;
	size_t count = 0, active = 0;

	json_object(json, NULL);
	json_string(json, "$schema", SCHEMA);
	json_string(json, "exporter", "gnomon " GNOMON_VERSION);
	if (name != NULL)
		json_string(json, "name", name);
	write_frames(writing);
	json_array(json, "profiles");
	for (unsigned i = 0; i < measure_count; i++) {
		if (!figures_have((enum measure)i, MEASURE_EXPORTED))
			continue;
		export->cost = (enum measure)i;
		active = export->cost == first ? count : active;
		write_profile(writing, measure_kinds[i].label);
		count++;
	}
	export->cost = first;
	json_end_array(json);
	json_uint(json, "activeProfileIndex", active);
	json_end_object(json);
}

static int write_speedscope(struct export *export)
{
	struct writing writing = {
		.export = export,
		.profile = export->profile,
		.json = { .out = export->out },
	};

	write_all(&writing);
	buffer_free(&writing.scratch);
	free(writing.stack);
	return EXIT_COMPLETE;
}

const struct exporter export_speedscope = {
	.name = "speedscope",
	.what = "speedscope's JSON, one profile for each cost",
	.wants_profile = true,
	.spares = QUERY_SPARES_OWN_PEAKS | QUERY_SPARES_SIZES |
		QUERY_SPARES_BLOCKS,
	.write = write_speedscope,
};
