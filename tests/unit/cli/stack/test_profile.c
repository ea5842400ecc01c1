/*
 * test_profile.c: trees, tables and walks of profiles against sums over lists
 * of names, on random stacks with recursion, on two sides whose addresses
 * have nothing in common.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/stack/difference.h"
#include "cli/stack/context_value.h"
#include "cli/stack/profile.h"
#include "cli/stack/profile_groups.h"
#include "cli/stack/profile_walk.h"
#include "tests/unit/model_feed.h"

#define SIDES 2
#define FUNCTIONS 9
#define CONTEXTS 300
#define EVENTS 3000
#define DEPTH_MAX 12
#define SUMS_MAX 20000

/* A function has two places in each model. */
static uint64_t address_of(unsigned side, unsigned function, unsigned place)
{
	return (side + 1) * 0x100000 + function * 0x1000 + place * 0x100 + 8;
}

/* ---- what has to come out ---- */

struct sum {
	char key[128];
	uint64_t live[SIDES], count[SIDES];
};

struct sums {
	struct sum list[SUMS_MAX];
	size_t count;
};

static struct sums down, up, self, by_function, by_function_self;

static struct sum *sum_of(struct sums *sums, const char *key)
{
	for (size_t i = 0; i < sums->count; i++)
		if (strcmp(sums->list[i].key, key) == 0)
			return &sums->list[i];
	assert_true(sums->count < SUMS_MAX && strlen(key) < 128);
	strcpy(sums->list[sums->count].key, key);
	return &sums->list[sums->count++];
}

static void add(struct sums *sums, const char *key, unsigned side,
		uint64_t size, int live)
{
	struct sum *sum = sum_of(sums, key);

	sum->count[side]++;
	sum->live[side] += live ? size : 0;
}

/* `stack` is outermost first. */
static void expect(const unsigned *stack, size_t depth, unsigned side,
		   uint64_t size, int live)
{
	char key[128] = "", name[2] = "";
	unsigned seen = 0;

	for (size_t i = 0; i < depth; i++) {
		name[0] = (char)('a' + stack[i]);
		strcat(key, name);
		add(&down, key, side, size, live);
		if (!(seen & 1u << stack[i]))
			add(&by_function, name, side, size, live);
		seen |= 1u << stack[i];
	}
	add(&self, key, side, size, live);
	add(&by_function_self, name, side, size, live);
	key[0] = 0;
	for (size_t i = depth; i-- > 0;) {
		name[0] = (char)('a' + stack[i]);
		strcat(key, name);
		add(&up, key, side, size, live);
	}
}

/* ---- making it ---- */

static struct profile *profile;
static struct model *models[SIDES];

static void name_functions(struct model *model, unsigned side)
{
	char line[64];

	for (unsigned f = 0; f < FUNCTIONS; f++) {
		snprintf(line, sizeof(line), "%llx 1000 %c\n",
			 (unsigned long long)address_of(side, f, 0) & ~0xfffull,
			 'a' + f);
		feed_names(model, line);
	}
}

static void fill(unsigned side)
{
	static unsigned stacks[CONTEXTS][DEPTH_MAX];
	static size_t depths[CONTEXTS];
	struct model *model = model_new(NULL, NULL);

	models[side] = model;
	feed_thread(model, 0, 10);
	name_functions(model, side);
	for (uint32_t i = 0; i < CONTEXTS; i++) {
		uint32_t outer = i == 0 ? CONTEXTS : (uint32_t)rand() % (i * 3);
		unsigned f = (unsigned)rand() % FUNCTIONS;
		struct trace_node node = {
			GT_STOP_COUNT + i, GT_STOP_BOTTOM,
			address_of(side, f, (unsigned)rand() % 2)
		};

		depths[i] = 0;
		if (outer < i && depths[outer] < DEPTH_MAX - 1) {
			node.parent = GT_STOP_COUNT + outer;
			memcpy(stacks[i], stacks[outer], sizeof(stacks[i]));
			depths[i] = depths[outer];
		}
		stacks[i][depths[i]++] = f;
		feed_node(model, node.id, node.parent, node.address);
	}
	for (uint64_t t = 1; t <= EVENTS; t++) {
		uint32_t c = (uint32_t)rand() % CONTEXTS;
		uint64_t size = 1 + (uint64_t)rand() % 1000;
		int live = rand() % 3 == 0;
		struct trace_event events[2] = {
			{ .stamp = t * 2, .address = t * 16, .size = size,
			  .context = GT_STOP_COUNT + c, .kind = GT_ALLOC },
			{ .stamp = t * 2 + 1, .address = t * 16,
			  .kind = GT_FREE },
		};

		model_events(model, model_lane(1, false), events, live ? 1 : 2);
		expect(stacks[c], depths[c], side, size, live);
	}
	model_finish(model);
}

