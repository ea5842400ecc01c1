/*
 * flame_data.c: writes a flame graph's tree and metadata as JSON for
 * cli/page/flame_data.ts, which declares the types. Each string is stored once;
 * frames and nodes are columns of numbers:
 *
 *	strings    names and files; 0 is ""
 *	libraries  largest first; 0 is ""
 *	frames     six numbers each: name, file, line, column, library, flags
 *	nodes      in the order of flame.h: depth; frame (-1 the root, -1-n
 *	           for "n smaller"); a column for each of enum flame_value,
 *	           and for a diff also before_… and change_… of each
 *	timeline   equal time spans: maximum of live bytes, and allocated bytes
 *	tracks     live bytes of some nodes at the ends of wider spans:
 *	           each number is the difference to the previous one
 *	diff       labels of the two sides of a diff
 *
 * Called by the main thread.
 */
#include "cli/flamegraph/flame.h"

#include <assert.h>
#include <stdlib.h>

#include "cli/base/grow.h"
#include "cli/base/table.h"
#include "cli/base/text/json.h"
#include "cli/command/print/report_coverage.h"
#include "cli/model/stats/timeline.h"

/* Bytes of all frames' names; above it, the longest are cut. */
#define NAMES_BUDGET (8u << 20)
#define SPANS_MAX 512u

enum flame_flag {
	FLAG_INLINED = 1,
	FLAG_GLUE = 2,
	FLAG_STOP = 4,		/* pseudo-frame: why the walk stopped */
	FLAG_NAMELESS = 8
};

static const char *const columns[FLAME_VALUES] = {
	"live", "peak", "total", "count", "temporary", "live_blocks",
	"peak_blocks"
};

struct writer {
	const struct flame_tree *tree;
	struct json json;
	struct table strings;	/* address -> number: strings are interned */
	uint32_t string_count;
	uint32_t *names, *files;	/* string numbers of each frame */
};

static uint32_t put_string(struct writer *w, const char *key, const char *text)
{
	uint32_t number = key == NULL ? TABLE_NONE :
		table_get(&w->strings, (uintptr_t)key);

	if (number != TABLE_NONE)
		return number;
	json_string(&w->json, NULL, text);
	if (key != NULL)
		table_set(&w->strings, (uintptr_t)key, w->string_count);
	return w->string_count++;
}

static void put_strings(struct writer *w)
{
	const struct flame_tree *tree = w->tree;
	size_t limit = flame_name_limit(tree, false, NAMES_BUDGET);
	LOCAL_BUFFER scratch = { 0 };

	json_array(&w->json, "strings");
	put_string(w, NULL, "");
	for (uint32_t i = 0; i < tree->frame_count; i++) {
		const struct profile_frame *frame =
			&tree->profile->frames[tree->frames[i]];

		w->names[i] = put_string(w, frame->function,
			flame_frame_name(&scratch, frame, limit));
		w->files[i] = frame->file == NULL ? 0 :
			put_string(w, frame->file, frame->file);
	}
	json_end_array(&w->json);
}

static void put_frames(struct writer *w)
{
	const struct flame_tree *tree = w->tree;

	json_array(&w->json, "frames");
	for (uint32_t i = 0; i < tree->frame_count; i++) {
		const struct profile_frame *frame =
			&tree->profile->frames[tree->frames[i]];
		unsigned flags = 0;

		flags |= frame->inlined ? FLAG_INLINED : 0;
		flags |= frame->glue ? FLAG_GLUE : 0;
		flags |= frame->stop != GT_STOP_BOTTOM ? FLAG_STOP : 0;
		flags |= frame->function == NULL || frame->nameless ?
			FLAG_NAMELESS : 0;
		json_uint(&w->json, NULL, w->names[i]);
		json_uint(&w->json, NULL, w->files[i]);
		json_uint(&w->json, NULL, frame->line);
		json_uint(&w->json, NULL, frame->column);
		json_uint(&w->json, NULL, tree->library_of[i]);
		json_uint(&w->json, NULL, flags);
	}
	json_end_array(&w->json);
}

static int64_t frame_number(const struct flame_tree *tree, uint32_t n)
{
	const struct flame_node *node = &tree->nodes[n];

	return node->frame != PROFILE_NONE ? tree->number[node->frame] :
		-1 - (int64_t)node->smaller;
}

static void put_column(struct writer *w, unsigned of)
{
	static const char *const sides[FLAME_SIDES] = {
		"", "before_", "change_"
	};
	char name[32];

	snprintf(name, sizeof(name), "%s%s", sides[of / FLAME_VALUES],
		 columns[of % FLAME_VALUES]);
	json_array(&w->json, name);
	for (uint32_t n = 0; n < w->tree->count; n++)
		json_uint(&w->json, NULL, w->tree->nodes[n].values[of]);
	json_end_array(&w->json);
}

static void put_nodes(struct writer *w)
{
	const struct flame_tree *tree = w->tree;

	json_object(&w->json, "nodes");
	json_array(&w->json, "depth");
	for (uint32_t n = 0; n < tree->count; n++)
		json_uint(&w->json, NULL, tree->nodes[n].depth);
	json_end_array(&w->json);
	json_array(&w->json, "frame");
	for (uint32_t n = 0; n < tree->count; n++)
		json_int(&w->json, NULL, frame_number(tree, n));
	json_end_array(&w->json);
	for (unsigned v = 0; v < tree->sides * FLAME_VALUES; v++)
		put_column(w, v);
	json_end_object(&w->json);
}

