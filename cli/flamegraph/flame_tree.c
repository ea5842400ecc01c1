/*
 * flame_tree.c: see flame.h. The profile is walked twice, each time with the
 * way from the root on a stack, where sums grow from the leaves: first for the
 * share of each node, four bytes for one; then, when it is clear what is too
 * small, for the tree. Called by the main thread.
 */
#include "cli/flamegraph/flame.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/grow.h"
#include "unwind/claim.h"

/* A limit on nodes that is not met makes shares grow by so much at a time. */
#define SHARE_STEP 1.25

const enum figure flame_costs[FLAME_COSTS] = {
	[FLAME_LIVE] = FIGURE_LIVE,
	[FLAME_PEAK] = FIGURE_PEAK,
	[FLAME_TOTAL] = FIGURE_TOTAL,
	[FLAME_COUNT] = FIGURE_COUNT,
	[FLAME_TEMPORARY] = FIGURE_TEMPORARY,
};

/* A node on the way from the root to the one that is walked over. */
struct level {
	uint32_t node;		/* of the profile */
	uint32_t out;		/* of the tree; PROFILE_NONE: folded */
	uint32_t smaller;
	uint64_t values[FLAME_VALUES];
	uint64_t rest[FLAME_VALUES];	/* of what was folded below it */
};

struct walk {
	const struct flame_limits *limits;
	struct flame_tree *tree;
	uint64_t whole[FLAME_VALUES];
	float *shares;		/* by node of the profile */
	bool building;		/* the second walk */
	struct level *levels;
	size_t depth;
	size_t capacity;
};

static void values_of(const struct figures *figures,
		      uint64_t values[FLAME_VALUES])
{
	for (int i = 0; i < FLAME_COSTS; i++)
		values[i] = figures_value(figures, flame_costs[i], 0);
	values[FLAME_LIVE_BLOCKS] = figures->live_blocks;
	values[FLAME_PEAK_BLOCKS] = figures->peak_blocks;
}

static void add(uint64_t sum[FLAME_VALUES], const uint64_t more[FLAME_VALUES])
{
	for (int i = 0; i < FLAME_VALUES; i++)
		sum[i] += more[i];
}

/* The largest of its shares in what is drawn; 0: there is nothing of it. */
static float share_of(const struct walk *walk,
		      const uint64_t values[FLAME_VALUES])
{
	double most = 0;

	for (int i = 0; i < FLAME_COSTS; i++) {
		double whole = (double)walk->whole[i];

		if ((walk->limits->costs >> i & 1) && values[i] > 0 &&
		    (double)values[i] / whole > most)
			most = (double)values[i] / whole;
	}
	return (float)most;
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
	CLAIM_FULL(tree->count == 0 || parent < tree->count); /* I1 */
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
	struct figures own = { 0 };

	GROW(walk->levels, walk->depth, walk->capacity);
	level = &walk->levels[walk->depth];
	*level = (struct level){ .node = n, .out = PROFILE_NONE };
	profile_own(walk->tree->profile, n, 0, &own);
	values_of(&own, level->values);
	if (walk->building && is_kept(walk, n, walk->depth))
		level->out = append(walk->tree, walk->depth ? level[-1].out : 0,
				    node->frame, (uint32_t)walk->depth, n);
	walk->depth++;
}

/* All of the node is known: put it down, and to its caller's. */
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
		CLAIM_FULL(level->out < tree->count);
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
	struct figures whole = { 0 };

	profile_inclusive(tree->profile, PROFILE_ROOT, 0, &whole);
	values_of(&whole, walk.whole);
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
		CLAIM_FULL(frame < count);
		tree->number[frame] = tree->frame_count;
		tree->frames[tree->frame_count++] = frame;
	}
}

void flame_tree_build(struct flame_tree *tree, const struct profile *profile,
		      const struct flame_limits *limits)
{
	*tree = (struct flame_tree){ .profile = profile };
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
