/*
 * flame_tree.c: see flame.h. Walks the profile twice, with the current path on
 * a stack where sums accumulate from the leaves. The first walk computes the
 * share of each node (four bytes per node). The second walk builds the tree,
 * when it is known which nodes are too small. Called by the main thread.
 */
#include "cli/flamegraph/flame.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/grow.h"
#include "unwind/base/assertion.h"

/* If there are too many nodes, the minimum share grows by this factor. */
#define SHARE_STEP 1.25

const enum measure flame_costs[FLAME_COSTS] = {
	[FLAME_LIVE] = MEASURE_LIVE,
	[FLAME_PEAK] = MEASURE_PEAK,
	[FLAME_TOTAL] = MEASURE_TOTAL,
	[FLAME_COUNT] = MEASURE_COUNT,
	[FLAME_TEMPORARY] = MEASURE_TEMPORARY,
};

/* A node on the path from the root to the current node. */
struct level {
	uint32_t node;		/* in the profile */
	uint32_t out;		/* in the tree; PROFILE_NONE: folded */
	uint32_t smaller;
	uint64_t values[FLAME_ALL];
	uint64_t rest[FLAME_ALL];	/* sums of folded children */
};

struct walk {
	const struct flame_limits *limits;
	struct flame_tree *tree;
	uint64_t whole[FLAME_ALL];
	float *shares;		/* by profile node */
	bool building;		/* the second walk */
	struct level *levels;
	size_t depth;
	size_t capacity;
};

static void values_of_side(const struct profile *profile, uint32_t node,
			   unsigned side, uint64_t values[FLAME_VALUES])
{
	struct figures own = { 0 }, *figures = &own;

	profile_own(profile, node, side, &own);
	for (int i = 0; i < FLAME_COSTS; i++)
		values[i] = figures_value(figures, flame_costs[i], 0);
	values[FLAME_LIVE_BLOCKS] = figures->live_blocks;
	values[FLAME_PEAK_BLOCKS] = figures->peak_blocks;
}

/* The self values of a stack. */
static void own_values(const struct flame_tree *tree, uint32_t node,
		       uint64_t values[FLAME_ALL])
{
	uint64_t *after = values + FLAME_OF(FLAME_AFTER, 0);
	uint64_t *before = values + FLAME_OF(FLAME_BEFORE, 0);
	uint64_t *change = values + FLAME_OF(FLAME_CHANGE, 0);

	values_of_side(tree->profile, node, tree->profile->sides - 1, after);
	if (tree->sides == 1)
		return;
	values_of_side(tree->profile, node, 0, before);
	for (int i = 0; i < FLAME_VALUES; i++)
		change[i] = after[i] > before[i] ? after[i] - before[i] :
			before[i] - after[i];
}

static void add(uint64_t sum[FLAME_ALL], const uint64_t more[FLAME_ALL])
{
	for (int i = 0; i < FLAME_ALL; i++)
		sum[i] += more[i];
}

/* The largest share of the drawn costs; 0: it has none of them. */
static float share_of(const struct walk *walk,
		      const uint64_t values[FLAME_ALL])
{
	double max = 0;

	for (unsigned i = 0; i < FLAME_ALL; i++) {
		double whole = (double)walk->whole[i];
		unsigned value = i % FLAME_VALUES;

		if (value < FLAME_COSTS &&
		    (walk->limits->costs >> value & 1) && values[i] > 0 &&
		    (double)values[i] / whole > max)
			max = (double)values[i] / whole;
	}
	return (float)max;
}

static bool is_kept(const struct walk *walk, uint32_t node, size_t depth)
{
	return node == PROFILE_ROOT ||
		(depth <= walk->limits->depth && walk->shares[node] > 0 &&
		 walk->shares[node] >= walk->tree->share);
}

static uint32_t append(struct flame_tree *tree, uint32_t parent,
		       uint32_t frame, uint32_t depth, uint32_t origin)
{
	DEBUG_ASSERT(tree->count == 0 || parent < tree->count); /* I1 */
	GROW(tree->nodes, tree->count, tree->capacity);
	tree->nodes[tree->count] = (struct flame_node){
		.parent = parent, .frame = frame, .depth = depth,
		.origin = origin };
	return tree->count++;
}

static void enter(struct walk *walk, uint32_t n)
{
	const struct profile_node *node = &walk->tree->profile->nodes[n];
	struct level *level;

	GROW(walk->levels, walk->depth, walk->capacity);
	level = &walk->levels[walk->depth];
	*level = (struct level){ .node = n, .out = PROFILE_NONE };
	own_values(walk->tree, n, level->values);
	if (walk->building && is_kept(walk, n, walk->depth))
		level->out = append(walk->tree, walk->depth ? level[-1].out : 0,
				    node->frame, (uint32_t)walk->depth, n);
	walk->depth++;
}

