/*
 * keys.c: see keys.h. A new key is a row of the table, and its functions.
 */
#include "cli/query/keys.h"

#include <inttypes.h>
#include <string.h>

#include "cli/base/text/fit.h"
#include "cli/base/text/quantity.h"
#include "cli/model/core/pools.h"
#include "cli/model/core/threads.h"
#include "cli/model/heap.h"
#include "cli/model/block_lifetimes.h"
#include "cli/model/map_index.h"
#include "cli/model/stats/histograms.h"

#define LINE_WIDTH 11u	/* of ":4294967295" */

/* ---- frames ---- */

static void function_text(const struct query_value *value,
			  struct buffer *name, struct buffer *more)
{
	const struct frame *frame = &value->frame;

	(void)more;
	if (!value->known)
		return;
	if (frame->function == NULL)
		buffer_string(name, "?? in no file");
	else
		frames_function(frame, value->full ? SIZE_MAX : value->width,
				name);
}

static void add_library(const struct query_value *value,
			const struct members *to)
{
	if (value->with_library)
		members_text(to, "library", value->frame.library);
}

static void function_members(const struct query_value *value,
			    const struct members *to)
{
	const struct frame *frame = &value->frame;

	members_text(to, "function", frame->function);
	members_flag(to, "named", frame->function && !frame->nameless);
	if (frame->nameless)
		members_number(to, "module_offset", frame->start);
	else
		members_none(to, "module_offset");
	add_library(value, to);
}

static void path_text(const struct query_value *value, const char *path,
		      struct buffer *name)
{
	if (value->known)
		fit_path(name, path ? path : value->frame.library ?
			 value->frame.library : "code of no file",
			 value->full ? SIZE_MAX : value->width);
}

static void library_text(const struct query_value *value, struct buffer *name,
			 struct buffer *more)
{
	(void)more;
	path_text(value, NULL, name);
}

static void library_members(const struct query_value *value,
			    const struct members *to)
{
	members_text(to, "library", value->frame.library);
}

/* The source file; without one, the library. */
static void file_text(const struct query_value *value, struct buffer *name,
		      struct buffer *more)
{
	(void)more;
	path_text(value, value->frame.file, name);
}

static void file_members(const struct query_value *value,
			    const struct members *to)
{
	members_text(to, "file", value->frame.file);
	add_library(value, to);
}

static void line_text(const struct query_value *value, struct buffer *name,
		      struct buffer *more)
{
	struct query_value file = *value;

	file.width = value->width > LINE_WIDTH ? value->width - LINE_WIDTH : 0;
	file_text(&file, name, more);
	if (value->frame.file != NULL && value->frame.line > 0)
		buffer_printf(name, ":%u", value->frame.line);
}

static void line_members(const struct query_value *value,
			 const struct members *to)
{
	if (value->with_file)
		file_members(value, to);
	if (value->frame.line > 0)
		members_number(to, "line", value->frame.line);
	else
		members_none(to, "line");
}

void query_value_frame(const struct profile *profile,
		       const struct profile_group *group,
		       struct query_value *value)
{
	const struct profile_frame *frame = &profile->frames[group->frame];

	if (group->frame == PROFILE_NONE || frame->stop != GT_STOP_BOTTOM)
		return;
	value->known = true;
	profile_show_frame(frame, &value->frame);
}

/* ---- blocks ---- */

static const struct thread *thread_of(const struct query_value *value)
{
	return model_thread(value->model, value->value <
		model_threads(value->model)->count ? value->value : 0);
}

static void thread_text(const struct query_value *value, struct buffer *name,
			struct buffer *more)
{
	const struct model *model = value->model;
	const struct thread *thread = thread_of(value);

	if (thread == model_thread(model, 0)) {
		buffer_string(more, "unknown thread");
		return;
	}
	buffer_printf(name, "thread %" PRIu32 " ", thread->tid);
	buffer_string(name, threads_name(thread));
	buffer_printf(more, "%s, from %s",
		      thread->flags & GT_THREAD_MAIN ? ", the first" : "",
		      TIME_TEXT(model_since_start_ns(model,
			      threads_start(thread))));
	if (thread->end != 0)
		buffer_printf(more, " to %s",
			      TIME_TEXT(model_since_start_ns(model,
				      thread->end)));
}

static void thread_members(const struct query_value *value,
			    const struct members *to)
{
	const struct thread *thread = thread_of(value);

	members_number(to, "tid", thread->tid);
	members_text(to, "thread", threads_name(thread));
	members_number(to, "start_ns", model_since_start_ns(value->model,
						threads_start(thread)));
	if (thread->end != 0)
		members_number(to, "end_ns", model_since_start_ns(
				value->model, thread->end));
	else
		members_none(to, "end_ns");
}

static void size_text(const struct query_value *value, struct buffer *name,
		      struct buffer *more)
{
	uint64_t size = value->value;

