/*
 * profile.c: see profile.h. Called by the main thread.
 *
 *	model node ─(context_value.h)─▶ node ─▶ self costs, one for each side
 *	     place ───────────▶ frames, interned
 *
 * While models are added, nodes are pairs of (parent, frame) in the order of
 * their first use, and a node's self costs are a list from `first`. Sealing
 * renumbers them in preorder from the root, so that the descendants of a node
 * are one range of nodes and one range of self costs: a sum over a subtree is a
 * loop over an array, and needs no memory.
 *
 *  I1  parent < node for every node but the root, sealed or not.
 *  I2  Sealed: n < nodes[n].end, and a child's end is not beyond its parent's;
 *      nodes[].first only grows.
 */
#include "cli/stack/profile.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/grow.h"
#include "cli/base/progress.h"
#include "cli/base/text/base_name.h"
#include "cli/model/core/contexts.h"
#include "cli/stack/wrapper.h"
#include "cli/stack/context_value.h"
#include "unwind/base/assertion.h"

#define LEVEL_BITS 6	/* 64 sums of one level are one of the next */
#define FOLD_MAX 64	/* nodes outward that are searched for recursion */

/* Data needed only while one model is added. */
struct adding {
	struct profile *profile;
	struct frames *frames;
	uint32_t **numbers;	/* by place: numbers of its frames, or NULL */
	size_t number_capacity;
	const char *program;	/* see number_of_frame */
};

/* ---- frames ---- */

static void new_frame(struct profile *profile,
		      const struct profile_frame *frame)
{
	struct profile_frame *own;

	GROW(profile->frames, profile->frame_count, profile->frame_capacity);
	own = &profile->frames[profile->frame_count++];
	*own = *frame;
	if (own->function != NULL)
		own->function = intern_string(&profile->names, own->function);
	if (own->file != NULL)
		own->file = intern_string(&profile->names, own->file);
	if (own->library != NULL)
		own->library = intern_string(&profile->names, own->library);
}

static void add_part(struct buffer *key, const char *part)
{
	/* No part has this byte. It distinguishes NULL from an empty part. */
	buffer_string(key, part ? part : "\001");
	buffer_string(key, "\002");
}

const char *profile_file(const struct profile *profile,
			 const struct profile_frame *frame)
{
	if (frame->file == NULL || !profile->one_program)
		return frame->file;
	return base_name(frame->file);
}

/* Instead of the name of the program's file: no name has this byte. */
#define OWN_FILE "\003"

static uint32_t number_of(struct profile *profile,
			  const struct profile_frame *frame)
{
	struct buffer *key = &profile->scratch;
	uint32_t number;

	buffer_clear(key);
	add_part(key, frame->function);
	add_part(key, profile->of_functions ? NULL :
		 profile_file(profile, frame));
	add_part(key, frame->own ? OWN_FILE : frame->library);
	buffer_printf(key, "%x %llx %x", profile->of_functions ? 0 :
		      frame->line, (unsigned long long)frame->offset,
		      frame->stop);
	if (!profile->compares && frame->inlined)
		buffer_string(key, " inlined");
	number = intern_number(&profile->keys, key->data, key->size);
	if (number == profile->frame_count)
		new_frame(profile, frame);
	DEBUG_ASSERT(number < profile->frame_count);
	if (profile->frames[number].line != frame->line)
		profile->frames[number].line = 0;
	if (profile->frames[number].column != frame->column)
		profile->frames[number].column = 0;
	return number;
}

/* `program`: the name of the program's file; NULL: does not matter. */
static uint32_t number_of_frame(struct profile *profile,
				const struct frame *frame, const char *program)
{
	const struct profile_frame normal = {
		.function = frame->function,
		.file = frame->file,
		.library = frame->library,
		.offset = frame->nameless ? frame->start : 0,
		.address = frame->address,
		.line = frame->line,
		.column = frame->column,
		.inlined = frame->inlined,
		.nameless = frame->nameless,
		.glue = frame->glue,
		.wraps = frame->wraps,
		.own = program != NULL && frame->library != NULL &&
			strcmp(frame->library, program) == 0,
		.stop = GT_STOP_BOTTOM,
	};

	return number_of(profile, &normal);
}

/* ---- nodes ---- */