static int make(void **state)
{
	(void)state;
	srand(7);
	profile = profile_new(SIDES);
	for (unsigned side = 0; side < SIDES; side++) {
		struct debugfile_places places = { 0 };
		struct frames frames;

		fill(side);
		frames_init(&frames, models[side], &places, false);
		profile_add(profile, side, &frames, NULL, NULL);
		/* Nothing of them is needed any more. */
		frames_free(&frames);
		model_free(models[side]);
	}
	profile_seal(profile);
	return 0;
}

static int drop(void **state)
{
	(void)state;
	profile_free(profile);
	return 0;
}

/* ---- comparing ---- */

static const char *name_at(uint32_t frame)
{
	return profile->frames[frame].function;
}

static void same(const struct sum *sum, const struct figures *figures)
{
	for (unsigned side = 0; side < SIDES; side++) {
		assert_int_equal(figures[side].count, sum->count[side]);
		assert_int_equal(figures[side].live_bytes, sum->live[side]);
	}
}

static void test_nodes(void **state)
{
	size_t self_costs = 0;

	(void)state;
	assert_int_equal(profile->node_count, down.count + 1);
	for (uint32_t n = 1; n < profile->node_count; n++) {
		struct figures all[SIDES], own[SIDES];
		char key[128] = "", turned[128] = "";
		size_t depth = 0, size;
		struct sum *sum;

		for (uint32_t at = n; at != PROFILE_ROOT;
		     at = profile->nodes[at].parent)
			key[depth++] = name_at(profile->nodes[at].frame)[0];
		size = depth;
		for (size_t i = 0; i < size; i++)
			turned[i] = key[size - 1 - i];
		for (unsigned side = 0; side < SIDES; side++) {
			profile_inclusive(profile, n, side, &all[side]);
			profile_own(profile, n, side, &own[side]);
		}
		same(sum_of(&down, turned), all);
		if (own[0].count + own[1].count == 0)
			continue;
		self_costs++;
		sum = sum_of(&self, turned);
		same(sum, own);
	}
	assert_int_equal(self_costs, self.count);
}

static void test_groups(void **state)
{
	struct profile_groups groups;

	(void)state;
	profile_groups(profile, PROFILE_BY_FUNCTION, MEASURE_LIVE, &groups);
	assert_int_equal(groups.count, by_function.count);
	for (size_t i = 0; i < groups.count; i++) {
		const char *name = name_at(groups.list[i].frame);

		same(sum_of(&by_function, name), &groups.inclusive[i * SIDES]);
		same(sum_of(&by_function_self, name), &groups.self[i * SIDES]);
	}
	profile_groups_free(&groups);
	profile_groups(profile, PROFILE_BY_STACK, MEASURE_LIVE, &groups);
	assert_int_equal(groups.count, self.count);
	profile_groups_free(&groups);
	/* No file has a name here, and no library is one. */
	profile_groups(profile, PROFILE_BY_LIBRARY, MEASURE_LIVE, &groups);
	assert_int_equal(groups.count, 1);
	assert_int_equal(groups.inclusive[0].count, EVENTS);
	assert_int_equal(groups.inclusive[1].count, EVENTS);
	profile_groups_free(&groups);
}

/* The same by names, for one cost. */
static void test_differences(void **state)
{
	struct profile_groups groups;
	struct differences found;
	uint64_t threshold = 700;
	size_t wanted = 0;

	(void)state;
	profile_groups(profile, PROFILE_BY_FUNCTION, MEASURE_LIVE, &groups);
	differences_find(profile, &groups, MEASURE_LIVE, threshold, &found);
	for (size_t i = 0; i < by_function_self.count; i++) {
		const uint64_t *live = by_function_self.list[i].live;

		wanted += live[0] + threshold < live[1] ||
			live[1] + threshold < live[0];
	}
	assert_true(wanted > 2 && wanted < by_function_self.count + 1);
	assert_int_equal(found.count, wanted);
	assert_int_equal(found.count + found.below + found.equal,
			 groups.count);
	for (size_t i = 0; i < found.count; i++) {
		const struct difference *one = &found.list[i];
		const struct sum *sum = sum_of(&by_function_self,
			name_at(groups.list[one->group].frame));

		assert_int_equal(one->before, sum->live[0]);
		assert_int_equal(one->after, sum->live[1]);
		assert_int_equal(one->state, one->after > one->before ?
				 DIFFERENCE_GROWN : DIFFERENCE_SHRUNK);
		assert_true(i == 0 || found.list[i - 1].size >= one->size);
	}
	differences_free(&found);
	profile_groups_free(&groups);
}

struct seen {
	struct sums *sums;
	char key[128];
	size_t count;
	uint64_t least;
};

static bool enter(void *owner, const struct profile_branch *branch)
{
	struct seen *seen = owner;

	seen->key[branch->depth] = name_at(branch->frame)[0];
	seen->key[branch->depth + 1] = 0;
	same(sum_of(seen->sums, seen->key), branch->inclusive);
	assert_true(branch->index < branch->count);
	seen->count++;
	return true;
}

static void leave(void *owner, const struct profile_branch *branch)
{
	struct seen *seen = owner;

	/* The way back leads along the way here. */
	assert_int_equal(strlen(seen->key), branch->depth + 1);
	seen->key[branch->depth] = 0;
}

