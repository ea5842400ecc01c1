/*
 * stack_filter.c: see stack_filter.h. Called by the main thread.
 *
 * A number describes each stack, computed from the outermost frame inward
 * (context_value.h): which words match one of its frames, and how many frames
 * there are. So an expression is evaluated once for each place in the program,
 * and a context costs one lookup.
 *
 *	bits 0–6   which kinds of words match some frame
 *	bit  7     FILTER_PASSES_THROUGH matches one that is not the innermost
 *	bits 8–29  number of frames, at most DEPTH_MAX
 *	bit  31    the stack is truncated: a word that does not match may match
 *	           a missing frame
 *
 * If there are conditions on allocations, these are summed over all costs of a
 * context once: a context may have several costs (block_keys.h).
 */
#include "cli/stack/stack_filter.h"

#include <stdlib.h>
#include <string.h>

#include "cli/base/grow.h"
#include "cli/base/table.h"
#include "cli/base/text/base_name.h"
#include "cli/base/text/pattern.h"
#include "cli/model/core/contexts.h"
#include "cli/model/stats/figures.h"
#include "cli/stack/context_value.h"
#include "unwind/base/assertion.h"

#define THROUGH 0x80u
#define DEPTH_SHIFT 8
#define DEPTH_MAX ((1u << 22) - 1)
#define CUT (1u << 31)
#define NOT_TRIED 0		/* value of places; TRIED is set in all
				 * others */
#define TRIED 0x100u

/* Kinds of conditions on frames; their order is that of the bits. */
static const struct {
	enum filter_id id;
	size_t text;		/* offset of the text in struct frame */
	bool unwanted;
} kinds[] = {
	{ FILTER_FUNCTION, offsetof(struct frame, function), false },
	{ FILTER_NOT_FUNCTION, offsetof(struct frame, function), true },
	{ FILTER_SOURCE, offsetof(struct frame, file), false },
	{ FILTER_NOT_SOURCE, offsetof(struct frame, file), true },
	{ FILTER_LIBRARY, offsetof(struct frame, library), false },
	{ FILTER_NOT_LIBRARY, offsetof(struct frame, library), true },
	{ FILTER_PASSES_THROUGH, offsetof(struct frame, function), false },
};

#define KINDS (sizeof(kinds) / sizeof(kinds[0]))
#define KIND_THROUGH (KINDS - 1)

/* Kinds of conditions on numbers, and whether they are a minimum. */
static const struct {
	enum filter_id id;
	bool is_min;
} limits[] = {
	{ FILTER_DEPTH_MIN, true },
	{ FILTER_DEPTH_MAX, false },
	{ FILTER_GROUP_COUNT_MIN, true },
	{ FILTER_GROUP_COUNT_MAX, false },
	{ FILTER_GROUP_LIVE_MIN, true },
	{ FILTER_GROUP_LIVE_MAX, false },
	{ FILTER_GROUP_INTERVAL_MIN, true },
	{ FILTER_GROUP_INTERVAL_MAX, false },
	{ FILTER_GROUP_PEAK_TIME_MIN, true },
	{ FILTER_GROUP_PEAK_TIME_MAX, false },
};

#define LIMITS (sizeof(limits) / sizeof(limits[0]))

struct stack_filter {
	const struct filter *words;
	struct frames *frames;
	bool by_frames;		/* there are words of `kinds`, or about the
				 * depth */
	bool by_group;
	uint64_t limit[LIMITS];	/* of several, the widest */
	bool limited[LIMITS];
	uint16_t *places;	/* matching words, by place; or NOT_TRIED */
	size_t place_capacity;
	struct context_value context_value;
	struct table group_of;	/* node -> index of its sums */
	struct figures *groups;
	size_t group_count;
	size_t group_capacity;
};

/* ---- frames ---- */

static bool matches_name(void *pattern, const char *name)
{
	return pattern_matches(pattern, name);
}

static bool matches_word(const struct stack_filter *filter, size_t kind,
			 const struct filter_word *word,
			 const struct frame *frame)
{
	const char *text = *(const char *const *)((const char *)frame +
						  kinds[kind].text);

	if (text == NULL)
		return false;
	if (kinds[kind].text == offsetof(struct frame, function))
		return frames_function_matches(filter->frames, text,
					       matches_name, word->pattern);
	/* Reports print a file without its directories. */
	return pattern_matches(word->pattern, text) ||
	       pattern_matches(word->pattern, base_name(text));
}

/* Tries each word, to record whether it matches anything. */
static bool matches(const struct stack_filter *filter, size_t kind,
		    const struct frame *frame)
{
	const struct filter_word *word;
	bool found = false;

	for (size_t i = 0; (word = filter_word(filter->words, kinds[kind].id,
					       i)); i++)
		if (matches_word(filter, kind, word, frame)) {
			filter_matched(filter->words, word);
			found = true;
		}
	return found;
}

