/*
 * profile_groups.c: see profile_groups.h. Called by the main thread.
 *
 * Inclusive measures are summed in one walk over the nodes in order. The open
 * nodes, from the root to the current node, each have a sum. When a node is
 * closed, its sum is added to its parent's. It is also added to its group's,
 * unless another frame of the group is open, which would add the same blocks
 * again. So recursion counts once, and each node is visited once.
 */
#include "cli/stack/profile_groups.h"

#include <stdlib.h>
#include <string.h>

#include "cli/base/grow.h"
#include "cli/base/sort.h"
#include "unwind/base/assertion.h"

struct grouping {
	const struct profile *profile;
	struct profile_groups *groups;
	enum measure largest_by;	/* selects the node that stands for a
					 * group */
	size_t capacity;
	struct intern keys;	/* of the groups (write_key), by number */
	struct buffer scratch;
};

static uint32_t new_group(struct grouping *grouping, uint32_t frame)
{
	struct profile_groups *groups = grouping->groups;

	assert(groups->count < PROFILE_NONE);
	GROW(groups->list, groups->count, grouping->capacity);
	groups->list[groups->count] = (struct profile_group){
		.frame = frame, .node = PROFILE_NONE
	};
	return (uint32_t)groups->count++;
}

static void write_key(struct buffer *key, const struct profile *profile,
		      const struct profile_frame *frame, enum profile_by by)
{
	const char *file = profile_file(profile, frame);
	const char *library = frame->library ? frame->library : "";

	if (frame->own)
		library = "\003";	/* whatever its name */
	buffer_clear(key);
	if (by == PROFILE_BY_LIBRARY)
		buffer_printf(key, "l%s", library);
	else if (by == PROFILE_BY_FILE && file != NULL)
		buffer_printf(key, "f%s", file);
	else if (by == PROFILE_BY_LINE && file != NULL)
		buffer_printf(key, "f%s\001%u", file, frame->line);
	else if (by == PROFILE_BY_FILE || by == PROFILE_BY_LINE)
		buffer_printf(key, "l%s", library);
	else if (frame->function == NULL)
		buffer_string(key, "o");
	else
		buffer_printf(key, "n%s\001%s", frame->function, library);
	/* The reason why a walk ended differs from code in no file. */
	if (frame->stop != GT_STOP_BOTTOM)
		buffer_printf(key, "\001%u", frame->stop);
	if (by != PROFILE_BY_SITE)
		return;
	buffer_printf(key, "\001%s\001%u\001%llx", file ? file : "",
		      frame->line, (unsigned long long)frame->offset);
}

static uint32_t group_of(struct grouping *grouping, uint32_t frame)
{
	uint32_t *of_frame = &grouping->groups->of_frame[frame];

	DEBUG_ASSERT(frame < grouping->profile->frame_count);
	if (*of_frame != PROFILE_NONE)
		return *of_frame;
	write_key(&grouping->scratch, grouping->profile,
		  &grouping->profile->frames[frame], grouping->groups->by);
	*of_frame = intern_number(&grouping->keys, grouping->scratch.data,
				  grouping->scratch.size);
	if (*of_frame == grouping->groups->count)
		new_group(grouping, frame);
	return *of_frame;
}

static bool has_selves(const struct profile *profile, uint32_t node)
{
	return profile->nodes[node].first < profile->nodes[node + 1].first;
}

/* The result of profile_site for each node, to be freed: stacks of only
 * allocator wrappers may be deep, and many. */
static uint32_t *sites_of(const struct profile *profile)
{
	uint32_t *sites = grow_resize(NULL, profile->node_count,
				      sizeof(*sites));

	/* The root stands for "no site" at first. */
	sites[PROFILE_ROOT] = PROFILE_ROOT;
	for (uint32_t n = 1; n < profile->node_count; n++) {
		const struct profile_node *node = &profile->nodes[n];

		sites[n] = profile_is_wrapper(profile, n) ?
			sites[node->parent] : n;
	}
	for (uint32_t n = 1; n < profile->node_count; n++)
		if (sites[n] == PROFILE_ROOT)
			sites[n] = n;
	return sites;
}

