/*
 * profile_walk.c: see profile_walk.h. Called by the main thread.
 *
 * There is a level for each branch on the current path, with all its siblings:
 * stacks are as deep as programs recurse, so this code does not recurse. Top
 * down, the children of a branch are its node's children. Bottom up, a branch
 * represents many nodes: its items are self costs, each with the node that its
 * walk outward has reached. Items are in one array; those of a branch are a
 * range, sorted by frame. Each level sorts its range again, since the order of
 * an outer level is not needed inside it.
 *
 *	items:  [ f f f | g g | h ]        depth 0, by frame
 *	          │ outward: parents of these three
 *	        [ a a | b | g g | h ]      depth 1, within f's range
 */
#include "cli/stack/profile_walk.h"

#include <stdlib.h>
#include <string.h>

#include "cli/base/grow.h"
#include "cli/base/sort.h"
#include "unwind/base/assertion.h"

struct item {
	uint32_t self;
	uint32_t node;
};

struct branch {
	uint32_t frame;
	uint32_t node;
	size_t first;		/* of its items */
	size_t end;
	uint64_t contexts;
	uint64_t value;
	size_t figures;		/* index: inclusive of all sides, then self */
};

struct level {
	struct branch *list;
	size_t count;
	size_t capacity;
	size_t left_out;
	size_t at;
	struct figures *figures;
	size_t measure_count;
	size_t measure_capacity;
};

struct walking {
	const struct profile *profile;
	const struct profile_walk *walk;
	struct item *items;
	struct level *levels;
	size_t depth;
	size_t capacity;
	uint64_t steps;		/* items visited */
};

/* A hostile trace may have a million stacks that are a million frames deep,
 * each a part of the next: after this many steps no walk goes deeper. */
#define STEPS_MAX UINT64_C(1000000000)

/* ---- branches of a level ---- */

static struct branch *new_branch(const struct walking *walking,
				 struct level *level, uint32_t node)
{
	const struct profile *profile = walking->profile;
	struct branch *branch;

	GROW(level->list, level->count, level->capacity);
	branch = &level->list[level->count++];
	*branch = (struct branch){ .node = node,
				   .frame = profile->nodes[node].frame,
				   .figures = level->measure_count };
	for (unsigned i = 0; i < profile->sides * 2; i++) {
		GROW(level->figures, level->measure_count,
		     level->measure_capacity);
		level->figures[level->measure_count++] =
			(struct figures){ 0 };
	}
	return branch;
}

static void find_children(const struct walking *walking, struct level *level,
			  uint32_t node)
{
	const struct profile *profile = walking->profile;
	const struct profile_node *nodes = profile->nodes;

	for (uint32_t n = node + 1; n < nodes[node].end; n = nodes[n].end) {
		struct branch *branch = new_branch(walking, level, n);
		struct figures *sums = &level->figures[branch->figures];

		DEBUG_ASSERT(branch->figures + 2 * profile->sides <=
			     level->measure_count);
		for (unsigned side = 0; side < profile->sides; side++) {
			branch->contexts += profile_inclusive(profile, n, side,
							      &sums[side]);
			profile_own(profile, n, side,
				    &sums[profile->sides + side]);
		}
	}
}

static int by_frame(const void *a, const void *b, void *owner)
{
	const struct profile_node *nodes = owner;
	const struct item *x = a, *y = b;

	return sort_up(nodes[x->node].frame, nodes[y->node].frame) ?:
	       sort_up(x->self, y->self);
}

static void find_groups(const struct walking *walking, struct level *level,
			size_t first, size_t end)
{
	const struct profile *profile = walking->profile;
	const struct profile_node *nodes = profile->nodes;
	struct branch *branch = NULL;

	qsort_r(walking->items + first, end - first, sizeof(struct item),
		by_frame, profile->nodes);
	for (size_t i = first; i < end; i++) {
		const struct item *item = &walking->items[i];
		const struct profile_self *self =
			&profile->self_costs[item->self];
		struct figures *sums;

		if (branch == NULL ||
		    branch->frame != nodes[item->node].frame) {
			branch = new_branch(walking, level, item->node);
			branch->first = i;
		}
		DEBUG_ASSERT(branch->first == i || branch->end == i);
		branch->end = i + 1;
		branch->contexts += self->contexts;
		sums = &level->figures[branch->figures + self->side];
		figures_add(sums, &self->figures);
		if (nodes[item->node].parent == PROFILE_ROOT)
			figures_add(sums + profile->sides, &self->figures);
	}
}

/* Moves each item of the range one frame outward. Items without a parent are
 * moved to the range's end; returns the end of the others. */
static size_t go_outward(const struct walking *walking, size_t first,
			 size_t end)
{
	for (size_t i = first; i < end;) {
		struct item *item = &walking->items[i];
		uint32_t parent = walking->profile->nodes[item->node].parent;
		struct item last;

		if (parent != PROFILE_ROOT) {
			item->node = parent;
			i++;
			continue;
		}
		last = walking->items[--end];
		walking->items[end] = *item;
		*item = last;
	}
	return end;
}

