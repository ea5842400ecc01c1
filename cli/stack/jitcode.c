/*
 * jitcode.c: see jitcode.h. Only files whose header has the pid of the process
 * are used: another process may have written to the same path before or after.
 *
 * Called by the main thread.
 */
#include "cli/stack/jitcode.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/base/grow.h"
#include "cli/model/core/contexts.h"
#include "cli/symbol/files/under_root.h"
#include "cli/trace/read/clock.h"
#include "unwind/base/assertion.h"

#define DUMPS_MAX 64

/* ---- opening ---- */

static bool is_dump(const char *path)
{
	size_t size = strlen(path);

	return size > 5 && strcmp(path + size - 5, ".dump") == 0;
}

static bool is_open(const struct jitcode *code, const char *path)
{
	struct stat one, other;

	if (stat(path, &one) != 0)
		return false;
	for (size_t i = 0; i < code->count; i++)
		if (stat(code->dumps[i].path, &other) == 0 &&
		    one.st_dev == other.st_dev && one.st_ino == other.st_ino)
			return true;
	return false;
}

/* 0 if it is open now, or was already. */
static int try_path(struct jitcode *code, const char *path,
		    struct notes *notes)
{
	struct jitdump *dump = &code->dumps[code->count];
	uint64_t pid = model_number(code->model, GT_INFO, "pid", 0);
	int error;

	if (is_open(code, path))
		return 0;
	if (code->count == DUMPS_MAX)
		return -ENOSPC;
	error = jitdump_open(dump, path);
	if (error == 0 && pid != 0 && dump->pid != pid)
		error = -ESRCH;
	if (error != 0) {
		jitdump_free(dump);
		return error;
	}
	assert(code->count < DUMPS_MAX);
	code->count++;
	if (dump->bad > 0)
		notes_hint(notes, "%s: %llu of its records are invalid, and "
			   "were left out", path,
			   (unsigned long long)dump->bad);
	if (dump->cut > 0)
		notes_hint(notes, "%s: ends inside a record", path);
	return 0;
}

static int try_copy(struct jitcode *code, char *path, int error,
		    struct notes *notes)
{
	if (error != 0 && try_path(code, path, notes) == 0)
		error = 0;
	free(path);
	return error;
}

static void explain(const char *path, int error, struct notes *notes)
{
	const char *why = error == -ESRCH ? "is of another process" :
		error == -EBADMSG ? "is not a jitdump file" : strerror(-error);

	notes_hint(notes, "%s: describes code made at run time, but %s: name "
		   "the right file with -d", path, why);
}

/* Opens a file that the program had mapped. */
static void find_dump(struct jitcode *code, const char *path,
		      const struct debugfile_places *places)
{
	const char *slash = strrchr(path, '/');
	char *rooted = under_root(places->sysroot, path);
	char *usual = rooted ? rooted : grow_copy(path, strlen(path));
	int error = try_path(code, usual, places->notes);

	for (size_t i = 0; i < places->path_count; i++) {
		const char *given = places->paths[i];

		error = try_copy(code, grow_format("%s%s", given, path),
				 error, places->notes);
		error = try_copy(code, grow_format("%s%s", given, slash ?
						   slash : path), error, places->notes);
	}
	/* the trace has names anyway, unless recorded without maps */
	if (error != 0 && code->count == 0 &&
	    (error != -ENOENT || !model_has_named_code(code->model)))
		explain(usual, error, places->notes);
	free(usual);
}

void jitcode_open(struct jitcode *code, const struct model *model,
		  const struct debugfile_places *places)
{
	size_t dump_count;
	const char *const *dumps = model_dumps(model, &dump_count);

	memset(code, 0, sizeof(*code));
	code->model = model;
	code->dumps = grow_zeroed(DUMPS_MAX + 1, sizeof(*code->dumps));
	for (size_t i = 0; i < places->path_count; i++) {
		int error = is_dump(places->paths[i]) ?
			try_path(code, places->paths[i], places->notes) : 0;

		if (error != 0)
			explain(places->paths[i], error, places->notes);
	}
	for (size_t i = 0; i < dump_count; i++)
		find_dump(code, dumps[i], places);
}

void jitcode_free(struct jitcode *code)
{
	for (size_t i = 0; i < code->count; i++)
		jitdump_free(&code->dumps[i]);
	free(code->dumps);
	free(code->made);
}

/* ---- looking up ---- */

static void find_times(struct jitcode *code)
{
	const struct contexts *contexts = model_contexts(code->model);
	uint64_t *made = grow_resize(NULL, contexts->node_count,
				     sizeof(*made));

	memset(made, 0xff, contexts->node_count * sizeof(*made));
	for (size_t i = 0; i < contexts->cost_count; i++) {
		const struct context_cost *cost = &contexts->costs[i];

		if (cost->allocations > 0 && cost->first < made[cost->node])
			made[cost->node] = cost->first;
	}
	/* Parents come before their children (contexts.c, I1). */
	for (size_t i = contexts->node_count; i > CONTEXT_ROOTS; i--) {
		uint32_t parent = contexts->nodes[i - 1].parent;

		DEBUG_ASSERT(parent < i - 1);
		if (made[i - 1] < made[parent])
			made[parent] = made[i - 1];
	}
	code->made = made;
}

const struct jitdump_entry *jitcode_find(struct jitcode *code, uint32_t node,
					 uint64_t address,
					 const struct jitdump **dump)
{
	uint64_t shift = model_number(code->model, GT_INFO, "tick_shift", 0);

	DEBUG_ASSERT(node < model_contexts(code->model)->node_count);
	if (code->count > 0 && code->made == NULL)
		find_times(code);
	for (size_t i = 0; i < code->count; i++) {
		uint64_t time = code->dumps[i].counter ?
			code->made[node] << (shift & 63) :
			clock_ns(model_clock(code->model), code->made[node]);
		const struct jitdump_entry *entry =
			jitdump_find(&code->dumps[i], address, time);

		*dump = &code->dumps[i];
		if (entry != NULL)
			return entry;
	}
	return NULL;
}
