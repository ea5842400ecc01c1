/*
 * selection.c: see selection.h.
 *
 * Words that are given twice mean either value: of minima the least counts, of
 * maxima the greatest, of moments and names any.
 *
 *  I1  A bit of `sure` is set only for blocks that match every word. A bit of
 *      `by_group` is set for blocks that match every word if their context has
 *      a live block, which is known when the deciding pass is over.
 *
 * Called by the reader's thread.
 */
#include "cli/model/selection.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/grow.h"
#include "cli/base/search.h"
#include "cli/base/sort.h"
#include "cli/base/text/buffer.h"
#include "cli/base/text/pattern.h"
#include "cli/base/text/quantity.h"
#include "cli/model/core/bits.h"
#include "cli/model/filters.h"
#include "cli/model/map_index.h"
#include "cli/model/model_state.h"
#include "unwind/base/assertion.h"


/* A block of a chain that has not ended. */
struct pending {
	uint64_t number;
	uint64_t position;
	uint32_t next;		/* 0: none; also of free entries */
	bool sure;		/* whatever the fate of the chain's last
				 * block */
};

struct selection {
	bool of_process;	/* the trace is of a selected process */
	struct selection_range alloc;	/* stamps */
	bool from, to;		/* whether --from and --to were given */
	struct selection_range size;
	struct selection_range address;
	struct selection_range lifetime;	/* ticks */
	struct selection_range length, chain_lifetime, position, first_size, last_size;
	uint64_t *alive[2];	/* stamps of alive-at, alive-at-2 */
	size_t alive_count[2];
	struct map_index *map;	/* NULL: in any */
	struct selection_range *markers;
	size_t marker_count;
	bool *heaps;		/* by number; NULL: the allocator's alone */
	size_t heap_count;
	uint64_t *threads;	/* a bit for each number; NULL: all */
	size_t thread_count;
	unsigned fates;		/* 1 << enum filter_fate; 0: any */
	unsigned allocators, arenas, mmapped;	/* 1 << choice; 0: any */
	const struct filter *filter;
	uint32_t *freed_by;	/* nodes; of blocks that were freed */
	size_t freed_by_count;
	bool ends, chains;
	/* results of the deciding pass */
	struct bits sure;
	struct bits by_group;
	struct bits live_nodes;
	struct pending *pending;	/* 0 is not used */
	size_t pending_count, pending_capacity;
	uint32_t unused;	/* first free entry of them */
};

static inline bool within(const struct selection_range *range, uint64_t value)
{
	return value >= range->min && value <= range->max;
}

/* ---- meaning of words ---- */

static struct selection_range range_of(const struct filter *filter, enum filter_id min,
			     enum filter_id max)
{
	struct selection_range range = { 0, UINT64_MAX };
	const struct filter_word *word;

	for (size_t i = 0; (word = filter_word(filter, min, i)); i++)
		if (i == 0 || word->number < range.min)
			range.min = word->number;
	for (size_t i = 0; (word = filter_word(filter, max, i)); i++)
		if (i == 0 || word->number > range.max)
			range.max = word->number;
	return range;
}

static unsigned choices(const struct filter *filter, enum filter_id id)
{
	const struct filter_word *word;
	unsigned set = 0;

	for (size_t i = 0; (word = filter_word(filter, id, i)); i++) {
		assert(word->number < 8 * sizeof(set));
		set |= 1u << word->number;
	}
	return set;
}

/* Converts ns to ticks, so that lifetimes of that many ns are in the range. */
static struct selection_range ticks_of(const struct model *model,
					 struct selection_range ns)
{
	double rate = clock_rate(&model->clock);
	double min, max;

	if (rate <= 0)
		return ns;
	min = (double)ns.min / rate;
	max = ((double)ns.max + 1) / rate;
	return (struct selection_range){
		min >= 0x1p64 ? UINT64_MAX :
			(uint64_t)min + ((double)(uint64_t)min < min),
		ns.max == UINT64_MAX || max >= 0x1p64 ? UINT64_MAX :
			(uint64_t)max - ((double)(uint64_t)max == max),
	};
}

