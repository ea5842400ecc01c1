/*
 * flame_names.c: see flame.h: names, libraries and titles of flame graphs.
 * Called by the main thread.
 */
#include "cli/flamegraph/flame.h"

#include <stdlib.h>
#include <string.h>

#include "cli/base/grow.h"
#include "cli/base/sort.h"
#include "cli/base/table.h"
#include "cli/base/text/quantity.h"

/* The minimum length of cut names. */
#define NAME_MIN 64
#define CUT "…"

/* ---- libraries ---- */

struct library {
	const char *name;
	uint32_t nodes;		/* number of its nodes */
	uint32_t number;	/* in order of first frame, from 1 */
};

static int by_weight(const void *a, const void *b)
{
	const struct library *x = a, *y = b;

	return sort_down(x->nodes, y->nodes) ?: sort_up(x->number, y->number);
}

/* Number libraries in order of occurrence in library_of[]; 0: none. Strings of
 * a profile are interned, so equal names have equal addresses. */
static uint32_t find_libraries(struct flame_tree *tree, struct library *list)
{
	struct table number_of = { 0 };
	uint32_t count = 1;

	for (uint32_t i = 0; i < tree->frame_count; i++) {
		const char *name =
			tree->profile->frames[tree->frames[i]].library;
		uint32_t *number = &tree->library_of[i];

		if (name == NULL)
			continue;
		*number = table_number(&number_of, (uintptr_t)name, count);
		if (*number == count)
			list[count++] = (struct library){ name, 0, *number };
	}
	table_free(&number_of);
	return count;
}

void flame_libraries(struct flame_tree *tree)
{
	struct library *list = grow_zeroed(tree->frame_count + 1,
					   sizeof(*list));
	uint32_t *number = grow_zeroed(tree->frame_count + 1, sizeof(*number));

	tree->library_of = grow_zeroed(tree->frame_count,
				       sizeof(*tree->library_of));
	tree->library_count = find_libraries(tree, list);
	for (uint32_t n = 0; n < tree->count; n++)
		if (tree->nodes[n].frame != PROFILE_NONE)
			list[tree->library_of[tree->number[
				tree->nodes[n].frame]]].nodes++;
	qsort(list + 1, tree->library_count - 1, sizeof(*list), by_weight);
	tree->libraries = grow_zeroed(tree->library_count,
				      sizeof(*tree->libraries));
	for (uint32_t i = 1; i < tree->library_count; i++) {
		tree->libraries[i] = list[i].name;
		number[list[i].number] = i;
	}
	for (uint32_t i = 0; i < tree->frame_count; i++)
		tree->library_of[i] = number[tree->library_of[i]];
	free(number);
	free(list);
}

/* ---- names ---- */

void flame_title(struct buffer *title, const struct flame_export *flame)
{
	if (flame->comparison != NULL)
		buffer_printf(title, "%s → %s",
			      flame->comparison->sides[0].label,
			      flame->comparison->sides[1].label);
	else
		export_title(title, flame->export.model, flame->export.trace);
}

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
	/* bytes 10xxxxxx continue a character */
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
	if (node->frame != PROFILE_NONE)
		return flame_frame_name(scratch,
				&tree->profile->frames[node->frame], limit);
	if (node == tree->nodes)
		return "all";
	buffer_clear(scratch);
	buffer_printf(scratch, "(%s smaller)", COUNT_TEXT(node->smaller));
	return scratch->data;
}