/* ---- order ---- */

static int by_value(const void *a, const void *b)
{
	const struct branch *x = a, *y = b;

	return sort_down(x->value, y->value) ?: sort_up(x->frame, y->frame);
}

/* Drops branches that are too small; sorts the others. */
static void choose(const struct walking *walking, struct level *level)
{
	const struct profile_walk *walk = walking->walk;
	size_t kept = 0, all = level->count;

	for (size_t i = 0; i < all; i++) {
		struct branch *branch = &level->list[i];
		const struct figures *sums = &level->figures[branch->figures];

		for (unsigned side = 0; side < walking->profile->sides;
		     side++) {
			uint64_t value = profile_value(walking->profile,
						       &sums[side], walk->key);

			if (value > branch->value)
				branch->value = value;
		}
		if (branch->value >= walk->min)
			level->list[kept++] = *branch;
	}
	SORT(level->list, kept, by_value);
	if (walk->max != 0 && kept > walk->max)
		kept = walk->max;
	level->count = kept;
	level->left_out = all - kept;
}

/* ---- the walk ---- */

static struct level *push_level(struct walking *walking)
{
	GROW(walking->levels, walking->depth, walking->capacity);
	memset(&walking->levels[walking->depth], 0, sizeof(struct level));
	return &walking->levels[walking->depth++];
}

static void pop_level(struct walking *walking)
{
	struct level *level = &walking->levels[--walking->depth];

	free(level->list);
	free(level->figures);
}

static void describe(const struct walking *walking, const struct level *level,
		     struct profile_branch *shown)
{
	const struct branch *branch = &level->list[level->at];

	DEBUG_ASSERT(level->at < level->count);
	*shown = (struct profile_branch){
		.frame = branch->frame,
		.node = branch->node,
		.depth = (unsigned)(walking->depth - 1),
		.index = level->at,
		.count = level->count,
		.left_out = level->left_out,
		.contexts = branch->contexts,
		.inclusive = &level->figures[branch->figures],
		.self = &level->figures[branch->figures +
					walking->profile->sides],
	};
}

static void go_deeper(struct walking *walking)
{
	/* Pushing a level moves the array. */
	const struct level *outer = &walking->levels[walking->depth - 1];
	const struct branch branch = outer->list[outer->at];
	struct level *level = push_level(walking);

	walking->steps += branch.end - branch.first + 1;
	if (!walking->walk->bottom_up)
		find_children(walking, level, branch.node);
	else
		find_groups(walking, level, branch.first,
			    go_outward(walking, branch.first, branch.end));
	choose(walking, level);
}

/* Leaves finished levels, and the branches they belong to. */
static void go_back(struct walking *walking)
{
	const struct profile_walk *walk = walking->walk;
	struct profile_branch shown;

	while (walking->depth > 0) {
		struct level *level = &walking->levels[walking->depth - 1];

		if (level->at < level->count)
			return;
		pop_level(walking);
		if (walking->depth == 0)
			return;
		level = &walking->levels[walking->depth - 1];
		describe(walking, level, &shown);
		if (walk->leave != NULL)
			walk->leave(walk->owner, &shown);
		level->at++;
	}
}

static void begin_bottom_up(struct walking *walking)
{
	const struct profile *profile = walking->profile;
	size_t count = 0;

	walking->items = grow_resize(NULL, profile->self_count,
				     sizeof(*walking->items));
	for (size_t i = 0; i < profile->self_count; i++) {
		uint32_t node = profile->self_costs[i].node;

		if (walking->walk->from_site)
			node = profile_site(profile, node);
		if (node != PROFILE_ROOT)
			walking->items[count++] =
				(struct item){ (uint32_t)i, node };
	}
	find_groups(walking, push_level(walking), 0, count);
}

void profile_walk(const struct profile *profile,
		  const struct profile_walk *walk)
{
	struct walking walking = { .profile = profile, .walk = walk };
	struct profile_branch shown;

	if (walk->bottom_up)
		begin_bottom_up(&walking);
	else
		find_children(&walking, push_level(&walking), PROFILE_ROOT);
	choose(&walking, &walking.levels[0]);
	for (go_back(&walking); walking.depth > 0; go_back(&walking)) {
		describe(&walking, &walking.levels[walking.depth - 1], &shown);
		if (walk->enter(walk->owner, &shown) &&
		    walking.steps < STEPS_MAX &&
		    (walk->depth_max == 0 || walking.depth < walk->depth_max)) {
			go_deeper(&walking);
			continue;
		}
		if (walk->leave != NULL)
			walk->leave(walk->owner, &shown);
		walking.levels[walking.depth - 1].at++;
	}
	free(walking.items);
	free(walking.levels);
}