static uint32_t node_for(struct profile *profile, uint32_t parent,
			 uint32_t frame)
{
	size_t before = profile->met.pair_count;
	uint32_t node = pairset_number(&profile->met, parent, frame);

	DEBUG_ASSERT(before == 0 || parent < before);	/* I1 */
	if (node == before) {
		GROW(profile->first, before, profile->first_capacity);
		profile->first[node] = PROFILE_NONE;
	}
	return node;
}

static struct profile_self *self_of(struct profile *profile, uint32_t node,
				    unsigned side)
{
	struct profile_self *self;
	uint32_t at = profile->first[node];

	for (; at != PROFILE_NONE; at = profile->self_costs[at].next)
		if (profile->self_costs[at].side == side)
			return &profile->self_costs[at];
	DEBUG_ASSERT(node < profile->met.pair_count && side < profile->sides);
	GROW(profile->self_costs, profile->self_count, profile->self_capacity);
	self = &profile->self_costs[profile->self_count];
	memset(self, 0, sizeof(*self));
	self->node = node;
	self->side = side;
	self->next = profile->first[node];
	profile->first[node] = (uint32_t)profile->self_count++;
	return self;
}

/* ---- adding a model ---- */

struct profile *profile_new(unsigned sides)
{
	struct profile *profile = grow_zeroed(1, sizeof(*profile));

	profile->sides = sides;
	node_for(profile, PROFILE_ROOT, PROFILE_NONE);
	return profile;
}

/* Numbers of a place's frames, outermost last; the first element is their
 * count. */
static const uint32_t *numbers_of(struct adding *adding, uint32_t place)
{
	const struct frames_place *at = &adding->frames->places[place];
	uint32_t *numbers;

	DEBUG_ASSERT(place < adding->frames->place_count);
	GROW_TO(adding->numbers, adding->number_capacity, place);
	if (adding->numbers[place] != NULL)
		return adding->numbers[place];
	numbers = grow_resize(NULL, (size_t)at->count + 1, sizeof(*numbers));
	numbers[0] = at->count;
	for (uint32_t i = 0; i < at->count; i++)
		numbers[1 + i] = number_of_frame(adding->profile,
						 &at->list[i],
						 adding->program);
	return adding->numbers[place] = numbers;
}

static uint32_t begin_early(void *owner, enum gt_stop stop, const char *words)
{
	struct profile *profile = ((struct adding *)owner)->profile;
	const struct profile_frame end = { .function = words, .glue = true,
					   .stop = stop };

	return node_for(profile, PROFILE_ROOT, number_of(profile, &end));
}

/* The node at or outside of this one with the same frame. */
static uint32_t recurring(const struct profile *profile, uint32_t node,
			  uint32_t frame)
{
	for (int i = 0; i < FOLD_MAX && node != PROFILE_ROOT; i++) {
		if (profile->met.pairs[node].second == frame)
			return node;
		node = profile->met.pairs[node].first;
	}
	return PROFILE_NONE;
}

static uint32_t go_inward(void *owner, uint32_t outer, uint32_t place)
{
	struct adding *adding = owner;
	const uint32_t *numbers = numbers_of(adding, place);

	for (uint32_t i = numbers[0]; i > 0; i--) {
		uint32_t same = !adding->profile->fold ? PROFILE_NONE :
			recurring(adding->profile, outer, numbers[i]);

		outer = same != PROFILE_NONE ? same :
			node_for(adding->profile, outer, numbers[i]);
	}
	return outer;
}

static void add_contexts(struct profile *profile, unsigned side,
			 struct context_value *context_value,
			 bool (*keep)(void *, uint32_t,
				      const struct figures *), void *owner)
{
	const struct model *model = context_value->frames->model;
	const struct contexts *contexts = model_contexts(model);
	size_t count = contexts->cost_count;

	if (profile->with_costs)
		profile->self_of_cost = grow_resize(NULL, count,
						    sizeof(uint32_t));
	progress_begin("looking up symbols", count);
	for (size_t i = 0; i < count; i++) {
		const struct context_cost *cost = &contexts->costs[i];
		struct profile_self *self;
		struct figures figures;

		model_figures(model, cost, &figures);
		if (profile->with_costs)
			profile->self_of_cost[i] = PROFILE_NONE;
		if (keep != NULL && !keep(owner, cost->node, &figures))
			continue;
		self = self_of(profile,
			       context_value_of(context_value, cost->node),
			       side);
		if (profile->with_costs)
			profile->self_of_cost[i] =
				(uint32_t)(self - profile->self_costs);
		figures_add(&self->figures, &figures);
		self->contexts++;
		progress_update(i);
	}
	progress_end();
}