	(void)more;
	if (size == BLOCK_KEY_UNKNOWN) {
		buffer_string(name, "of unknown sizes, or of 4 GiB or more");
		return;
	}
	buffer_printf(name, "of %s each", COUNTED(size, "byte"));
	if (size >= 1024)
		buffer_printf(name, " (%s)", SIZE_TEXT(size));
}

static void size_members(const struct query_value *value,
			    const struct members *to)
{
	if (value->value != BLOCK_KEY_UNKNOWN)
		members_number(to, "size", value->value);
	else
		members_none(to, "size");
}

static void size_class_text(const struct query_value *value,
			    struct buffer *name, struct buffer *more)
{
	unsigned class = (unsigned)value->value;

	(void)more;
	if (value->value == BLOCK_KEY_UNKNOWN)
		buffer_string(name, "of unknown sizes");
	else if (class < 2)
		buffer_printf(name, "of %u byte%s each", class,
			      class == 1 ? "" : "s");
	else if (class < 11)
		buffer_printf(name, "of %" PRIu64 " to %" PRIu64 " bytes",
			      histogram_low(class),
			      histogram_high(class));
	else if (class < 63)
		buffer_printf(name, "of %s to less than %s",
			      SIZE_TEXT(histogram_low(class)),
			      SIZE_TEXT(histogram_low(class + 1)));
	else
		buffer_printf(name, "of %s or more",
			      SIZE_TEXT(class == 63 ?
				      (int64_t)histogram_low(class) :
				      INT64_MAX));
}

static void size_class_members(const struct query_value *value,
			       const struct members *to)
{
	unsigned class = (unsigned)value->value;

	if (value->value == BLOCK_KEY_UNKNOWN) {
		members_none(to, "size_min");
		members_none(to, "size_max");
		return;
	}
	members_number(to, "size_min", histogram_low(class));
	members_number(to, "size_max", histogram_high(class));
}

static void arena_text(const struct query_value *value, struct buffer *name,
		       struct buffer *more)
{
	static const char *const texts[HEAP_PARTS] = {
		[HEAP_MAIN] = "in the C library's main arena",
		[HEAP_OTHER] = "in arenas of further threads",
		[HEAP_MMAPPED] = "in mappings of their own",
		[HEAP_UNKNOWN] = "of another allocator, or unknown",
	};

	(void)more;
	buffer_string(name, texts[value->value < HEAP_PARTS ? value->value :
				  HEAP_UNKNOWN]);
}

static void arena_members(const struct query_value *value,
			    const struct members *to)
{
	members_text(to, "arena", heap_part_names[value->value < HEAP_PARTS ?
						value->value : HEAP_UNKNOWN]);
}

static void lifetime_text(const struct query_value *value,
			  struct buffer *name, struct buffer *more)
{
	unsigned class = (unsigned)value->value;

	(void)more;
	if (value->value == BLOCK_KEY_UNKNOWN)
		buffer_string(name, "of unknown lifetimes");
	else if (value->value == BLOCK_LIFETIME_LIVE)
		buffer_string(name, "never freed");
	else if (class == 0)
		buffer_string(name, "freed within a clock tick");
	else
		buffer_printf(name, "freed after %s to %s",
			      TIME_TEXT(histogram_low(class)),
			      TIME_TEXT(histogram_high(class)));
}

static void lifetime_members(const struct query_value *value,
			     const struct members *to)
{
	bool known = value->value != BLOCK_KEY_UNKNOWN;
	bool freed = known && value->value != BLOCK_LIFETIME_LIVE;
	unsigned class = (unsigned)value->value;

	if (known)
		members_flag(to, "freed", freed);
	else
		members_none(to, "freed");
	if (freed) {
		members_number(to, "lifetime_min_ns", histogram_low(class));
		members_number(to, "lifetime_max_ns", histogram_high(class));
	} else {
		members_none(to, "lifetime_min_ns");
		members_none(to, "lifetime_max_ns");
	}
}

static void mapping_text(const struct query_value *value, struct buffer *name,
			 struct buffer *more)
{
	const char *path = value->value == BLOCK_KEY_UNKNOWN ? NULL :
		map_index_name(model_mappings(value->model),
			       (uint32_t)value->value);

	(void)more;
	if (path == NULL)
		buffer_string(name, "in an unknown mapping");
	else if (path[0] == 0)
		buffer_string(name, "in mappings of no file");
	else
		fit_path(name, path, value->full ? SIZE_MAX : value->width);
}

static void mapping_members(const struct query_value *value,
			    const struct members *to)
{
	members_text(to, "mapping", value->value == BLOCK_KEY_UNKNOWN ? NULL :
		    map_index_name(model_mappings(value->model),
				   (uint32_t)value->value));
}

static const char *heap_of(const struct query_value *value)
{
	return pools_name_of(model_pools(value->model), (uint32_t)value->value);
}

static void heap_text(const struct query_value *value, struct buffer *name,
		      struct buffer *more)
{
	(void)more;
	buffer_string(name, value->value == BLOCK_KEY_UNKNOWN ?
		      "in an unknown heap" : heap_of(value));
}

