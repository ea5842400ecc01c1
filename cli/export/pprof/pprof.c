/*
 * pprof.c: pprof's profile.proto, for `go tool pprof` and for continuous
 * profiling servers (Pyroscope, Parca, …).
 *
 * Each stack has four values, in the order of Go's heap profiles:
 * alloc_objects, alloc_space: all allocations; inuse_objects, inuse_space: live
 * blocks. With --cost peak, the latter are the blocks live at the peak. With
 * --cost temporary there is a fifth value, temporary_objects, since pprof's
 * types do not include it.
 *
 *	node ─(context_value.h)─▶ stack of locations ─▶ sample (of a thread)
 *
 * Contexts with the same locations share a sample. Samples are written one by
 * one, then the tables they refer to, then the remaining fields.
 */
#include "cli/export/exporters.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/grow.h"
#include "cli/base/pairset.h"
#include "cli/base/status.h"
#include "cli/base/text/quantity.h"
#include "cli/export/pprof/pprof_tables.h"
#include "cli/export/pprof/profile.pb-c.h"
#include "cli/model/core/threads.h"
#include "cli/stack/context_value.h"
#include "unwind/base/assertion.h"

enum {
	ALLOC_OBJECTS, ALLOC_SPACE, INUSE_OBJECTS, INUSE_SPACE, TEMPORARY,
	VALUES
};

static const struct { const char *type, *unit; } types[VALUES] = {
	[ALLOC_OBJECTS] = { "alloc_objects", "count" },
	[ALLOC_SPACE] = { "alloc_space", "bytes" },
	[INUSE_OBJECTS] = { "inuse_objects", "count" },
	[INUSE_SPACE] = { "inuse_space", "bytes" },
	[TEMPORARY] = { "temporary_objects", "count" },
};

/*
 * Allocator frames: pprof drops them with their callees and attributes their
 * allocations to the callers. pprof matches names without parameters; other
 * tools may match them with parameters.
 */
#define DROP_FRAMES							\
	"(?:(?:__libc_|__)?(?:malloc|calloc|realloc|reallocarray|memalign|" \
	"aligned_alloc|posix_memalign|valloc|pvalloc)|"			\
	"operator new(?:\\[\\])?|"					\
	"(?:std|__gnu_cxx)::(?:__cxx11::)?(?:allocator|new_allocator|"	\
	"__new_allocator|allocator_traits)<.*>::allocate)(?:\\(.*\\))?"

#define STACK_NONE UINT32_MAX	/* caller of the outermost location */

struct sample {
	uint64_t values[VALUES];
};

struct writing {
	struct export *export;
	struct pprof_tables tables;
	struct context_value context_value;
	struct pairset stacks;	/* (calling stack, location) */
	struct pairset keys;	/* samples by (stack, part) */
	struct sample *samples;
	size_t sample_count, sample_capacity;
	size_t types;		/* number of types */
	uint64_t *ids;		/* location ids of one sample */
	size_t id_count, id_capacity;
	struct pprof_out out;
};

/* ---- stacks ---- */

static uint32_t begin_early(void *owner, enum gt_stop stop, const char *words)
{
	struct writing *writing = owner;

	(void)stop;
	return pairset_number(&writing->stacks, 0,
			      pprof_location_stop(&writing->tables, words));
}

static uint32_t step_inward(void *owner, uint32_t outer, uint32_t place)
{
	struct writing *writing = owner;
	uint32_t location = pprof_location(&writing->tables, place);

	return location == TABLE_NONE ? outer :
		pairset_number(&writing->stacks, outer, location);
}

/* ---- samples ---- */

