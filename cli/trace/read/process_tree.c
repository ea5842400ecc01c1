/*
 * process_tree.c: see process_tree.h. Called by the main thread.
 *
 * Process numbers are reused: a process is a child only if its trace began
 * after its parent's.
 */
#include "cli/trace/read/process_tree.h"

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/base/grow.h"
#include "cli/trace/live/live_recover.h"
#include "cli/trace/read/locate.h"

#define MEMBERS_MAX 1000	/* traces read: this must not take long */
#define DEPTH_MAX 32		/* of nested processes */

struct member {
	char *path;
	struct trace_facts facts;
	long long bytes;
	bool below;		/* a descendant of the process */
};

struct tree {
	struct member *list;
	size_t count, capacity;
};

char *process_tree_directory(const char *trace)
{
	const char *slash = strrchr(trace, '/');

	if (slash == NULL)
		return grow_copy(".", 1);
	return grow_copy(trace, slash == trace ? 1 : (size_t)(slash - trace));
}

/* Programs whose own heap is hardly ever of interest. */
static bool is_wrapper(const struct trace_facts *facts)
{
	static const char *const names[] = {
		"sh", "dash", "bash", "zsh", "ksh", "mksh", "fish", "busybox",
		"env", "nice", "nohup", "time", "timeout", "setsid", "stdbuf",
		"taskset", "ionice", "chrt", "setarch", "sudo", "su",
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strcmp(facts->program, names[i]) == 0)
			return true;
	return false;
}

static void gather(struct tree *tree, const char *directory)
{
	char **paths;
	size_t count;
	bool more;

	if (locate_all(directory, &paths, &count, &more) != 0)
		return;
	for (size_t i = 0; i < count; i++) {
		struct member member = { .path = paths[i] };
		struct stat status;

		if (i >= MEMBERS_MAX || stat(paths[i], &status) != 0 ||
		    live_recover_facts(paths[i], &member.facts) != 0 ||
		    member.facts.result != SCAN_OPEN_OK ||
		    member.facts.pid == 0) {
			free(paths[i]);
			continue;
		}
		member.bytes = (long long)status.st_size;
		GROW(tree->list, tree->count, tree->capacity);
		tree->list[tree->count++] = member;
	}
	free(paths);
}

static bool is_later(const struct trace_facts *facts,
		     const struct trace_facts *first)
{
	return facts->trace_id != first->trace_id &&
		facts->begin_ns >= first->begin_ns;
}

/* The last program that the process became by exec; its own trace if there was
 * none. */
static const struct trace_facts *last_of(const struct tree *tree,
					 const struct trace_facts *first,
					 size_t *at)
{
	const struct trace_facts *last = first;

	for (size_t i = 0; i < tree->count; i++) {
		const struct trace_facts *facts = &tree->list[i].facts;

		if (facts->pid == first->pid &&
		    facts->start_time == first->start_time &&
		    is_later(facts, last)) {
			last = facts;
			*at = i;
		}
	}
	return last;
}

/* Mark all descendants of the process. */
static void mark_below(struct tree *tree, const struct trace_facts *first)
{
	bool more = true;

	for (unsigned round = 0; more && round < DEPTH_MAX; round++) {
		more = false;
		for (size_t i = 0; i < tree->count; i++) {
			struct member *child = &tree->list[i];
			bool is = child->facts.parent == first->pid &&
				is_later(&child->facts, first);

			for (size_t k = 0; k < tree->count && !is; k++)
				is = tree->list[k].below &&
					child->facts.pid !=
					tree->list[k].facts.pid &&
					child->facts.parent ==
					tree->list[k].facts.pid &&
					is_later(&child->facts,
						 &tree->list[k].facts);
			if (is && !child->below)
				child->below = more = true;
		}
	}
}

/* The largest that is not a wrapper's, or SIZE_MAX. */
static size_t largest_below(const struct tree *tree)
{
	size_t best = SIZE_MAX;

	for (size_t i = 0; i < tree->count; i++)
		if (tree->list[i].below &&
		    !is_wrapper(&tree->list[i].facts) &&
		    (best == SIZE_MAX ||
		     tree->list[i].bytes > tree->list[best].bytes))
			best = i;
	return best;
}

/* The program that started this one, or SIZE_MAX: the latest earlier process
 * with the parent's number. */
static size_t parent_of(const struct tree *tree,
			const struct trace_facts *child)
{
	size_t best = SIZE_MAX;

	for (size_t i = 0; i < tree->count; i++) {
		const struct trace_facts *facts = &tree->list[i].facts;

		if (facts->pid == child->parent && is_later(child, facts) &&
		    (best == SIZE_MAX ||
		     is_later(facts, &tree->list[best].facts)))
			best = i;
	}
	return best;
}

/* Read the trace's facts, and those of the traces beside it. False: the trace
 * cannot be read. */
static bool begin(struct tree *tree, const char *trace,
		  struct trace_facts *facts)
{
	char *directory;

	if (live_recover_facts(trace, facts) != 0 ||
	    facts->result != SCAN_OPEN_OK || facts->pid == 0)
		return false;
	directory = process_tree_directory(trace);
	gather(tree, directory);
	free(directory);
	return true;
}

/* The path of one, or NULL for SIZE_MAX; frees all others. */
static char *end(struct tree *tree, size_t at)
{
	char *path = at == SIZE_MAX ? NULL : tree->list[at].path;

	assert(at == SIZE_MAX || at < tree->count);
	for (size_t i = 0; i < tree->count; i++)
		if (i != at)
			free(tree->list[i].path);
	free(tree->list);
	return path;
}

char *process_tree_root(const char *trace)
{
	struct tree tree = { 0 };
	struct trace_facts facts;
	size_t root = SIZE_MAX;

	if (!begin(&tree, trace, &facts))
		return NULL;
	for (unsigned depth = 0; depth < DEPTH_MAX; depth++) {
		size_t parent = parent_of(&tree, &facts);

		if (parent == SIZE_MAX)
			break;
		root = parent;
		facts = tree.list[parent].facts;
	}
	return end(&tree, root);
}

char *process_tree_wanted(const char *trace)
{
	struct tree tree = { 0 };
	struct trace_facts first;
	const struct trace_facts *last;
	size_t wanted = SIZE_MAX;

	if (!begin(&tree, trace, &first))
		return NULL;
	last = last_of(&tree, &first, &wanted);
	if (is_wrapper(last)) {
		size_t below;

		mark_below(&tree, &first);
		below = largest_below(&tree);
		wanted = below != SIZE_MAX ? below : wanted;
	}
	return end(&tree, wanted);
}

size_t process_tree_below(const char *trace)
{
	struct tree tree = { 0 };
	struct trace_facts first;
	size_t count = 0;

	if (!begin(&tree, trace, &first))
		return 0;
	mark_below(&tree, &first);
	for (size_t i = 0; i < tree.count; i++)
		count += tree.list[i].below;
	end(&tree, SIZE_MAX);
	return count;
}