void profile_add(struct profile *profile, unsigned side,
		 struct frames *frames,
		 bool (*keep)(void *owner, uint32_t node,
			      const struct figures *figures),
		 void *owner)
{
	struct adding adding = { .profile = profile, .frames = frames };
	struct context_value context_value;
	uint64_t end_ns = model_duration_ns(frames->model);
	const char *exe = model_fact(frames->model, GT_INFO, "exe");

	if (profile->one_program && exe != NULL)
		adding.program = base_name(exe);
	assert(!profile->sealed && side < profile->sides);
	if (end_ns > profile->end_ns)
		profile->end_ns = end_ns;
	context_value_init(&context_value, frames, begin_early, go_inward,
			   &adding);
	add_contexts(profile, side, &context_value, keep, owner);
	context_value_free(&context_value);
	for (size_t i = 0; i < adding.number_capacity; i++)
		free(adding.numbers[i]);
	free(adding.numbers);
}

/* ---- sealing ---- */

/* Makes nodes from the pairs of `met`, which is freed. */
static void take_nodes(struct profile *profile)
{
	size_t count = profile->met.pair_count;
	const struct pair *met = profile->met.pairs;

	free(profile->first);
	profile->first = NULL;
	pairset_settle(&profile->met);
	profile->nodes = grow_resize(NULL, count + 1, sizeof(*profile->nodes));
	for (size_t i = 0; i < count; i++)
		profile->nodes[i] = (struct profile_node){
			.parent = met[i].first, .frame = met[i].second
		};
	profile->node_count = count;
	pairset_free(&profile->met);
}

/*
 * New numbers of all nodes, to be freed; nodes[].end becomes the size of each
 * subtree. By I1, sizes are computed from the last node to the first, and then
 * numbers from the first to the last: a node takes the next free number of its
 * parent's range (kept in nodes[].first meanwhile), and reserves the size of
 * its subtree.
 */
static uint32_t *number_nodes(struct profile *profile)
{
	struct profile_node *nodes = profile->nodes;
	size_t count = profile->node_count;
	uint32_t *number = grow_resize(NULL, count, sizeof(*number));

	for (size_t i = 0; i < count; i++)
		nodes[i].end = 1;
	for (size_t i = count - 1; i > 0; i--)
		nodes[nodes[i].parent].end += nodes[i].end;
	number[0] = 0;
	assert(nodes[0].end == count);
	nodes[0].first = 1;
	for (size_t i = 1; i < count; i++) {
		uint32_t *next = &nodes[nodes[i].parent].first;

		number[i] = *next;
		*next += nodes[i].end;
		nodes[i].first = number[i] + 1;
	}
	return number;
}

/* Sorts self costs by (node, side): first counts them before each node, then
 * fills in `order`. */
static void order_selves(struct profile *profile)
{
	struct profile_node *nodes = profile->nodes;
	uint32_t *order = grow_resize(NULL, profile->self_count,
				      sizeof(*order));
	uint32_t before = 0;

	for (size_t i = 0; i <= profile->node_count; i++)
		nodes[i].first = 0;
	for (size_t i = 0; i < profile->self_count; i++)
		nodes[profile->self_costs[i].node].first++;
	for (size_t i = 0; i <= profile->node_count; i++) {
		uint32_t own = nodes[i].first;

		nodes[i].first = before;
		before += own;
	}
	assert(before == profile->self_count);
	/* Filling moves each `first` to the next node's; it is moved back. */
	for (unsigned side = 0; side < profile->sides; side++)
		for (size_t i = 0; i < profile->self_count; i++)
			if (profile->self_costs[i].side == side)
				order[nodes[profile->self_costs[i].node]
				      .first++] = (uint32_t)i;
	for (size_t i = profile->node_count; i > 0; i--)
		nodes[i].first = nodes[i - 1].first;
	nodes[0].first = 0;
	profile->order = order;
	assert(nodes[profile->node_count].first == profile->self_count);
}