static uint16_t try_place(const struct stack_filter *filter, uint32_t number)
{
	const struct frames_place *place = &filter->frames->places[number];
	unsigned bits = TRIED;

	DEBUG_ASSERT(number < filter->frames->place_count);
	for (size_t kind = 0; kind < KINDS; kind++)
		for (uint32_t i = 0; i < place->count; i++) {
			if (!matches(filter, kind, &place->list[i]))
				continue;
			bits |= 1u << kind;
			/* Frames that it was inlined into are its callers. */
			if (kind == KIND_THROUGH && i > 0)
				bits |= THROUGH;
		}
	return (uint16_t)bits;
}

static unsigned bits_of_place(struct stack_filter *filter, uint32_t place)
{
	GROW_TO(filter->places, filter->place_capacity, place);
	if (filter->places[place] == NOT_TRIED)
		filter->places[place] = try_place(filter, place);
	return filter->places[place] & ~TRIED;
}

static uint32_t depth_of(uint32_t value)
{
	return (value & ~CUT) >> DEPTH_SHIFT;
}

static uint32_t begin_early(void *owner, enum gt_stop stop, const char *words)
{
	(void)owner, (void)stop, (void)words;
	return CUT;
}

static uint32_t go_inward(void *owner, uint32_t outer, uint32_t place)
{
	struct stack_filter *filter = owner;
	uint32_t count = filter->frames->places[place].count;
	uint32_t depth = depth_of(outer);
	uint32_t bits = outer & ((1u << DEPTH_SHIFT) - 1);

	if (count == 0)
		return outer;
	if (bits & 1u << KIND_THROUGH)
		bits |= THROUGH;
	bits |= bits_of_place(filter, place);
	depth = count < DEPTH_MAX - depth ? depth + count : DEPTH_MAX;
	DEBUG_ASSERT(depth <= DEPTH_MAX && !(bits >> DEPTH_SHIFT));
	return (outer & CUT) | depth << DEPTH_SHIFT | bits;
}

/* ---- making one ---- */

/* Of several words with the same limit, the widest counts. */
static bool take_limit(struct stack_filter *filter, size_t i)
{
	const struct filter_word *word;

	for (size_t n = 0; (word = filter_word(filter->words, limits[i].id,
					       n)); n++) {
		uint64_t value = word->number;

		if ((limits[i].id == FILTER_GROUP_PEAK_TIME_MIN ||
		     limits[i].id == FILTER_GROUP_PEAK_TIME_MAX) &&
		    !moment_ns(filter->frames->model, &word->moment, &value))
			return false;
		if (!filter->limited[i] ||
		    (limits[i].is_min ? value < filter->limit[i] :
		     value > filter->limit[i]))
			filter->limit[i] = value;
		filter->limited[i] = true;
		if (limits[i].id <= FILTER_DEPTH_MAX)
			filter->by_frames = true;
		else
			filter->by_group = true;
	}
	return true;
}

static void sum_groups(struct stack_filter *filter)
{
	const struct model *model = filter->frames->model;
	const struct contexts *contexts = model_contexts(model);

	for (size_t i = 0; i < contexts->cost_count; i++) {
		const struct context_cost *cost = &contexts->costs[i];
		uint32_t at = table_number(&filter->group_of, cost->node,
					   filter->group_count);
		struct figures figures;

		if (at == filter->group_count) {
			GROW(filter->groups, filter->group_count,
			     filter->group_capacity);
			filter->groups[filter->group_count++] =
				(struct figures){ 0 };
		}
		model_figures(model, cost, &figures);
		figures_add(&filter->groups[at], &figures);
	}
}

/* Evaluates all contexts, even those excluded by other words, so that words
 * that match nothing in the trace are known. */
static void look_at_all(struct stack_filter *filter)
{
	const struct contexts *contexts = filter->frames->contexts;
	const struct filter_word *word;

	for (size_t i = 0; i < contexts->cost_count && filter->by_frames; i++)
		context_value_of(&filter->context_value,
				 contexts->costs[i].node);
	for (size_t n = 0; (word = filter_word(filter->words, FILTER_CONTEXT,
					       n)); n++)
		for (size_t i = 0; i < contexts->cost_count; i++)
			if (contexts->costs[i].node == word->number)
				filter_matched(filter->words, word);
}

struct stack_filter *stack_filter_new(const struct filter *words,
				      struct frames *frames)
{
	struct stack_filter *filter = grow_zeroed(1, sizeof(*filter));

	filter->words = words;
	filter->frames = frames;
	context_value_init(&filter->context_value, frames, begin_early,
			   go_inward, filter);
	for (size_t kind = 0; kind < KINDS; kind++)
		if (filter_word(words, kinds[kind].id, 0) != NULL)
			filter->by_frames = true;
	for (size_t i = 0; i < LIMITS; i++) {
		if (take_limit(filter, i))
			continue;
		stack_filter_free(filter);
		return NULL;
	}
	if (filter->by_group)
		sum_groups(filter);
	look_at_all(filter);
	return filter;
}