/* The group of the blocks of a node's own stack. */
static uint32_t group_of_stack(struct grouping *grouping,
			       const uint32_t *sites, uint32_t node)
{
	const struct profile *profile = grouping->profile;

	if (grouping->groups->by == PROFILE_BY_STACK)
		return new_group(grouping, profile->nodes[node].frame);
	node = sites[node];
	/* Stacks without a frame, of which a profile has one: only their key is
	 * empty. */
	if (node == PROFILE_ROOT) {
		intern_number(&grouping->keys, "", 0);
		return new_group(grouping, PROFILE_NONE);
	}
	return group_of(grouping, profile->nodes[node].frame);
}

/* ---- self ---- */

/* Makes all groups; returns the group of each node with self costs, to be
 * freed. Groups have to be complete before the sums, which are an array. */
static uint32_t *make_groups(struct grouping *grouping)
{
	const struct profile *profile = grouping->profile;
	bool inclusive = grouping->groups->by > PROFILE_BY_SITE;
	uint32_t *own = grow_resize(NULL, profile->node_count, sizeof(*own));
	uint32_t *sites = sites_of(profile);

	for (uint32_t n = 0; n < profile->node_count; n++) {
		if (inclusive && n != PROFILE_ROOT)
			group_of(grouping, profile->nodes[n].frame);
		own[n] = has_selves(profile, n) ?
			group_of_stack(grouping, sites, n) : PROFILE_NONE;
	}
	free(sites);
	return own;
}

static void add_own(struct grouping *grouping, uint32_t node, uint32_t number)
{
	struct profile_groups *groups = grouping->groups;
	struct profile_group *group = &groups->list[number];

	DEBUG_ASSERT(number < groups->count);
	for (unsigned side = 0; side < groups->sides; side++) {
		struct figures own;
		uint64_t value;

		group->contexts += profile_own(grouping->profile, node, side,
					       &own);
		if (groups->self != NULL)
			figures_add(&groups->self[(size_t)number *
						  groups->sides + side],
				    &own);
		value = profile_value(grouping->profile, &own,
				      grouping->largest_by);
		if (group->node != PROFILE_NONE && value <= group->largest)
			continue;
		group->node = node;
		group->largest = value;
	}
}

/* ---- inclusive ---- */

struct open_node {
	uint32_t node;
	uint32_t group;		/* PROFILE_NONE: the root */
};

struct inclusive_walk {
	struct grouping *grouping;
	struct open_node *open;
	struct figures *sums;	/* parallel, for each side */
	size_t count;
	size_t capacity;
	size_t sum_capacity;	/* in nodes */
	uint32_t *times;	/* by group: how many of its nodes are open */
};

static void open_node(struct inclusive_walk *inclusive_walk, uint32_t node)
{
	const struct profile *profile = inclusive_walk->grouping->profile;
	unsigned sides = profile->sides;
	uint32_t group = PROFILE_NONE;

	GROW(inclusive_walk->open, inclusive_walk->count,
	     inclusive_walk->capacity);
	if (inclusive_walk->sum_capacity < inclusive_walk->capacity) {
		inclusive_walk->sum_capacity = inclusive_walk->capacity;
		inclusive_walk->sums = grow_resize(
			inclusive_walk->sums, inclusive_walk->capacity * sides,
			sizeof(*inclusive_walk->sums));
	}
	if (node != PROFILE_ROOT) {
		group = group_of(inclusive_walk->grouping,
				 profile->nodes[node].frame);
		inclusive_walk->times[group]++;
	}
	DEBUG_ASSERT(
		inclusive_walk->count == 0 ||
		profile->nodes[inclusive_walk->open[inclusive_walk->count - 1]
				       .node]
				  .end > node);
	inclusive_walk->open[inclusive_walk->count] =
		(struct open_node){ node, group };
	for (unsigned side = 0; side < sides; side++)
		profile_own(
			profile, node, side,
			&inclusive_walk
				 ->sums[inclusive_walk->count * sides + side]);
	inclusive_walk->count++;
}