/* Log2 of the number of self costs in a sum of this level. */
static unsigned level_bits(unsigned level)
{
	return (level + 1) * LEVEL_BITS;
}

static void sum_level(struct profile *profile, unsigned level)
{
	unsigned sides = profile->sides;
	size_t whole = profile->self_count >> level_bits(level);
	struct profile_sum *sums = grow_zeroed(whole * sides, sizeof(*sums));

	DEBUG_ASSERT(level == 0 || profile->sums[level - 1] != NULL);
	profile->sums[level] = sums;
	for (size_t i = 0; level == 0 && i < whole << LEVEL_BITS; i++) {
		const struct profile_self *self =
			&profile->self_costs[profile->order[i]];
		struct profile_sum *sum = &sums[(i >> LEVEL_BITS) * sides +
						self->side];

		figures_add(&sum->figures, &self->figures);
		sum->contexts += self->contexts;
	}
	for (size_t i = 0; level > 0 && i < (whole << LEVEL_BITS) * sides;
	     i++) {
		const struct profile_sum *part = &profile->sums[level - 1][i];
		struct profile_sum *sum = &sums[(i / sides >> LEVEL_BITS) *
						sides + i % sides];

		figures_add(&sum->figures, &part->figures);
		sum->contexts += part->contexts;
	}
}

/* Moves each node to its new number, cycle by cycle: a copy of the array might
 * double the memory. number[] becomes the identity. */
static void move_nodes(struct profile_node *nodes, uint32_t *number,
		       size_t count)
{
	for (uint32_t i = 0; i < count; i++)
		while (number[i] != i) {
			uint32_t to = number[i];
			struct profile_node other = nodes[to];

			nodes[to] = nodes[i];
			nodes[i] = other;
			number[i] = number[to];
			number[to] = to;
		}
}

#ifdef GNOMON_DEBUG_ASSERTS
bool profile_is_valid(const struct profile *profile)
{
	const struct profile_node *nodes = profile->nodes;

	for (size_t n = 0; n < profile->node_count; n++)
		if ((n > 0 && nodes[n].parent >= n) ||	/* I1 */
		    nodes[n].end <= n ||
		    nodes[n].end > nodes[nodes[n].parent].end ||
		    nodes[n].first > nodes[n + 1].first)
			return false;	/* I2 */
	for (size_t i = 1; i < profile->self_count; i++)
		if (profile->self_costs[profile->order[i - 1]].node >
		    profile->self_costs[profile->order[i]].node)
			return false;
	return profile->node_count > 0 &&
	       nodes[PROFILE_ROOT].end == profile->node_count &&
	       nodes[profile->node_count].first == profile->self_count;
}
#endif

void profile_seal(struct profile *profile)
{
	size_t count = profile->met.pair_count;
	struct profile_node *nodes;
	uint32_t *number;

	assert(!profile->sealed);
	take_nodes(profile);
	nodes = profile->nodes;
	number = number_nodes(profile);
	for (size_t i = 0; i < count; i++) {
		nodes[i].parent = number[nodes[i].parent];
		nodes[i].end += number[i];
	}
	nodes[count] = (struct profile_node){ .frame = PROFILE_NONE };
	for (size_t i = 0; i < profile->self_count; i++)
		profile->self_costs[i].node =
			number[profile->self_costs[i].node];
	move_nodes(nodes, number, count);
	free(number);
	order_selves(profile);
	for (unsigned level = 0; level < PROFILE_LEVELS; level++)
		sum_level(profile, level);
	DEBUG_ASSERT(profile_is_valid(profile));
	profile->sealed = true;
}

void profile_keep_frames(struct profile *profile)
{
	free(profile->nodes);
	free(profile->self_costs);
	free(profile->order);
	for (unsigned level = 0; level < PROFILE_LEVELS; level++)
		free(profile->sums[level]);
	memset(profile->sums, 0, sizeof(profile->sums));
	profile->nodes = NULL;
	profile->self_costs = NULL;
	profile->order = NULL;
	profile->node_count = 0;
	profile->self_count = 0;
}

void profile_free(struct profile *profile)
{
	if (profile == NULL)
		return;
	profile_keep_frames(profile);
	free(profile->frames);
	free(profile->self_of_cost);
	free(profile->first);
	pairset_free(&profile->met);
	intern_free(&profile->names);
	intern_free(&profile->keys);
	buffer_free(&profile->scratch);
	free(profile);
}

