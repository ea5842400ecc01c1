/*
 * flame_names.c: see flame.h: names, libraries and titles of flame graphs.
 * Called by the main thread.
 */
#include "cli/flamegraph/flame.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/grow.h"
#include "cli/base/text/quantity.h"

/* Names are never cut to less than this. */
#define NAME_MIN 64
#define CUT "…"

/* ---- libraries ---- */

struct library {
	const char *name;
	uint64_t nodes;		/* how many nodes are in it */
	uint32_t first;		/* number of the first frame in it */
};

/* Strings of a profile are interned: equal ones are one. */
static int by_name(const void *a, const void *b)
{
	const char *x = ((const struct library *)a)->name;
	const char *y = ((const struct library *)b)->name;

	return x < y ? -1 : x > y;
}

static int by_weight(const void *a, const void *b)
{
	const struct library *x = a, *y = b;

	if (x->nodes != y->nodes)
		return x->nodes > y->nodes ? -1 : 1;
	return x->first < y->first ? -1 : x->first > y->first;
}

static struct library *find(struct library *list, size_t count,
			    const char *name)
{
	struct library key = { .name = name };

	return bsearch(&key, list, count, sizeof(*list), by_name);
}

/* One entry for each frame becomes one for each name. */
static size_t unite(struct library *list, size_t count)
{
	size_t kept = 0;

	qsort(list, count, sizeof(*list), by_name);
	for (size_t i = 0; i < count; i++) {
		if (kept == 0 || list[kept - 1].name != list[i].name) {
			list[kept++] = list[i];
			continue;
		}
		list[kept - 1].nodes += list[i].nodes;
		if (list[i].first < list[kept - 1].first)
			list[kept - 1].first = list[i].first;
	}
	return kept;
}

void flame_libraries(struct flame_tree *tree)
{
	const struct profile_frame *frames = tree->profile->frames;
	struct library *list = grow_zeroed(tree->frame_count, sizeof(*list));
	size_t count;

	for (uint32_t i = 0; i < tree->frame_count; i++)
		list[i] = (struct library){
			.name = frames[tree->frames[i]].library, .first = i };
	for (uint32_t n = 0; n < tree->count; n++)
		if (tree->nodes[n].frame != PROFILE_NONE)
			list[tree->number[tree->nodes[n].frame]].nodes++;
	count = unite(list, tree->frame_count);
	if (count > 0 && list[0].name == NULL)
		memmove(list, list + 1, --count * sizeof(*list));
	assert(count <= tree->frame_count);
	qsort(list, count, sizeof(*list), by_weight);
	tree->libraries = grow_zeroed(count + 1, sizeof(*tree->libraries));
	tree->library_count = (uint32_t)count + 1;
	for (size_t i = 0; i < count; i++) {
		tree->libraries[i + 1] = list[i].name;
		list[i].nodes = i + 1;	/* its number from here on */
	}
	qsort(list, count, sizeof(*list), by_name);
	tree->library_of = grow_zeroed(tree->frame_count,
				       sizeof(*tree->library_of));
	for (uint32_t i = 0; i < tree->frame_count; i++) {
		const char *name = frames[tree->frames[i]].library;

		if (name != NULL)
			tree->library_of[i] = (uint32_t)
				find(list, count, name)->nodes;
	}
	free(list);
}

/* ---- names ---- */

static size_t sum_of_names(const struct flame_tree *tree, bool nodes,
			   size_t limit)
{
	uint32_t count = nodes ? tree->count : tree->frame_count;
	size_t sum = 0;

	for (uint32_t i = 0; i < count; i++) {
		uint32_t frame = nodes ? tree->nodes[i].frame :
			tree->frames[i];
		const char *name = frame == PROFILE_NONE ? NULL :
			tree->profile->frames[frame].function;

		sum += name ? strnlen(name, limit) : 0;
	}
	return sum;
}

size_t flame_name_limit(const struct flame_tree *tree, bool nodes,
			size_t budget)
{
	size_t limit = budget;

	while (limit > NAME_MIN && sum_of_names(tree, nodes, limit) > budget)
		limit /= 2;
	return limit;
}

const char *flame_frame_name(struct buffer *scratch,
			     const struct profile_frame *frame, size_t limit)
{
	const char *name = export_profile_name(scratch, frame);

	if (strnlen(name, limit + 1) <= limit)
		return name;
	/* bytes 10xxxxxx go on with a character */
	while (limit > 0 && ((unsigned char)name[limit] & 0xc0) == 0x80)
		limit--;
	if (name != scratch->data) {
		buffer_clear(scratch);
		buffer_add(scratch, name, limit);
	}
	scratch->size = limit;
	buffer_string(scratch, CUT);
	return scratch->data;
}

const char *flame_name(struct buffer *scratch, const struct flame_tree *tree,
		       const struct flame_node *node, size_t limit)
{
	char count[QUANTITY_TEXT];

	if (node->frame != PROFILE_NONE)
		return flame_frame_name(scratch,
				&tree->profile->frames[node->frame], limit);
	if (node == tree->nodes)
		return "all";
	buffer_clear(scratch);
	buffer_printf(scratch, "(%s smaller)",
		      quantity_count(count, node->smaller));
	return scratch->data;
}