static void close_node(struct inclusive_walk *inclusive_walk)
{
	struct profile_groups *groups = inclusive_walk->grouping->groups;
	unsigned sides = groups->sides;
	size_t at = --inclusive_walk->count;
	uint32_t group = inclusive_walk->open[at].group;
	const struct figures *sums = &inclusive_walk->sums[at * sides];

	if (group == PROFILE_NONE)
		return;
	DEBUG_ASSERT(at > 0 && inclusive_walk->times[group] > 0);
	if (--inclusive_walk->times[group] == 0)
		for (unsigned side = 0; side < sides; side++)
			figures_add(&groups->inclusive[(size_t)group * sides +
						       side], &sums[side]);
	for (unsigned side = 0; side < sides; side++)
		figures_add(&inclusive_walk->sums[(at - 1) * sides + side],
			    &sums[side]);
}

static void add_inclusive(struct grouping *grouping)
{
	const struct profile *profile = grouping->profile;
	struct inclusive_walk inclusive_walk = {
		.grouping = grouping,
		.times = grow_zeroed(grouping->groups->count,
				     sizeof(*inclusive_walk.times)),
	};

	for (uint32_t n = 0; n < profile->node_count; n++) {
		while (inclusive_walk.count > 0 &&
		       profile->nodes[inclusive_walk
					      .open[inclusive_walk.count - 1]
					      .node]
				       .end <= n)
			close_node(&inclusive_walk);
		open_node(&inclusive_walk, n);
	}
	while (inclusive_walk.count > 0)
		close_node(&inclusive_walk);
	free(inclusive_walk.open);
	free(inclusive_walk.sums);
	free(inclusive_walk.times);
}

/* ---- the result ---- */

void profile_groups(const struct profile *profile, enum profile_by by,
		    enum measure key, struct profile_groups *groups)
{
	struct grouping grouping = {
		.profile = profile, .groups = groups, .largest_by = key
	};
	uint32_t *own;

	memset(groups, 0, sizeof(*groups));
	groups->by = by;
	groups->sides = profile->sides;
	groups->of_frame = grow_resize(NULL, profile->frame_count,
					sizeof(uint32_t));
	memset(groups->of_frame, 0xff,
	       profile->frame_count * sizeof(uint32_t));
	own = make_groups(&grouping);
	/* There may be millions of stacks: their measures are not copied. */
	if (by != PROFILE_BY_STACK)
		groups->self = grow_zeroed(groups->count * groups->sides,
					   sizeof(*groups->self));
	for (uint32_t n = 0; n < profile->node_count; n++)
		if (own[n] != PROFILE_NONE)
			add_own(&grouping, n, own[n]);
	groups->of_self = grow_resize(NULL, profile->self_count,
				      sizeof(uint32_t));
	for (size_t i = 0; i < profile->self_count; i++)
		groups->of_self[i] = own[profile->self_costs[i].node];
	free(own);
	if (by > PROFILE_BY_SITE) {
		groups->inclusive = grow_zeroed(groups->count * groups->sides,
						sizeof(*groups->inclusive));
		add_inclusive(&grouping);
	}
	intern_free(&grouping.keys);
	buffer_free(&grouping.scratch);
}

void profile_groups_free(struct profile_groups *groups)
{
	free(groups->inclusive);
	free(groups->self);
	free(groups->of_self);
	free(groups->of_frame);
	free(groups->list);
	memset(groups, 0, sizeof(*groups));
}

static const struct figures *stack_figures(const struct profile *profile,
					   uint32_t node, unsigned side)
{
	static const struct figures none;
	uint32_t end = profile->nodes[node + 1].first;

	DEBUG_ASSERT(node < profile->node_count);
	for (uint32_t i = profile->nodes[node].first; i < end; i++)
		if (profile->self_costs[profile->order[i]].side == side)
			return &profile->self_costs[profile->order[i]].figures;
	return &none;
}

const struct figures *profile_group_self(const struct profile *profile,
					 const struct profile_groups *groups,
					 uint32_t group, unsigned side)
{
	DEBUG_ASSERT(group < groups->count && side < groups->sides);
	if (groups->self != NULL)
		return &groups->self[(size_t)group * groups->sides + side];
	return stack_figures(profile, groups->list[group].node, side);
}

const struct figures *profile_group_inclusive(
	const struct profile *profile, const struct profile_groups *groups,
	uint32_t group, unsigned side)
{
	DEBUG_ASSERT(group < groups->count && side < groups->sides);
	if (groups->inclusive == NULL)
		return profile_group_self(profile, groups, group, side);
	return &groups->inclusive[(size_t)group * groups->sides + side];
}