static void add_sample(void *owner, uint32_t node, uint32_t part,
		       const struct figures *figures)
{
	struct writing *writing = owner;
	bool peak = writing->export->cost == MEASURE_PEAK;
	uint32_t stack = context_value_of(&writing->context_value, node);
	uint32_t number = pairset_number(&writing->keys, stack, part);
	struct sample *sample;

	if (number == writing->sample_count) {
		GROW(writing->samples, writing->sample_count,
		     writing->sample_capacity);
		writing->samples[writing->sample_count++] =
			(struct sample){ 0 };
	}
	DEBUG_ASSERT(number < writing->sample_count);
	sample = &writing->samples[number];
	sample->values[ALLOC_OBJECTS] += figures->count;
	sample->values[ALLOC_SPACE] += figures->total_bytes;
	sample->values[INUSE_OBJECTS] += peak ? figures->peak_blocks :
		figures->live_blocks;
	sample->values[INUSE_SPACE] += peak ? figures->peak_bytes :
		figures->live_bytes;
	sample->values[TEMPORARY] += figures->temporary;
}

static size_t locations_of(struct writing *writing, uint32_t stack)
{
	writing->id_count = 0;
	DEBUG_ASSERT(stack < writing->stacks.pair_count);
	for (; stack != 0; stack = writing->stacks.pairs[stack].first) {
		GROW(writing->ids, writing->id_count, writing->id_capacity);
		writing->ids[writing->id_count++] =
			writing->stacks.pairs[stack].second + UINT64_C(1);
	}
	return writing->id_count;
}

/* Labels for name and tid of the thread; none if unknown. */
static size_t labels_of(struct writing *writing, uint32_t part,
			Pprof__Label *labels)
{
	const struct threads *threads = model_threads(writing->export->model);
	const struct thread *thread;
	size_t count = 0;

	if (!writing->export->threads || part == 0 || part >= threads->count)
		return 0;
	thread = &threads->list[part];
	pprof__label__init(&labels[0]);
	pprof__label__init(&labels[1]);
	if (threads_name(thread)[0] != 0) {
		labels[count].key = pprof_text(&writing->tables, "thread");
		labels[count++].str = pprof_text(&writing->tables,
						 threads_name(thread));
	}
	labels[count].key = pprof_text(&writing->tables, "tid");
	labels[count++].num = thread->tid;
	return count;
}

static void write_sample(struct writing *writing, size_t number)
{
	const struct pair *key = &writing->keys.pairs[number];
	Pprof__Sample message = PPROF__SAMPLE__INIT;
	Pprof__Label labels[2];
	Pprof__Label *list[2] = { &labels[0], &labels[1] };
	int64_t values[VALUES];

	for (size_t i = 0; i < writing->types; i++)
		values[i] = (int64_t)writing->samples[number].values[i];
	message.n_location_id = locations_of(writing, key->first);
	message.location_id = writing->ids;
	message.n_value = writing->types;
	message.value = values;
	message.n_label = labels_of(writing, key->second, labels);
	message.label = list;
	PPROF_OUT_LIST(&writing->out, sample, &(Pprof__Sample *){ &message }, 1);
}

/* ---- profile fields ---- */

static void write_types(struct writing *writing)
{
	Pprof__ValueType messages[VALUES];
	Pprof__ValueType *list[VALUES];

	for (size_t i = 0; i < writing->types; i++) {
		list[i] = &messages[i];
		pprof__value_type__init(&messages[i]);
		messages[i].type = pprof_text(&writing->tables, types[i].type);
		messages[i].unit = pprof_text(&writing->tables, types[i].unit);
	}
	PPROF_OUT_LIST(&writing->out, sample_type, list, writing->types);
}

static const char *default_type(const struct export *export)
{
	switch (export->cost) {
	case MEASURE_TOTAL:
		return types[ALLOC_SPACE].type;
	case MEASURE_COUNT:
		return types[ALLOC_OBJECTS].type;
	case MEASURE_TEMPORARY:
		return types[TEMPORARY].type;
	default:
		return types[INUSE_SPACE].type;
	}
}

#define COMMENTS_MAX 8

/* Add the text unless it is empty, and clear it. */
static void add_comment(struct writing *writing, struct buffer *text,
			int64_t *comments, size_t *count)
{
	if (text->size > 0)
		comments[(*count)++] = pprof_text(&writing->tables, text->data);
	buffer_clear(text);
}