/* The node's sums are complete: store them and add them to the caller's. */
static void leave(struct walk *walk)
{
	struct level *level = &walk->levels[--walk->depth];
	struct level *caller = walk->depth ? level - 1 : NULL;
	struct flame_tree *tree = walk->tree;

	if (!walk->building) {
		walk->shares[level->node] = share_of(walk, level->values);
	} else if (level->out == PROFILE_NONE) {
		bool any = walk->shares[level->node] > 0;

		tree->folded += any;
		if (any && caller != NULL && caller->out != PROFILE_NONE) {
			caller->smaller++;
			add(caller->rest, level->values);
		}
	} else {
		DEBUG_ASSERT(level->out < tree->count);
		memcpy(tree->nodes[level->out].values, level->values,
		       sizeof(level->values));
		if (level->smaller > 0) {
			uint32_t rest = append(tree, level->out, PROFILE_NONE,
					       (uint32_t)walk->depth + 1,
					       tree->profile->nodes[
						level->node].end - 1);

			tree->nodes[rest].smaller = level->smaller;
			memcpy(tree->nodes[rest].values, level->rest,
			       sizeof(level->rest));
		}
	}
	if (caller != NULL)
		add(caller->values, level->values);
}

static void walk_over(struct walk *walk)
{
	const struct profile *profile = walk->tree->profile;

	for (uint32_t n = PROFILE_ROOT; n < profile->node_count; n++) {
		while (walk->depth > 0 &&
		       profile->nodes[walk->levels[walk->depth - 1].node].end
				<= n)
			leave(walk);
		enter(walk, n);
	}
	while (walk->depth > 0)
		leave(walk);
}

static uint32_t count_kept(const struct walk *walk)
{
	uint32_t count = 0;

	for (uint32_t n = 0; n < walk->tree->profile->node_count; n++)
		count += walk->shares[n] > 0 &&
			walk->shares[n] >= walk->tree->share;
	return count;
}

static void build(struct flame_tree *tree, const struct flame_limits *limits)
{
	struct walk walk = { .limits = limits, .tree = tree };

	for (uint32_t n = PROFILE_ROOT; n < tree->profile->node_count; n++) {
		uint64_t values[FLAME_ALL] = { 0 };

		own_values(tree, n, values);
		add(walk.whole, values);
	}
	walk.shares = grow_zeroed(tree->profile->node_count,
				  sizeof(*walk.shares));
	walk_over(&walk);
	tree->share = limits->share;
	while (tree->share < 1 && count_kept(&walk) > limits->nodes)
		tree->share *= SHARE_STEP;
	walk.building = true;
	walk_over(&walk);
	assert(tree->count > 0 && tree->nodes[0].parent == 0);
	free(walk.shares);
	free(walk.levels);
}

static void number_frames(struct flame_tree *tree)
{
	size_t count = tree->profile->frame_count;

	tree->number = grow_alloc(count * sizeof(*tree->number));
	tree->frames = grow_alloc(count * sizeof(*tree->frames));
	memset(tree->number, 0xff, count * sizeof(*tree->number));
	for (uint32_t n = 0; n < tree->count; n++) {
		uint32_t frame = tree->nodes[n].frame;

		if (frame == PROFILE_NONE ||
		    tree->number[frame] != PROFILE_NONE)
			continue;
		DEBUG_ASSERT(frame < count);
		tree->number[frame] = tree->frame_count;
		tree->frames[tree->frame_count++] = frame;
	}
}

void flame_tree_build(struct flame_tree *tree, const struct profile *profile,
		      const struct flame_limits *limits)
{
	*tree = (struct flame_tree){
		.profile = profile,
		.sides = profile->sides == 1 ? 1 : FLAME_SIDES,
	};
	build(tree, limits);
	number_frames(tree);
	flame_libraries(tree);
}

void flame_tree_free(struct flame_tree *tree)
{
	free(tree->nodes);
	free(tree->frames);
	free(tree->number);
	free(tree->libraries);
	free(tree->library_of);
}

/* ---- nodes of a diff ---- */

uint64_t flame_width(const struct flame_node *node, enum flame_value value)
{
	uint64_t after = node->values[FLAME_OF(FLAME_AFTER, value)];
	uint64_t before = node->values[FLAME_OF(FLAME_BEFORE, value)];
	uint64_t change = node->values[FLAME_OF(FLAME_CHANGE, value)];

	if (before == 0)
		return after;	/* also if there is only one side */
	ASSERT((before + after + change) % 2 == 0); /* I3 */
	return (before + after + change) / 2;
}

const char *flame_change_class(const struct flame_node *node,
			       enum flame_value value)
{
	static const char *const classes[2][4] = {
		{ "less1", "less2", "less3", "less4" },
		{ "more1", "more2", "more3", "more4" },
	};
	uint64_t after = node->values[FLAME_OF(FLAME_AFTER, value)];
	uint64_t before = node->values[FLAME_OF(FLAME_BEFORE, value)];
	uint64_t larger = after > before ? after : before;
	uint64_t smaller = after > before ? before : after;
	double part;

	if (after == before)
		return "same";
	part = (double)(larger - smaller) / (double)larger;
	return classes[after > before][smaller == 0 ? 3 : part > .5 ? 2 :
				       part > .1];
}