static bool set_alloc(struct selection *selection, const struct filter *filter,
		      const struct model *model)
{
	const struct filter_word *word;
	uint64_t stamp, from = UINT64_MAX, to = 0;
	size_t i;

	for (i = 0; (word = filter_word(filter, FILTER_FROM, i)); i++) {
		if (!moment_stamp(model, &word->moment, &stamp))
			return false;
		from = stamp < from ? stamp : from;
	}
	selection->from = i > 0;
	selection->alloc.min = i > 0 ? from : 0;
	if (i > 0 && model_since_start_ns(model, from) >
	    model_duration_ns(model))
		notes_hint(model->options.notes, "--from is after the end of "
			   "this trace: it ends after %s",
			   TIME_TEXT(model_duration_ns(model)));
	for (i = 0; (word = filter_word(filter, FILTER_TO, i)); i++) {
		if (!moment_stamp(model, &word->moment, &stamp))
			return false;
		to = stamp > to ? stamp : to;
	}
	selection->alloc.max = UINT64_MAX;
	selection->to = i > 0;
	if (i == 0)
		return true;
	selection->alloc.max = to - (to > 0);
	if (to == 0)		/* nothing is before the start */
		selection->alloc.min = 1;
	/* For moments of one kind filter_fits has checked that. */
	if (selection->alloc.min > selection->alloc.max)
		notes_hint(model->options.notes, "--from is not before --to "
			   "in this trace: nothing lies between");
	return true;
}

static bool set_alive(struct selection *selection, const struct filter *filter,
		      const struct model *model, enum filter_id id,
		      unsigned which)
{
	const struct filter_word *word;
	size_t count = 0;

	while (filter_word(filter, id, count) != NULL)
		count++;
	selection->alive[which] = grow_zeroed(count, sizeof(uint64_t));
	selection->alive_count[which] = count;
	for (size_t i = 0; (word = filter_word(filter, id, i)); i++)
		if (!moment_stamp(model, &word->moment,
				  &selection->alive[which][i]))
			return false;
	return true;
}

static void add_marker(struct selection *selection, struct selection_range range)
{
	size_t n = selection->marker_count++;

	selection->markers = grow_resize(selection->markers, n + 1,
					 sizeof(range));
	selection->markers[n] = range;
}

static int compare_ranges(const void *left, const void *right)
{
	const struct selection_range *a = left, *b = right;

	return sort_up(a->min, b->min) ?: sort_up(a->max, b->max);
}

/* From each marker of that name to the next marker with a name. */
static bool set_markers(struct selection *selection,
			const struct filter *filter, const struct model *model)
{
	const struct filter_word *word;
	struct moment_name *names;
	size_t count = moment_names(model, &names);
	bool good = true;

	for (size_t i = 0; good && (word = filter_word(filter, FILTER_MARKER,
						       i)); i++) {
		const struct moment moment = { .kind = MOMENT_NAME,
					       .name = word->text };
		size_t before = selection->marker_count;
		uint64_t stamp;

		for (size_t s = 0; s < count; s++) {
			uint64_t from = names[s].stamp, to = UINT64_MAX;

			if (strcmp(names[s].name, word->text) != 0)
				continue;
			if (s + 1 < count)
				to = names[s + 1].stamp;
			add_marker(selection, (struct selection_range){
				from, to - (to > from && to < UINT64_MAX)
			});
		}
		/* notes that there is none */
		if (selection->marker_count == before)
			good = moment_stamp(model, &moment, &stamp);
	}
	free(names);
	SORT(selection->markers, selection->marker_count, compare_ranges);
	return good;
}

static bool is_thread(const struct thread *thread,
		      const struct filter_word *word)
{
	if (word->pattern == NULL)
		return thread->tid == word->number;
	for (size_t i = 0; i < thread->name_count; i++)
		if (pattern_matches(word->pattern, thread->names[i].text))
			return true;
	return false;
}

static void set_threads(struct selection *selection,
			const struct filter *filter, const struct model *model)
{
	const struct threads *threads = &model->threads;
	const struct filter_word *word;

	if (filter_word(filter, FILTER_THREAD, 0) == NULL)
		return;
	selection->threads = grow_zeroed(threads->count / 64 + 1,
					 sizeof(uint64_t));
	selection->thread_count = threads->count;
	for (size_t i = 0; (word = filter_word(filter, FILTER_THREAD, i)); i++)
		for (size_t t = 1; t < threads->count; t++)
			if (is_thread(&threads->list[t], word)) {
				selection->threads[t / 64] |=
					UINT64_C(1) << t % 64;
				filter_matched(filter, word);
			}
}

