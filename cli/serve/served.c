/*
 * served.c: see served.h.
 */
#include "cli/serve/served.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "cli/base/grow.h"
#include "cli/base/sort.h"
#include "cli/base/status.h"
#include "cli/base/text/json.h"
#include "cli/base/text/last_part.h"
#include "cli/serve/event_loop.h"
#include "cli/trace/live/fold.h"
#include "cli/trace/read/locate.h"

/* Seconds in which a file that was begun gets its first bytes. */
#define FRESH_S 10

static int by_path(const void *a, const void *b)
{
	const struct served *const *x = a, *const *y = b;

	return strcmp((*x)->path, (*y)->path);
}

static struct served *find_path(const struct served_list *list,
				const char *path)
{
	for (size_t i = 0; i < list->count; i++)
		if (strcmp(list->list[i]->path, path) == 0)
			return list->list[i];
	return NULL;
}

/* Of the path alone; should two be the same, the later gets another one. */
static void name_it(const struct served_list *list, struct served *trace)
{
	uint64_t seed = 0;

	do
		snprintf(trace->id, sizeof(trace->id), "%012" PRIx64,
			 XXH64(trace->path, strlen(trace->path), seed++) >> 16);
	while (served_find(list, trace->id) != NULL);
}

static uint64_t generation_of(const struct stat *status)
{
	const uint64_t parts[] = {
		status->st_dev, status->st_ino, (uint64_t)status->st_size,
		(uint64_t)status->st_mtim.tv_sec,
		(uint64_t)status->st_mtim.tv_nsec,
	};

	return XXH64(parts, sizeof(parts), 0) | 1;	/* never 0 */
}

/* Being written: somebody holds its lock, and it is not another reader, which
 * does for a moment. */
static bool is_live(const char *path, const struct trace_facts *facts)
{
	return fold_is_locked(path) &&
		(facts->live[0] == 0 || access(facts->live, F_OK) == 0);
}

static void read_facts(struct served *trace)
{
	struct trace_facts facts;

	trace->live = false;

	trace->error = -fold_facts(trace->path, &facts);
	if (trace->error != 0)
		return;
	if (facts.result != SCAN_OPEN_OK) {
		trace->error = facts.result == SCAN_OPEN_ERROR ? facts.error :
			EINVAL;
		return;
	}
	trace->pid = facts.pid;
	trace->begin_ns = facts.begin_ns;
	trace->live = is_live(trace->path, &facts);
	snprintf(trace->program, sizeof(trace->program), "%s", facts.program);
}

static bool is_too_soon(const struct served *trace)
{
	return trace->live && trace->generation != 0 &&
		event_loop_now_ms() < trace->next_ms &&
		fold_is_locked(trace->path);
}

bool served_look(struct served *trace)
{
	struct stat status;
	bool live = trace->live, same;

	if (stat(trace->path, &status) != 0) {
		bool changed = trace->error != errno;

		trace->error = errno;
		trace->generation = 0;
		return changed;
	}
	same = trace->generation == generation_of(&status);
	if ((same && !trace->live) || is_too_soon(trace))
		return false;
	trace->generation = generation_of(&status);
	trace->size = (uint64_t)status.st_size;
	trace->changed_ns = (uint64_t)status.st_mtim.tv_sec * 1000000000u +
		(uint64_t)status.st_mtim.tv_nsec;
	read_facts(trace);
	return !same || live != trace->live;
}

/* True: it was not there before. */
static bool add_file(struct served_list *list, const char *path)
{
	struct served *trace = find_path(list, path);

	if (trace != NULL)
		return false;
	if (list->count == SERVED_MAX) {
		list->truncated = true;
		return false;
	}
	trace = grow_zeroed(1, sizeof(*trace));
	trace->path = grow_copy(path, strlen(path));
	name_it(list, trace);
	served_look(trace);
	GROW(list->list, list->count, list->capacity);
	list->list[list->count++] = trace;
	SORT(list->list, list->count, by_path);
	return true;
}

/* Whether it may have other files than when it was looked into: one that was
 * begun a moment ago may not have been a trace then. */
