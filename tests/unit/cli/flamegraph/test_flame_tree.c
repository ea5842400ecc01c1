/*
 * test_flame_tree.c: trees of flame graphs against the profile that they come
 * from, node by node: what has to be there is, with its figures; what was
 * folded is in sum beneath its caller. Names are cut between characters.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/flamegraph/flame.h"
#include "tests/unit/model_feed.h"

#define CONTEXTS 3000
#define EVENTS 20000
#define FUNCTIONS 40
#define LONG_NAME 5000

static struct profile *profile;

static uint64_t address_of(unsigned function)
{
	return 0x100000 + function * 0x1000 + 8;
}

static void name_functions(struct model *model)
{
	char *line = malloc(LONG_NAME + 64);

	for (unsigned f = 0; f < FUNCTIONS; f++) {
		int at = sprintf(line, "%x 1000 f%u", 0x100000 + f * 0x1000, f);

		/* of three bytes each */
		for (int i = 0; f == 0 && i < LONG_NAME / 3; i++)
			at += sprintf(line + at, "\342\202\254");
		sprintf(line + at, "\n");
		feed_names(model, line);
	}
	free(line);
}

static struct model *fill(void)
{
	struct model *model = model_new(NULL, NULL);

	feed_thread(model, 0, 0);
	name_functions(model);
	for (uint32_t i = 0; i < CONTEXTS; i++) {
		uint32_t outer = i == 0 ? 0 : (uint32_t)rand() % i;

		feed_node(model, GT_STOP_COUNT + i, i < 3 ? GT_STOP_BOTTOM :
			  GT_STOP_COUNT + outer,
			  address_of((unsigned)rand() % FUNCTIONS));
	}
	for (uint64_t t = 1; t <= EVENTS; t++) {
		uint32_t c = (uint32_t)rand() % CONTEXTS;
		struct trace_event events[2] = {
			{ .stamp = t * 2, .address = t * 16,
			  .size = 1 + (uint64_t)rand() % (1 + c * 7 % 5000),
			  .context = GT_STOP_COUNT + c, .kind = GT_ALLOC },
			{ .stamp = t * 2 + 1, .address = t * 16,
			  .kind = GT_FREE },
		};

		model_events(model, model_lane(1, false), events,
			     c % 3 ? 2 : 1);
	}
	model_finish(model);
	return model;
}

static int make(void **state)
{
	struct model *model;
	struct debugfile_places places = { 0 };
	struct frames frames;

	(void)state;
	srand(11);
	model = fill();
	profile = profile_new(1);
	frames_init(&frames, model, &places, true);
	profile_add(profile, 0, &frames, NULL, NULL);
	frames_free(&frames);
	model_free(model);
	profile_seal(profile);
	return 0;
}

static int drop(void **state)
{
	(void)state;
	profile_free(profile);
	return 0;
}

static uint64_t cost_of(const struct figures *figures, int value)
{
	return value == FLAME_COUNT ? figures->count :
		value == FLAME_TEMPORARY ? figures->temporary :
		value == FLAME_TOTAL ? figures->total_bytes :
		value == FLAME_PEAK ? figures->peak_bytes :
		value == FLAME_LIVE ? figures->live_bytes :
		value == FLAME_LIVE_BLOCKS ? figures->live_blocks :
		figures->peak_blocks;
}

/* The largest share of what is drawn. */
static double share_of(uint32_t node, unsigned costs)
{
	struct figures own = { 0 }, all = { 0 };
	double most = 0;

	profile_inclusive(profile, node, 0, &own);
	profile_inclusive(profile, PROFILE_ROOT, 0, &all);
	for (int v = 0; v < FLAME_COSTS; v++)
		if (costs >> v & 1 && cost_of(&own, v) > 0) {
			double share = (double)cost_of(&own, v) /
				(double)cost_of(&all, v);

			most = share > most ? share : most;
		}
	return most;
}

static uint32_t depth_of(uint32_t node)
{
	uint32_t depth = 0;

	for (; node != PROFILE_ROOT; node = profile->nodes[node].parent)
		depth++;
	return depth;
}

static bool is_there(uint32_t node, const struct flame_tree *tree,
		     const struct flame_limits *limits)
{
	float share = (float)share_of(node, limits->costs);

	return node == PROFILE_ROOT || (depth_of(node) <= limits->depth &&
					share > 0 && share >= tree->share);
}