static void set_heaps(struct selection *selection,
		      const struct filter *filter, const struct model *model)
{
	const struct pools *pools = &model->pools;
	const struct filter_word *word;

	if (filter_word(filter, FILTER_HEAP, 0) == NULL)
		return;
	selection->heap_count = pools->count > 0 ? pools->count : 1;
	selection->heaps = grow_zeroed(selection->heap_count, sizeof(bool));
	for (size_t i = 0; (word = filter_word(filter, FILTER_HEAP, i)); i++)
		for (uint32_t h = 0; h < selection->heap_count; h++)
			if (pattern_matches(word->pattern,
					    pools_name_of(pools, h))) {
				selection->heaps[h] = true;
				filter_matched(filter, word);
			}
}

/* The command line matches as reports print it, or as plain words. */
static bool is_named(const struct model *model, const struct pattern *pattern)
{
	const char *exe = model_fact(model, GT_INFO, "exe");
	const char *words = model_fact(model, GT_INFO, "command");
	LOCAL_BUFFER command = { 0 };
	bool is = exe != NULL && pattern_matches(pattern, exe);

	if (words != NULL) {
		buffer_string(&command, words);
		buffer_printable(&command);	/* blanks between words */
		if (command.size > 0 && words[command.size - 1] == RECORDS_NUL)
			command.data[command.size - 1] = 0;
		is |= pattern_matches(pattern, command.data);
		buffer_clear(&command);
		model_command(model, &command);
		is |= pattern_matches(pattern, buffer_text(&command));
	}
	return is;
}

static bool is_process(const struct filter *filter, const struct model *model)
{
	const struct filter_word *word;
	bool found = false;
	size_t i;

	for (i = 0; (word = filter_word(filter, FILTER_PROCESS, i)); i++) {
		if (word->pattern == NULL ?
		    model_number(model, GT_INFO, "pid", 0) != word->number :
		    !is_named(model, word->pattern))
			continue;
		filter_matched(filter, word);
		found = true;
	}
	return found || i == 0;
}

static void set_ends(struct selection *selection, const struct filter *filter,
		     const struct model *model)
{
	selection->lifetime = ticks_of(model,
		range_of(filter, FILTER_LIFETIME_MIN, FILTER_LIFETIME_MAX));
	selection->fates = choices(filter, FILTER_FATE);
	selection->length = range_of(filter, FILTER_CHAIN_LENGTH_MIN,
				     FILTER_CHAIN_LENGTH_MAX);
	selection->chain_lifetime = ticks_of(model,
		range_of(filter, FILTER_CHAIN_LIFETIME_MIN,
			 FILTER_CHAIN_LIFETIME_MAX));
	selection->position = range_of(filter, FILTER_CHAIN_POSITION_MIN,
				       FILTER_CHAIN_POSITION_MAX);
	selection->first_size = range_of(filter, FILTER_FIRST_SIZE_MIN,
					 FILTER_FIRST_SIZE_MAX);
	selection->last_size = range_of(filter, FILTER_LAST_SIZE_MIN,
					FILTER_LAST_SIZE_MAX);
	selection->chains =
		filter_has(filter, FILTER_CHAIN_LENGTH_MIN,
			   FILTER_LAST_SIZE_MAX) ||
		selection->fates & 1u << FILTER_FATE_CHAIN_LIVE;
	selection->ends = filter_needs_ends(filter);
}

static bool set_freed_by(struct selection *selection,
			 const struct filter *filter,
			 const struct model *model)
{
	const struct filter_word *word;
	size_t count = 0;

	while (filter_word(filter, FILTER_FREE_CONTEXT, count) != NULL)
		count++;
	if (count == 0)
		return true;
	if (!model_has_freed_by(model)) {
		notes_error(model->options.notes, "%s: has no stacks of frees, "
			    "which --free-context needs: record with "
			    "--free-stacks", model->trace);
		return false;
	}
	selection->filter = filter;
	selection->freed_by = grow_zeroed(count, sizeof(uint32_t));
	selection->freed_by_count = count;
	for (size_t i = 0; (word = filter_word(filter, FILTER_FREE_CONTEXT,
					       i)); i++)
		selection->freed_by[i] = word->number < UINT32_MAX ?
			(uint32_t)word->number : UINT32_MAX;
	return true;
}