/* ---- of a sealed profile ---- */

/* The largest precomputed sum that begins at `at` and ends by `end`; -1: none,
 * only the self. */
static int fitting_level(size_t at, size_t end)
{
	int level = -1;

	while (level + 1 < PROFILE_LEVELS) {
		size_t size = (size_t)1 << level_bits((unsigned)level + 1);

		if (at % size != 0 || end - at < size)
			break;
		level++;
	}
	return level;
}

static uint64_t sum_up(const struct profile *profile, uint32_t first,
		       uint32_t end, unsigned side, struct figures *sum)
{
	uint64_t contexts = 0;

	DEBUG_ASSERT(first <= end && end <= profile->self_count);
	memset(sum, 0, sizeof(*sum));
	for (size_t i = first; i < end;) {
		int level = fitting_level(i, end);
		const struct profile_self *self =
			&profile->self_costs[profile->order[i]];
		const struct profile_sum *part;

		if (level >= 0) {
			part = &profile->sums[level][(i >>
				level_bits((unsigned)level)) *
				profile->sides + side];
			figures_add(sum, &part->figures);
			contexts += part->contexts;
			i += (size_t)1 << level_bits((unsigned)level);
			continue;
		}
		i++;
		if (self->side != side)
			continue;
		figures_add(sum, &self->figures);
		contexts += self->contexts;
	}
	return contexts;
}

uint64_t profile_inclusive(const struct profile *profile, uint32_t node,
			   unsigned side, struct figures *sum)
{
	const struct profile_node *nodes = profile->nodes;

	DEBUG_ASSERT(node < profile->node_count);
	assert(profile->sealed);
	return sum_up(profile, nodes[node].first,
		      nodes[nodes[node].end].first, side, sum);
}

uint64_t profile_own(const struct profile *profile, uint32_t node,
		     unsigned side, struct figures *sum)
{
	assert(profile->sealed);
	DEBUG_ASSERT(node < profile->node_count);
	return sum_up(profile, profile->nodes[node].first,
		      profile->nodes[node + 1].first, side, sum);
}

bool profile_is_wrapper(const struct profile *profile, uint32_t node)
{
	const struct profile_node *at = &profile->nodes[node];
	const struct profile_frame *frame = &profile->frames[at->frame];
	const struct profile_frame *outer;

	DEBUG_ASSERT(node != PROFILE_ROOT && node < profile->node_count);
	if (frame->glue)
		return true;
	if (at->parent == PROFILE_ROOT)
		return false;
	outer = &profile->frames[profile->nodes[at->parent].frame];
	return wrapper_is_part(frame->nameless, frame->library, outer->library,
			       outer->wraps);
}

uint32_t profile_site(const struct profile *profile, uint32_t node)
{
	uint32_t at = node;

	while (at != PROFILE_ROOT && profile_is_wrapper(profile, at))
		at = profile->nodes[at].parent;
	return at != PROFILE_ROOT ? at : node;
}

void profile_show_frame(const struct profile_frame *from, struct frame *frame)
{
	*frame = (struct frame){
		.function = from->function,
		.file = from->file,
		.library = from->library,
		.module_offset = from->offset,
		.start = from->offset,
		.line = from->line,
		.column = from->column,
		.inlined = from->inlined,
		.nameless = from->nameless,
		.glue = from->glue,
		.wraps = from->wraps,
	};
}

size_t profile_frames_of(const struct profile *profile, uint32_t node,
			 struct frame **list, size_t *capacity,
			 enum gt_stop *stop)
{
	size_t count = 0;

	*stop = GT_STOP_BOTTOM;
	for (; node != PROFILE_ROOT; node = profile->nodes[node].parent) {
		const struct profile_frame *frame =
			&profile->frames[profile->nodes[node].frame];

		if (frame->stop != GT_STOP_BOTTOM) {
			*stop = frame->stop;
			continue;
		}
		GROW(*list, count, *capacity);
		profile_show_frame(frame, &(*list)[count++]);
	}
	return count;
}

uint64_t profile_value(const struct profile *profile,
		       const struct figures *figures, enum measure key)
{
	return figures_value(figures, key, profile->end_ns);
}