/* The node's children that are not there. */
static void expect_rest(uint32_t parent, const struct flame_tree *tree,
			const struct flame_limits *limits,
			const struct flame_node *rest)
{
	uint64_t sums[FLAME_VALUES] = { 0 };
	uint32_t count = 0;

	for (uint32_t n = parent + 1; n < profile->nodes[parent].end;
	     n = profile->nodes[n].end) {
		struct figures figures = { 0 };

		if (is_there(n, tree, limits) ||
		    share_of(n, limits->costs) == 0)
			continue;
		count++;
		profile_inclusive(profile, n, 0, &figures);
		for (int v = 0; v < FLAME_VALUES; v++)
			sums[v] += cost_of(&figures, v);
	}
	assert_int_equal(rest->smaller, count);
	assert_memory_equal(rest->values, sums, sizeof(sums));
}

static void compare(const struct flame_tree *tree,
		    const struct flame_limits *limits)
{
	static uint32_t from[CONTEXTS * 2];
	uint32_t at = 0, rests = 0, folded = 0, with_rest = 0;

	for (uint32_t n = 0; n < profile->node_count; n++) {
		struct figures figures = { 0 };

		if (!is_there(n, tree, limits)) {
			folded += share_of(n, limits->costs) > 0;
			continue;
		}
		while (tree->nodes[at].smaller > 0)
			at++, rests++;
		profile_inclusive(profile, n, 0, &figures);
		assert_int_equal(tree->nodes[at].frame,
				 profile->nodes[n].frame);
		assert_int_equal(tree->nodes[at].depth, depth_of(n));
		for (int v = 0; v < FLAME_VALUES; v++)
			assert_int_equal(tree->nodes[at].values[v],
					 cost_of(&figures, v));
		from[at++] = n;
	}
	for (; at < tree->count; at++)
		rests += tree->nodes[at].smaller > 0;
	for (uint32_t i = 1; i < tree->count; i++) {
		const struct flame_node *node = &tree->nodes[i];

		assert_true(node->parent < i);
		assert_int_equal(node->depth,
				 tree->nodes[node->parent].depth + 1);
		if (node->smaller > 0) {
			expect_rest(from[node->parent], tree, limits, node);
			with_rest++;
		}
	}
	assert_int_equal(rests, with_rest);
	assert_int_equal(tree->folded, folded);
}

static uint32_t kept(const struct flame_tree *tree)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < tree->count; i++)
		count += tree->nodes[i].smaller == 0;
	return count;
}

static void trees(void **state)
{
	static const struct flame_limits all[] = {
		{ (1u << FLAME_COSTS) - 1, 0.002, 100000, 1000 },
		{ (1u << FLAME_COSTS) - 1, 0.00001, 100000, 1000 },
		{ (1u << FLAME_COSTS) - 1, 0.00001, 100, 1000 },
		{ (1u << FLAME_COSTS) - 1, 0.00001, 100000, 4 },
		{ 1u << FLAME_LIVE, 0.001, 100000, 1000 },
		{ 1u << FLAME_TEMPORARY, 0.00001, 50, 1000 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		struct flame_tree tree;

		flame_tree_build(&tree, profile, &all[i]);
		assert_true(kept(&tree) <= all[i].nodes);
		assert_true(tree.share >= all[i].share);
		compare(&tree, &all[i]);
		flame_tree_free(&tree);
	}
}

static void names(void **state)
{
	const struct flame_limits limits = { 1u << FLAME_COUNT, 0.0001,
					     100000, 1000 };
	struct buffer scratch = { 0 };
	struct flame_tree tree;
	size_t sum = 0, longest = 0;

	(void)state;
	flame_tree_build(&tree, profile, &limits);
	for (uint32_t i = 0; i < tree.count; i++) {
		const char *name = flame_name(&scratch, &tree, &tree.nodes[i],
			flame_name_limit(&tree, false, 1u << 20));

		longest = strlen(name) > longest ? strlen(name) : longest;
		if (i == 0)
			assert_string_equal(name, "all");
	}
	assert_true(longest > LONG_NAME - 10);
	for (uint32_t i = 0; i < tree.frame_count; i++) {
		const char *name = flame_frame_name(&scratch,
			&profile->frames[tree.frames[i]],
			flame_name_limit(&tree, false, 1002));
		size_t size = strlen(name);

		sum += size;
		/* "f0", whole signs, and the mark of a cut */
		if (name[1] == '0' && size > 4) {
			assert_int_equal((size - 2) % 3, 0);
			assert_string_equal(name + size - 3, "\342\200\246");
		}
	}
	assert_true(sum <= 1002 + 3);
	flame_tree_free(&tree);
	buffer_free(&scratch);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(trees),
		cmocka_unit_test(names),
	};

	return cmocka_run_group_tests(tests, make, drop);
}