static bool set_mappings(struct selection *selection,
			 const struct filter *filter,
			 const struct model *model)
{
	if (!filter_has(filter, FILTER_MAP, FILTER_MAP))
		return true;
	selection->map = map_index_new(filter, model, "--map");
	return selection->map != NULL;
}

struct selection *selection_new(const struct filter *filter,
				const struct model *model)
{
	struct selection *selection = grow_zeroed(1, sizeof(*selection));

	selection->of_process = is_process(filter, model);
	selection->size = range_of(filter, FILTER_SIZE_MIN, FILTER_SIZE_MAX);
	selection->address = range_of(filter, FILTER_ADDRESS_MIN,
				      FILTER_ADDRESS_MAX);
	selection->allocators = choices(filter, FILTER_ALLOCATOR);
	selection->arenas = choices(filter, FILTER_ARENA);
	selection->mmapped = choices(filter, FILTER_MMAPPED);
	set_threads(selection, filter, model);
	set_heaps(selection, filter, model);
	set_ends(selection, filter, model);
	if (set_alloc(selection, filter, model) &&
	    set_markers(selection, filter, model) &&
	    set_alive(selection, filter, model, FILTER_ALIVE_AT, 0) &&
	    set_alive(selection, filter, model, FILTER_ALIVE_AT_2, 1) &&
	    set_freed_by(selection, filter, model) &&
	    set_mappings(selection, filter, model))
		return selection;
	selection_free(selection);
	return NULL;
}

void selection_free(struct selection *selection)
{
	if (selection == NULL)
		return;
	map_index_free(selection->map);
	free(selection->alive[0]);
	free(selection->alive[1]);
	free(selection->markers);
	free(selection->freed_by);
	free(selection->threads);
	free(selection->heaps);
	free(selection->pending);
	bits_free(&selection->sure);
	bits_free(&selection->by_group);
	bits_free(&selection->live_nodes);
	free(selection);
}

bool selection_needs_ends(const struct selection *selection)
{
	return selection->ends;
}

bool selection_is_of_moment(const struct selection *selection)
{
	return selection->alive_count[0] > 0;
}

/* Whether the block is in a selected heap: by name, or by default the
 * allocator's. */
static bool is_of_heap(const struct selection *selection,
		       const struct block *block)
{
	uint32_t number = block->pooled ? pools_number(block->address) : 0;

	if (selection->heaps == NULL)
		return number == 0;
	return number < selection->heap_count && selection->heaps[number];
}