static size_t make_comments(struct writing *writing, int64_t *comments)
{
	const struct export *export = writing->export;
	const char *filters = filter_text(export->query->filter);
	const struct model *model = export->model;
	LOCAL_BUFFER text = { 0 };
	size_t count = 0;

	buffer_string(&text, "gnomon " GNOMON_VERSION);
	add_comment(writing, &text, comments, &count);
	if (model_fact(model, GT_INFO, "command") != NULL) {
		buffer_string(&text, "command: ");
		model_command(model, &text);
	}
	add_comment(writing, &text, comments, &count);
	if (filters[0] != 0)
		buffer_printf(&text, "filters:%s", filters);
	add_comment(writing, &text, comments, &count);
	if (export->cost == MEASURE_PEAK)
		buffer_printf(&text, "inuse_* are live at the peak, %s after "
			      "the start", TIME_TEXT(model_since_start_ns(
				      model, model_peak_stamp(model))));
	add_comment(writing, &text, comments, &count);
	if (model_is_sampled(model))
		buffer_printf(&text, "estimates, from a sample of one block "
			      "in about %s", SIZE_TEXT(model_sample_mean(model)));
	add_comment(writing, &text, comments, &count);
	assert(count <= COMMENTS_MAX);
	return count;
}

static void write_rest(struct writing *writing)
{
	const struct model *model = writing->export->model;
	struct pprof_tables *tables = &writing->tables;
	Pprof__Profile profile = PPROF__PROFILE__INIT;
	Pprof__ValueType period = PPROF__VALUE_TYPE__INIT;
	int64_t comments[COMMENTS_MAX];

	period.type = pprof_text(tables, "space");
	period.unit = pprof_text(tables, "bytes");
	profile.period_type = &period;
	profile.period = model_is_sampled(model) ?
		(int64_t)model_sample_mean(model) : 1;
	profile.time_nanos = (int64_t)model_number(
		model, GT_INFO, "start_realtime_ns",
		model_first_realtime_ns(model));
	profile.duration_nanos = (int64_t)model_duration_ns(model);
	profile.drop_frames = pprof_text(tables, DROP_FRAMES);
	profile.default_sample_type = pprof_text(
		tables, default_type(writing->export));
	profile.n_comment = make_comments(writing, comments);
	profile.comment = comments;
	pprof_out_message(&writing->out, &profile.base);
}

/* ---- the profile ---- */

static void begin(struct writing *writing, struct export *export)
{
	writing->export = export;
	writing->types = export->cost == MEASURE_TEMPORARY ? VALUES : TEMPORARY;
	pprof_tables_init(&writing->tables, export->frames);
	/* Stack 0 has no locations. */
	pairset_number(&writing->stacks, STACK_NONE, TABLE_NONE);
	context_value_init(&writing->context_value, export->frames, begin_early,
			   step_inward, writing);
}

static void end(struct writing *writing)
{
	context_value_free(&writing->context_value);
	pprof_tables_free(&writing->tables);
	pairset_free(&writing->stacks);
	pairset_free(&writing->keys);
	free(writing->samples);
	free(writing->ids);
	free(writing);
}

static int write_pprof(struct export *export)
{
	struct writing *writing = grow_zeroed(1, sizeof(*writing));

	begin(writing, export);
	export_contexts(export, add_sample, writing);
	compressed_file_begin(&writing->out.compressed, export->out, ".gz");
	write_types(writing);
	for (size_t i = 0; i < writing->sample_count; i++)
		write_sample(writing, i);
	write_rest(writing);
	pprof_tables_write(&writing->tables, &writing->out);
	compressed_file_end(&writing->out.compressed);
	end(writing);
	return EXIT_COMPLETE;
}

const struct exporter export_pprof = {
	.name = "pprof",
	.what = "pprof's profile.proto, gzip'd: go tool pprof, Pyroscope, "
		"Parca, speedscope",
	.binary = true,
	.can_split_threads = true,
	.spares = QUERY_SPARES_OWN_PEAKS | QUERY_SPARES_SIZES |
		QUERY_SPARES_BLOCKS,
	.write = write_pprof,
};