void stack_filter_free(struct stack_filter *filter)
{
	if (filter == NULL)
		return;
	context_value_free(&filter->context_value);
	table_free(&filter->group_of);
	free(filter->groups);
	free(filter->places);
	free(filter);
}

/* ---- asking it ---- */

static uint64_t group_value(enum filter_id id, const struct figures *group)
{
	switch ((int)id) {
	case FILTER_GROUP_COUNT_MIN:
	case FILTER_GROUP_COUNT_MAX:
		return group->count;
	case FILTER_GROUP_LIVE_MIN:
	case FILTER_GROUP_LIVE_MAX:
		return group->live_blocks;
	case FILTER_GROUP_INTERVAL_MIN:
	case FILTER_GROUP_INTERVAL_MAX:
		return group->last_ns - group->first_ns;
	default:
		return group->own_peak_ns;
	}
}

/* Checks limits of the depth, or of a group. `endless`: values may be larger
 * than known. */
static bool in_limits(const struct stack_filter *filter, bool of_group,
		      const struct figures *group, uint64_t depth,
		      bool endless)
{
	for (size_t i = 0; i < LIMITS; i++) {
		bool is_depth = limits[i].id <= FILTER_DEPTH_MAX;
		uint64_t value;

		if (!filter->limited[i] || is_depth == of_group)
			continue;
		value = is_depth ? depth : group_value(limits[i].id, group);
		if (limits[i].is_min ? value < filter->limit[i] && !endless :
		    value > filter->limit[i])
			return false;
	}
	return true;
}

/* `cut`: the stack is truncated, and missing frames may match. */
static bool frames_fit(const struct stack_filter *filter, uint32_t value,
		       bool cut)
{
	for (size_t kind = 0; kind < KINDS; kind++) {
		bool found = kind == KIND_THROUGH ? value & THROUGH :
			value >> kind & 1;

		if (filter_word(filter->words, kinds[kind].id, 0) != NULL &&
		    found == kinds[kind].unwanted && (found || !cut))
			return false;
	}
	return in_limits(filter, false, NULL, depth_of(value), cut);
}

static bool is_named(const struct stack_filter *filter, uint32_t node)
{
	const struct filter_word *word;
	size_t i;

	for (i = 0; (word = filter_word(filter->words, FILTER_CONTEXT, i));
	     i++)
		if (word->number == node)
			return true;
	return i == 0;
}

static enum coverage_decision decide(void *owner, uint32_t node)
{
	static const struct figures none;
	struct stack_filter *filter = owner;
	uint32_t value;

	if (!is_named(filter, node))
		return COVERAGE_NOT_SELECTED;
	if (filter->by_group) {
		uint32_t at = table_get(&filter->group_of, node);

		DEBUG_ASSERT(at == TABLE_NONE || at < filter->group_count);
		if (!in_limits(filter, true, at == TABLE_NONE ? &none :
			       &filter->groups[at], 0, false))
			return COVERAGE_NOT_SELECTED;
	}
	if (!filter->by_frames)
		return COVERAGE_SELECTED;
	value = context_value_of(&filter->context_value, node);
	if (frames_fit(filter, value, false))
		return COVERAGE_SELECTED;
	return value & CUT && frames_fit(filter, value, true) ?
		COVERAGE_UNDECIDABLE : COVERAGE_NOT_SELECTED;
}

bool stack_filter_keeps(void *owner, uint32_t node,
			const struct figures *figures)
{
	(void)figures;
	return decide(owner, node) == COVERAGE_SELECTED;
}

bool stack_filter_is_of_frames(const struct filter *words)
{
	for (size_t i = 0; i < LIMITS; i++)
		if (limits[i].id > FILTER_DEPTH_MAX &&
		    filter_word(words, limits[i].id, 0) != NULL)
			return false;
	return true;
}

uint64_t *stack_filter_chosen(struct stack_filter *filter, size_t *nodes)
{
	uint64_t *chosen;

	ASSERT(!filter->by_group);
	*nodes = filter->frames->contexts->node_count;
	chosen = grow_zeroed(*nodes / 64 + 1, sizeof(*chosen));
	for (size_t node = 0; node < *nodes; node++)
		if (decide(filter, (uint32_t)node) == COVERAGE_SELECTED)
			chosen[node / 64] |= UINT64_C(1) << node % 64;
	return chosen;
}

void stack_filter_coverage(struct stack_filter *filter,
			   const struct model *model,
			   struct coverage *coverage)
{
	coverage_of(model, filter != NULL ? decide : NULL, filter, coverage);
}