static uint64_t smaller(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

uint64_t selection_moment(const struct selection *selection)
{
	uint64_t first = selection->to ? selection->alloc.max : UINT64_MAX;

	if (selection->from)
		first = smaller(first, selection->alloc.min);
	for (unsigned which = 0; which < 2; which++)
		for (size_t i = 0; i < selection->alive_count[which]; i++)
			first = smaller(first, selection->alive[which][i]);
	for (size_t i = 0; i < selection->marker_count; i++)
		first = smaller(first, selection->markers[i].min);
	return first;
}

/* ---- at the allocation ---- */

static bool may_be_there(const struct selection *selection, unsigned layout)
{
	bool known = layout & GT_LAYOUT_KNOWN;
	unsigned mmapped = layout & GT_LAYOUT_MMAPPED ? 1 : 2;
	unsigned arena = layout & GT_LAYOUT_OTHER ? 2 : 1;

	if (selection->allocators && !(selection->allocators & (known ? 1 : 2)))
		return false;
	/* A block in a mapping of its own is in no arena. */
	if (selection->arenas &&
	    (!known || mmapped == 1 || !(selection->arenas & arena)))
		return false;
	return !selection->mmapped ||
	       (known && selection->mmapped & mmapped);
}

static bool is_of_threads(const struct selection *selection,
			  const struct block *block)
{
	return block->thread < selection->thread_count &&
	       selection->threads[block->thread / 64] >> block->thread % 64 & 1;
}

static bool begins_later(const void *list, size_t i, uint64_t stamp)
{
	return ((const struct selection_range *)list)[i].min > stamp;
}

/* Ranges do not overlap, but a range may be there twice. */
static bool is_marked(const struct selection *selection, uint64_t stamp)
{
	size_t later;

	if (selection->marker_count == 0)
		return true;
	later = search_first(selection->markers, selection->marker_count,
			     begins_later, stamp);
	return later > 0 && within(&selection->markers[later - 1], stamp);
}

bool selection_may(const struct selection *selection,
		   const struct block *block)
{
	if (!selection->of_process || !within(&selection->size, block->size) ||
	    !within(&selection->alloc, block->alloc) ||
	    !within(&selection->address, pools_address(block->address)) ||
	    !is_of_heap(selection, block))
		return false;
	if (selection->threads != NULL && !is_of_threads(selection, block))
		return false;
	return may_be_there(selection, block->layout) &&
	       is_marked(selection, block->alloc) &&
	       (selection->map == NULL ||
		map_index_wants(selection->map, pools_address(block->address),
			       block->alloc));
}

bool selection_keeps(const struct selection *selection,
		     const struct block *block, uint64_t number, uint32_t node)
{
	if (!selection_may(selection, block))
		return false;
	if (!selection->ends ||
	    bits_has(&selection->sure, number))
		return true;
	return bits_has(&selection->live_nodes, node) &&
	       bits_has(&selection->by_group, number);
}

/* ---- at the end ---- */

static bool was_alive(const struct selection *selection, unsigned which,
		      const struct block *block,
		      const struct selection_end *end)
{
	for (size_t i = 0; i < selection->alive_count[which]; i++) {
		uint64_t at = selection->alive[which][i];

		if (block->alloc <= at && (end->live || end->stamp > at))
			return true;
	}
	return selection->alive_count[which] == 0;
}

/* Whether its own fate is selected, apart from chains and groups. */
static bool is_fated(const struct selection *selection,
		     const struct selection_end *end)
{
	unsigned has = 1u << (end->live ? FILTER_FATE_LIVE :
				    FILTER_FATE_FREED);

	if (end->temporary)
		has |= 1u << FILTER_FATE_TEMPORARY;
	return selection->fates == 0 || selection->fates & has;
}

/* Whether a selected stack freed it. */
static bool is_freed_by(const struct selection *selection,
			const struct selection_end *end)
{
	for (size_t i = 0; i < selection->freed_by_count && !end->live; i++) {
		if (selection->freed_by[i] != end->freed_by)
			continue;
		filter_matched(selection->filter,
			       filter_word(selection->filter,
					   FILTER_FREE_CONTEXT, i));
		return true;
	}
	return selection->freed_by_count == 0;
}

static void decide(struct selection *selection, uint64_t number, bool sure)
{
	if (sure)
		bits_set(&selection->sure, number);
	else if (selection->fates & 1u << FILTER_FATE_GROUP_LIVE)
		bits_set(&selection->by_group, number);
}

static bool chain_passes(const struct selection *selection,
			 const struct chain *chain, uint64_t position,
			 const struct selection_end *end)
{
	uint64_t lifetime = end->stamp > chain->alloc ?
		end->stamp - chain->alloc : 0;

	return within(&selection->length, chain->length) &&
	       within(&selection->chain_lifetime, lifetime) &&
	       within(&selection->position, position) &&
	       within(&selection->first_size, chain->first_size) &&
	       within(&selection->last_size, chain->last_size);
}

static bool is_chain_fated(const struct selection *selection,
			   const struct selection_end *end)
{
	return end->live && selection->fates & 1u << FILTER_FATE_CHAIN_LIVE;
}

static void wait_for_chain(struct selection *selection, uint64_t number,
			   struct chain *chain, bool sure)
{
	uint32_t entry = selection->unused;

	if (entry != 0) {
		selection->unused = selection->pending[entry].next;
	} else {
		GROW(selection->pending, selection->pending_count,
		     selection->pending_capacity);
		if (selection->pending_count == 0)
			selection->pending_count = 1;
		GROW(selection->pending, selection->pending_count,
		     selection->pending_capacity);
		entry = (uint32_t)selection->pending_count++;
	}
	assert(entry > 0 && entry < selection->pending_count);
	selection->pending[entry] = (struct pending){
		.number = number,
		.position = chain->length,
		.next = chain->pending,
		.sure = sure,
	};
	chain->pending = entry;
}

/* Whether its end is selected, apart from fates, chains and groups. */
static bool ends_within(const struct selection *selection,
			const struct block *block,
			const struct selection_end *end)
{
	uint64_t lifetime = end->stamp > block->alloc ?
		end->stamp - block->alloc : 0;

	return within(&selection->lifetime, lifetime) &&
	       is_freed_by(selection, end) &&
	       was_alive(selection, 0, block, end) &&
	       was_alive(selection, 1, block, end);
}

bool selection_needs_others(const struct selection *selection)
{
	return selection->chains ||
	       selection->fates & 1u << FILTER_FATE_GROUP_LIVE;
}

bool selection_matches(const struct selection *selection,
		       const struct block *block,
		       const struct selection_end *end)
{
	DEBUG_ASSERT(!selection_needs_others(selection));
	return selection_may(selection, block) &&
	       ends_within(selection, block, end) && is_fated(selection, end);
}

void selection_block(struct selection *selection, const struct block *block,
		     const struct selection_end *end, struct chain *chain)
{
	bool sure = is_fated(selection, end);
	const struct chain alone = {
		.alloc = block->alloc,
		.first_size = block->size,
		.last_size = block->size,
		.length = 1,
	};

	if (!ends_within(selection, block, end))
		return;
	if (chain != NULL && selection->chains) {
		wait_for_chain(selection, end->number, chain, sure);
		return;
	}
	if (chain_passes(selection, &alone, 1, end))
		decide(selection, end->number,
		       sure || is_chain_fated(selection, end));
}

void selection_chain(struct selection *selection, struct chain *chain,
		     const struct selection_end *end)
{
	uint32_t entry = chain->pending, next;

	for (chain->pending = 0; entry != 0; entry = next) {
		struct pending *p = &selection->pending[entry];

		DEBUG_ASSERT(entry < selection->pending_count &&
			     p->position <= chain->length);
		if (chain_passes(selection, chain, p->position, end))
			decide(selection, p->number,
			       p->sure || is_chain_fated(selection, end));
		next = p->next;
		p->next = selection->unused;
		selection->unused = entry;
	}
}

void selection_live_node(struct selection *selection, uint32_t node)
{
	bits_set(&selection->live_nodes, node);
}

/* ---- blocks with their ends ---- */

/* One of several moments is enough: the block was allocated before the last of
 * them, and ended after the first. */
static void bound_by_moments(const struct selection *selection,
			     unsigned which, struct selection_bounds *bounds)
{
	uint64_t first = UINT64_MAX, last = 0;

	for (size_t i = 0; i < selection->alive_count[which]; i++) {
		uint64_t at = selection->alive[which][i];

		first = at < first ? at : first;
		last = at > last ? at : last;
	}
	if (selection->alive_count[which] == 0)
		return;
	if (last < bounds->alloc.max)
		bounds->alloc.max = last;
	if (first < UINT64_MAX && first + 1 > bounds->end.min)
		bounds->end.min = first + 1;
	bounds->all &= selection->alive_count[which] == 1;
}

void selection_bounds(const struct selection *selection,
		      struct selection_bounds *bounds)
{
	*bounds = (struct selection_bounds){
		.alloc = selection->alloc,
		.end = { 0, UINT64_MAX },
		.size = selection->size,
		.threads = selection->threads,
		.thread_count = selection->thread_count,
		.all = selection->of_process && selection->address.min == 0 &&
		       selection->address.max == UINT64_MAX &&
		       selection->heaps == NULL &&
		       selection->map == NULL && selection->fates == 0 &&
		       selection->allocators == 0 && selection->arenas == 0 &&
		       selection->mmapped == 0 &&
		       selection->marker_count == 0 &&
		       selection->freed_by_count == 0 &&
		       selection->lifetime.min == 0 &&
		       selection->lifetime.max == UINT64_MAX,
	};
	bound_by_moments(selection, 0, bounds);
	bound_by_moments(selection, 1, bounds);
}