static void walk(bool bottom_up, struct sums *sums, uint64_t least)
{
	struct seen seen = { .sums = sums };
	struct profile_walk way = {
		.bottom_up = bottom_up, .key = MEASURE_LIVE, .min = least,
		.enter = enter, .leave = leave, .owner = &seen,
	};
	size_t wanted = 0, known = sums->count;

	profile_walk(profile, &way);
	for (size_t i = 0; i < known; i++)
		wanted += sums->list[i].live[0] >= least ||
			sums->list[i].live[1] >= least;
	assert_int_equal(seen.count, wanted);
	assert_int_equal(sums->count, known);
	assert_int_equal(strlen(seen.key), 0);
}

static void test_walks(void **state)
{
	(void)state;
	walk(false, &down, 0);
	walk(true, &up, 0);
	walk(false, &down, 5000);
	walk(true, &up, 5000);
}

static bool count_branch(void *owner, const struct profile_branch *branch)
{
	size_t *count = owner;

	(void)branch;
	(*count)++;
	return true;
}

/* A thousand times as deep as a stack of ours could be walked by calls. */
static void test_deep(void **state)
{
	enum { DEEP = 300000 };
	struct debugfile_places places = { 0 };
	struct profile *deep = profile_new(1);
	struct trace_event event = { .kind = GT_ALLOC };
	uint64_t all = 0, inner = 0;
	size_t branches = 0;
	struct profile_walk way = { .key = MEASURE_LIVE, .enter = count_branch,
				    .depth_max = 20000,
				    .owner = &branches };
	struct profile_groups groups;
	struct figures sum;
	struct frames frames;
	struct model *model = model_new(NULL, NULL);

	(void)state;
	feed_thread(model, 0, 0);
	name_functions(model, 0);
	for (uint32_t i = 0; i < DEEP; i++) {
		feed_node(model, GT_STOP_COUNT + i, i ? GT_STOP_COUNT + i - 1 :
			  GT_STOP_NO_RULE, address_of(0, i % FUNCTIONS, 0));
	}
	/* every frame allocates */
	for (uint32_t i = 0; i < DEEP; i++) {
		event.stamp = i + 1;
		event.address = (i + 1) * UINT64_C(16);
		event.size = i % 1000 + 1;
		all += event.size;
		inner += i >= 12343 ? event.size : 0;
		event.context = GT_STOP_COUNT + i;
		model_events(model, model_lane(1, false), &event, 1);
	}
	model_finish(model);
	frames_init(&frames, model, &places, false);
	profile_add(deep, 0, &frames, NULL, NULL);
	frames_free(&frames);
	model_free(model);
	profile_seal(deep);
	/* the root, and why the walk ended, which reads as a frame */
	assert_int_equal(deep->node_count, DEEP + 2);
	assert_int_equal(deep->frames[deep->nodes[1].frame].stop,
			 GT_STOP_NO_RULE);
	profile_inclusive(deep, 1, 0, &sum);
	assert_int_equal(sum.live_bytes, all);
	profile_inclusive(deep, 12345, 0, &sum);
	assert_int_equal(sum.live_bytes, inner);
	profile_groups(deep, PROFILE_BY_FUNCTION, MEASURE_LIVE, &groups);
	assert_int_equal(groups.count, FUNCTIONS + 1);
	/* the first frame of each function is one of the outermost ones */
	for (size_t i = 0; i < groups.count; i++)
		assert_true(groups.inclusive[i].live_bytes > all - 20000);
	profile_groups_free(&groups);
	profile_walk(deep, &way);
	assert_int_equal(branches, 20000);
	way.bottom_up = true;
	way.depth_max = 50;
	profile_walk(deep, &way);
	profile_free(deep);
}

static void test_broken_ones(void **state)
{
	struct profile_node *node = &profile->nodes[2];
	uint32_t kept;

	(void)state;
	assert_true(profile_is_valid(profile));
	kept = node->parent;
	node->parent = 2;
	assert_false(profile_is_valid(profile));
	node->parent = kept;
	kept = node->end;
	node->end = 2;
	assert_false(profile_is_valid(profile));
	node->end = (uint32_t)profile->node_count + 1;
	assert_false(profile_is_valid(profile));
	node->end = kept;
	kept = node->first;
	node->first = (uint32_t)profile->self_count + 1;
	assert_false(profile_is_valid(profile));
	node->first = kept;
	assert_true(profile_is_valid(profile));
	profile->self_count--;
	assert_false(profile_is_valid(profile));
	profile->self_count++;
	kept = profile->order[0];
	profile->order[0] = profile->order[profile->self_count - 1];
	assert_false(profile_is_valid(profile));
	profile->order[0] = kept;
	assert_true(profile_is_valid(profile));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nodes),
		cmocka_unit_test(test_groups),
		cmocka_unit_test(test_differences),
		cmocka_unit_test(test_walks),
		cmocka_unit_test(test_deep),
		cmocka_unit_test(test_broken_ones),
	};

	return cmocka_run_group_tests(tests, make, drop);
}
