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
#include "cli/base/status.h"
#include "cli/base/text/json.h"
#include "cli/base/text/base_name.h"
#include "cli/serve/event_loop.h"
#include "cli/trace/live/live_recover.h"
#include "cli/trace/read/locate.h"

/* A new trace file gets its first bytes within so many seconds. */
#define FRESH_S 10

/* Where the path is in the list, or would be inserted. */
static size_t find_place(const struct served_list *list, const char *path)
{
	size_t low = 0, high = list->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (strcmp(list->list[middle]->path, path) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* The id is a hash of the path; on a collision, the later trace gets another
 * one. */
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

/* Live: its lock is held, and not just briefly by another reader. */
static bool is_live(const char *path, const struct trace_facts *facts)
{
	return live_recover_is_locked(path) &&
		(facts->live[0] == 0 || access(facts->live, F_OK) == 0);
}

static void read_facts(struct served *trace)
{
	struct trace_facts facts;

	trace->live = false;

	trace->error = -live_recover_facts(trace->path, &facts);
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
		live_recover_is_locked(trace->path);
}

bool served_poll(struct served *trace)
{
	struct stat status;
	bool live = trace->live, same;
	int error;

	/* Pipes are refused: their end is not known. */
	error = stat(trace->path, &status) != 0 ? errno :
		S_ISREG(status.st_mode) ? 0 : EINVAL;
	if (error != 0) {
		bool changed = trace->error != error;

		trace->error = error;
		trace->generation = 0;
		trace->live = false;
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

bool served_poll_now(struct served *trace)
{
	trace->next_ms = 0;
	return served_poll(trace);
}

static void free_trace(struct served *trace)
{
	free(trace->path);
	free(trace->said);
	free(trace);
}

/* Drop traces whose files are gone: a server may run for weeks. */
static void drop_gone(struct served_list *list)
{
	size_t kept = 0;

	for (size_t i = 0; i < list->count; i++) {
		struct served *trace = list->list[i];

		if (trace->error == ENOENT && !trace->named &&
		    trace->users == 0)
			free_trace(trace);
		else
			list->list[kept++] = trace;
	}
	list->count = kept;
}

/* The entry of this path; sets *added if it is new. NULL: the list is full. */
static struct served *add_file(struct served_list *list, const char *path,
			       bool *added)
{
	size_t place = find_place(list, path);
	struct served *trace;

	if (place < list->count &&
	    strcmp(list->list[place]->path, path) == 0)
		return list->list[place];
	if (list->count == SERVED_MAX)
		return NULL;
	trace = grow_zeroed(1, sizeof(*trace));
	trace->path = grow_copy(path, strlen(path));
	name_it(list, trace);
	served_poll(trace);
	GROW(list->list, list->count, list->capacity);
	memmove(list->list + place + 1, list->list + place,
		(list->count - place) * sizeof(*list->list));
	list->list[place] = trace;
	list->count++;
	*added = true;
	return trace;
}

/* Whether the directory may have new traces since it was last listed. A file
 * created a moment ago may not have been a trace then. */
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
	directory->truncated = more;
	if (list->count + count > SERVED_MAX)
		drop_gone(list);
	for (size_t i = 0; i < count; i++) {
		if (add_file(list, paths[i], &changed) == NULL)
			directory->truncated = true;
		free(paths[i]);
	}
	free(paths);
	return changed;
}

bool served_add(struct served_list *list, const char *path)
{
	char *absolute = realpath(path, NULL);
	struct stat status;
	struct served *trace;
	bool added;

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
	trace = add_file(list, absolute, &added);
	if (trace != NULL)
		trace->named = true;
	else
		list->truncated = true;
	free(absolute);
	return true;
}

bool served_refresh(struct served_list *list)
{
	bool changed = false;

	/* Find deleted files first, to make room for new ones. */
	for (size_t i = 0; i < list->count; i++)
		changed |= served_poll(list->list[i]);
	for (size_t i = 0; i < list->directory_count; i++)
		changed |= look_into(list, &list->directories[i]);
	return changed;
}

static bool is_truncated(const struct served_list *list)
{
	for (size_t i = 0; i < list->directory_count; i++)
		if (list->directories[i].truncated)
			return true;
	return list->truncated;
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
	json_string(json, "name", base_name(trace->path));
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
		    "not a readable trace" :
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
	json_bool(json, "truncated", is_truncated(list));
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
	for (size_t i = 0; i < list->count; i++)
		free_trace(list->list[i]);
	free(list->list);
	for (size_t i = 0; i < list->directory_count; i++)
		free(list->directories[i].path);
	free(list->directories);
}