static void heap_members(const struct query_value *value,
			    const struct members *to)
{
	members_text(to, "heap", value->value == BLOCK_KEY_UNKNOWN ? NULL :
		    heap_of(value));
	if (value->value == BLOCK_KEY_UNKNOWN)
		members_none(to, "heap_number");
	else
		members_number(to, "heap_number", value->value);
}

/* ---- processes ---- */

static void process_text(const struct query_value *value, struct buffer *name,
			 struct buffer *more)
{
	(void)more;
	buffer_printf(name, "process %" PRIu64 " %s", value->process->pid,
		      value->process->program);
}

static void process_members(const struct query_value *value,
			    const struct members *to)
{
	members_number(to, "pid", value->process->pid);
	members_text(to, "program", value->process->program);
}

/* ---- the table ---- */

const struct query_key query_keys[] = {
	{ "stack", "stack", "stacks", "a whole call stack", QUERY_OF_STACK,
	  .by = PROFILE_BY_STACK },
	{ "site", "site", "sites", "the innermost line of the "
	  "program's own code", QUERY_OF_SITE, .by = PROFILE_BY_SITE },
	{ "function", "function", "functions", "the function of that line",
	  QUERY_OF_FRAME, .by = PROFILE_BY_FUNCTION, .text = function_text,
	  .members = function_members },
	{ "file", "file", "files", "its source file", QUERY_OF_FRAME,
	  .by = PROFILE_BY_FILE, .text = file_text, .members = file_members },
	{ "line", "line", "lines", "that line, whichever function it is in",
	  QUERY_OF_FRAME, .by = PROFILE_BY_LINE, .text = line_text,
	  .members = line_members },
	{ "library", "library", "libraries", "its library", QUERY_OF_FRAME,
	  .by = PROFILE_BY_LIBRARY, .text = library_text,
	  .members = library_members },
	{ "within-function", "function", "functions", "any function of the "
	  "stack (such rows share blocks)", QUERY_OF_FRAME, true,
	  .by = PROFILE_BY_FUNCTION, .text = function_text,
	  .members = function_members },
	{ "within-file", "file", "files", "any source file of the stack",
	  QUERY_OF_FRAME, true, .by = PROFILE_BY_FILE, .text = file_text,
	  .members = file_members },
	{ "within-library", "library", "libraries", "any library of the stack",
	  QUERY_OF_FRAME, true, .by = PROFILE_BY_LIBRARY,
	  .text = library_text, .members = library_members },
	{ "process", "process", "processes", "the process that allocated, if "
	  "several traces are added up", QUERY_OF_PROCESS,
	  .text = process_text, .members = process_members },
	{ "thread", "thread", "threads", "the thread that allocated", QUERY_OF_BLOCK,
	  .block = BLOCK_KEY_THREAD, .text = thread_text,
	  .members = thread_members },
	{ "size", "size", "sizes", "the size of blocks", QUERY_OF_BLOCK,
	  .block = BLOCK_KEY_SIZE, .text = size_text, .members = size_members },
	{ "size-class", "size class", "size classes", "sizes from one power of "
	  "two to the next", QUERY_OF_BLOCK, .block = BLOCK_KEY_SIZE_CLASS,
	  .text = size_class_text, .members = size_class_members },
	{ "lifetime-class", "lifetime class", "lifetime classes", "lifetimes "
	  "from one power of two to the next", QUERY_OF_BLOCK,
	  .block = BLOCK_KEY_LIFETIME, .text = lifetime_text,
	  .members = lifetime_members },
	{ "arena", "arena", "arenas", "part of the C library's heap",
	  QUERY_OF_BLOCK, .block = BLOCK_KEY_ARENA, .text = arena_text,
	  .members = arena_members },
	{ "mapping", "mapping", "mappings", "the mapping that a block lay in, "
	  "by its file", QUERY_OF_BLOCK, .block = BLOCK_KEY_MAPPING,
	  .text = mapping_text, .members = mapping_members },
	{ "heap", "heap", "heaps", "the heap: malloc, or one of the program's "
	  "own", QUERY_OF_BLOCK, .block = BLOCK_KEY_HEAP, .text = heap_text,
	  .members = heap_members },
};
const unsigned query_key_count = sizeof(query_keys) / sizeof(query_keys[0]);

const struct query_key *query_key_find(const char *name, size_t size)
{
	for (unsigned i = 0; i < query_key_count; i++)
		if (strlen(query_keys[i].name) == size &&
		    memcmp(query_keys[i].name, name, size) == 0)
			return &query_keys[i];
	return NULL;
}

const char *query_key_word(size_t n, const char **meaning)
{
	if (n >= query_key_count)
		return NULL;
	*meaning = query_keys[n].help;
	return query_keys[n].name;
}

static const struct query_key *first_of(enum query_of of)
{
	const struct query_key *key = query_keys;

	while (key->of != of)
		key++;
	return key;
}

const struct query_key *query_key_stack(void)
{
	return first_of(QUERY_OF_STACK);
}

const struct query_key *query_key_site(void)
{
	return first_of(QUERY_OF_SITE);
}