static bool may_differ(struct served_directory *directory)
{
	struct timespec now, before = directory->looked;
	struct stat status;

	if (stat(directory->path, &status) != 0)
		return false;
	directory->looked = status.st_mtim;
	clock_gettime(CLOCK_REALTIME, &now);
	return status.st_mtim.tv_sec != before.tv_sec ||
		status.st_mtim.tv_nsec != before.tv_nsec ||
		now.tv_sec < status.st_mtim.tv_sec + FRESH_S;
}

static bool look_into(struct served_list *list,
		      struct served_directory *directory)
{
	char **paths;
	size_t count;
	bool more, changed = false;

	if (!may_differ(directory) ||
	    locate_all(directory->path, &paths, &count, &more) != 0)
		return false;
	list->truncated |= more;
	for (size_t i = 0; i < count; i++) {
		changed |= add_file(list, paths[i]);
		free(paths[i]);
	}
	free(paths);
	return changed;
}

bool served_add(struct served_list *list, const char *path)
{
	char *absolute = realpath(path, NULL);
	struct stat status;

	if (absolute == NULL)
		return false;
	if (stat(absolute, &status) == 0 && S_ISDIR(status.st_mode)) {
		GROW(list->directories, list->directory_count,
		     list->directory_capacity);
		list->directories[list->directory_count] =
			(struct served_directory){ .path = absolute };
		look_into(list, &list->directories[list->directory_count++]);
		return true;
	}
	add_file(list, absolute);
	free(absolute);
	return true;
}

bool served_refresh(struct served_list *list)
{
	bool changed = false;

	for (size_t i = 0; i < list->directory_count; i++)
		changed |= look_into(list, &list->directories[i]);
	for (size_t i = 0; i < list->count; i++)
		changed |= served_look(list->list[i]);
	return changed;
}

struct served *served_find(const struct served_list *list, const char *id)
{
	for (size_t i = 0; i < list->count; i++)
		if (strcmp(list->list[i]->id, id) == 0)
			return list->list[i];
	return NULL;
}

struct served *served_newest(const struct served_list *list)
{
	struct served *newest = NULL;

	for (size_t i = 0; i < list->count; i++)
		if (list->list[i]->error == 0 &&
		    (newest == NULL ||
		     list->list[i]->changed_ns > newest->changed_ns))
			newest = list->list[i];
	return newest;
}

static void put_trace(struct json *json, const struct served *trace)
{
	char generation[32];

	snprintf(generation, sizeof(generation), "%016" PRIx64,
		 trace->generation);
	json_object(json, NULL);
	json_string(json, "id", trace->id);
	json_string(json, "name", last_part(trace->path));
	json_string(json, "path", trace->path);
	json_string(json, "program", trace->program);
	json_int(json, "pid", trace->pid);
	json_uint(json, "size_bytes", trace->size);
	json_uint(json, "changed_ns", trace->changed_ns);
	json_string(json, "generation", generation);
	json_bool(json, "live", trace->live);
	if (trace->read == 0 || trace->read != trace->generation)
		json_string(json, "whole", NULL);
	else
		json_bool(json, "whole", trace->status == EXIT_COMPLETE);
	json_string(json, "error", trace->error == EINVAL ?
		    "this is no trace that can be read" :
		    trace->error != 0 ? strerror(trace->error) :
		    trace->read == trace->generation &&
		    trace->status == EXIT_NOTHING ? trace->said : NULL);
	json_end_object(json);
}

void served_json(const struct served_list *list, struct buffer *out)
{
	struct json_text text;
	struct json *json = json_text_begin(&text, false);

	json_object(json, NULL);
	json_uint(json, "schema", 1);
	json_bool(json, "truncated", list->truncated);
	json_array(json, "traces");
	for (size_t i = 0; i < list->count; i++)
		if (list->list[i]->error != ENOENT)
			put_trace(json, list->list[i]);
	json_end_array(json);
	json_end_object(json);
	json_text_end(&text, out);
}

void served_free(struct served_list *list)
{
	for (size_t i = 0; i < list->count; i++) {
		free(list->list[i]->path);
		free(list->list[i]->said);
		free(list->list[i]);
	}
	free(list->list);
	for (size_t i = 0; i < list->directory_count; i++)
		free(list->directories[i].path);
	free(list->directories);
}