static void put_spans(struct json *json, const struct timeline *timeline,
		      size_t step, bool allocated)
{
	assert(step > 0);
	json_array(json, allocated ? "allocated" : "live");
	for (size_t i = 0; i < timeline->count; i += step) {
		uint64_t max = 0, sum = 0;

		for (size_t k = i; k < i + step && k < timeline->count; k++) {
			const struct timeline_bucket *one =
				&timeline->buckets[k];

			sum += one->allocated_bytes;
			if (one->live_bytes_max > max)
				max = one->live_bytes_max;
		}
		json_uint(json, NULL, allocated ? sum : max);
	}
	json_end_array(json);
}

/* The width of `step` buckets in ns. */
static uint64_t width_of(const struct model *model, size_t step)
{
	const struct timeline *timeline = model_timeline(model);

	return model_since_start_ns(model, timeline_stamp(timeline, step)) -
		model_since_start_ns(model, timeline->start);
}

static void put_track(struct json *json, const struct flame_tracks *tracks,
		      uint32_t track)
{
	uint64_t before = 0;

	assert(track < tracks->count);
	json_array(json, NULL);
	for (size_t row = 0; row < tracks->rows; row++) {
		uint64_t live = tracks->live[row * tracks->count + track];

		json_int(json, NULL, (int64_t)(live - before));
		before = live;
	}
	json_end_array(json);
}

static void put_timeline(struct json *json, const struct model *model)
{
	const struct timeline *timeline = model_timeline(model);
	size_t step = (timeline->count + SPANS_MAX - 1) / SPANS_MAX;

	if (timeline->count == 0)
		return;
	json_object(json, "timeline");
	json_uint(json, "start_ns",
		  model_since_start_ns(model, timeline->start));
	json_uint(json, "width_ns", width_of(model, step));
	json_uint(json, "end_ns", model_duration_ns(model));
	json_uint(json, "peak_ns",
		  model_since_start_ns(model, model_peak_stamp(model)));
	put_spans(json, timeline, step, false);
	put_spans(json, timeline, step, true);
	json_uint(json, "live_end",
		  timeline->buckets[timeline->count - 1].live_bytes);
	json_end_object(json);
}

static void put_tracks(struct json *json, struct export *export,
		       const struct flame_tree *tree)
{
	struct flame_tracks tracks;

	if (flame_tracks_follow(&tracks, export, tree)) {
		json_object(json, "tracks");
		json_uint(json, "width_ns", width_of(export->model,
						     tracks.step));
		json_array(json, "nodes");
		for (uint32_t i = 0; i < tracks.count; i++)
			json_uint(json, NULL, tracks.nodes[i]);
		json_end_array(json);
		json_array(json, "live");
		for (uint32_t i = 0; i < tracks.count; i++)
			put_track(json, &tracks, i);
		json_end_array(json);
		json_end_object(json);
	}
	flame_tracks_free(&tracks);
}

static void put_sides(struct json *json, const struct comparison *comparison)
{
	json_object(json, "diff");
	json_string(json, "before", comparison->sides[0].label);
	json_string(json, "after", comparison->sides[1].label);
	json_end_object(json);
}

/* Write the metadata. */
static void put_about(struct json *json, const struct flame_export *flame,
		      const struct flame_tree *tree)
{
	LOCAL_BUFFER title = { 0 }, command = { 0 };

	if (flame->comparison == NULL)
		model_command(flame->export.model, &command);
	flame_title(&title, flame);
	json_uint(json, "version", 1);
	json_string(json, "title", title.data);
	json_string(json, "command", command.data ? command.data : "");
	json_string(json, "filters",
		    filter_text(flame->export.query->filter));
	json_string(json, "cost", measure_kinds[flame->export.cost].name);
	json_bool(json, "icicle", flame->icicle);
	json_bool(json, "estimated",
		  flame->export.coverage.sample_mean != 0);
	report_coverage_json(json, &flame->export.coverage);
	json_uint(json, "folded", tree->folded);
	/* "less than an n-th" */
	json_uint(json, "part", (uint64_t)(1 / tree->share));
}

void flame_data_write(struct flame_export *flame,
		      const struct flame_tree *tree, FILE *out)
{
	struct writer w = { .tree = tree,
			    .json = { .out = out, .compact = true } };

	w.names = grow_zeroed(tree->frame_count, sizeof(*w.names));
	w.files = grow_zeroed(tree->frame_count, sizeof(*w.files));
	json_object(&w.json, NULL);
	put_about(&w.json, flame, tree);
	json_array(&w.json, "libraries");
	json_string(&w.json, NULL, "");
	for (uint32_t i = 1; i < tree->library_count; i++)
		json_string(&w.json, NULL, tree->libraries[i]);
	json_end_array(&w.json);
	put_strings(&w);
	put_frames(&w);
	put_nodes(&w);
	if (flame->comparison != NULL) {
		put_sides(&w.json, flame->comparison);
	} else {
		put_timeline(&w.json, flame->export.model);
		put_tracks(&w.json, &flame->export, tree);
	}
	json_end_object(&w.json);
	table_free(&w.strings);
	free(w.names);
	free(w.files);
}
