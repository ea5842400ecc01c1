/*
 * rows.c: see rows.h.
 *
 * Groups are made of the model's costs, each with a context and the values of
 * block keys. If only frames distinguish groups, or if there are several
 * traces, they are made of a profile's self costs. A group is the tuple of its
 * keys' values: with one key, the value itself; with several, the number of a
 * chain of pairs.
 *
 *  I1  Each cost that passes source->keep is in exactly one row if all keys are
 *      exclusive, so that rows add up to the whole. (In a sample, except for
 *      rounding: each cost is rounded by itself.)
 */
#include "cli/query/rows.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/base/grow.h"
#include "cli/base/sort.h"
#include "cli/model/core/contexts.h"
#include "cli/model/index/index_sweep.h"
#include "cli/query/passes_needed.h"
#include "unwind/base/assertion.h"

/* A cost, or a profile's self, to be grouped. */
struct piece {
	struct figures figures;
	uint32_t node;		/* the model's, or the profile's */
	uint32_t self;		/* of the profile, if there is one */
	uint32_t key;		/* of costs */
	uint32_t contexts;
	uint32_t side;
};

static bool of_selves(const struct query_rows *rows)
{
	return !rows->of_contexts;
}

static size_t piece_count(const struct query_rows *rows)
{
	if (of_selves(rows))
		return rows->source->profile->self_count;
	return rows->contexts->cost_count;
}

/* A piece by its number. False: the filter drops it. */
static bool piece_of(const struct query_rows *rows, size_t number,
		     struct piece *piece)
{
	const struct query_source *source = rows->source;
	const struct context_cost *cost;

	if (of_selves(rows)) {
		const struct profile_self *self =
			&source->profile->self_costs[number];

		*piece = (struct piece){
			.figures = self->figures, .node = self->node,
			.self = (uint32_t)number, .side = self->side,
			.contexts = self->contexts,
		};
		return true;
	}
	cost = &rows->contexts->costs[number];
	*piece = (struct piece){
		.node = cost->node, .key = cost->key, .contexts = 1,
		.self = source->profile ?
			source->profile->self_of_cost[number] : PROFILE_NONE,
	};
	model_figures(source->model, cost, &piece->figures);
	return source->keep == NULL ||
	       source->keep(source->keeper, cost->node, &piece->figures);
}

/* A piece by its place in the order of a profile's nodes. */
static bool piece_at(const struct query_rows *rows, size_t at,
		     struct piece *piece)
{
	return piece_of(rows, of_selves(rows) ?
			rows->source->profile->order[at] : at, piece);
}

/* ---- groups ---- */

/* Sites are numbered from 0; the few nodes without one, from the other end. */
static uint32_t site_of(struct frames *frames, uint32_t node)
{
	uint64_t site = frames_site_key(frames, node);

	return site <= UINT32_MAX ? (uint32_t)site : ~node;
}

/* The value of an exclusive key; `block`: its index among the block keys. */
static uint32_t value_of(const struct query_rows *rows, unsigned key,
			 unsigned block, const struct piece *piece)
{
	const struct query_source *source = rows->source;
	uint32_t values[BLOCK_KEYS_MAX];

	switch (rows->query->keys[key]->of) {
	case QUERY_OF_BLOCK:
		block_keys_values(model_block_keys(source->model), piece->key,
				  values);
		return values[block];
	case QUERY_OF_SITE:
		if (rows->of_contexts)
			return site_of(source->frames, piece->node);
		break;
	case QUERY_OF_STACK:
		if (rows->of_contexts)
			return piece->node;
		break;
	case QUERY_OF_PROCESS:
		return piece->side;
	case QUERY_OF_FRAME:
		break;
	}
	DEBUG_ASSERT(piece->self < source->profile->self_count);
	return rows->groups[key].of_self[piece->self];
}

/*
 * For each node of the profile, the nearest node, from it outward, whose frame
 * has a value of the inclusive key that no frame further out has; PROFILE_NONE:
 * there is none. Following these, a walk outward meets each value once, however
 * deep a recursion is. Made in one walk over the nodes in their order, with a
 * stack of the nodes that contain the current one.
 */
static void find_adding(struct query_rows *rows)
{
	const struct profile *profile = rows->source->profile;
	const struct profile_groups *groups = &rows->groups[rows->inclusive];
	uint32_t *times = grow_zeroed(groups->count + 1, sizeof(*times));
	uint32_t *open = grow_alloc(profile->node_count * sizeof(*open));
	size_t count = 0;

	rows->adding = grow_alloc(profile->node_count * sizeof(*rows->adding));
	rows->adding[PROFILE_ROOT] = PROFILE_NONE;
	for (uint32_t n = PROFILE_ROOT + 1; n < profile->node_count; n++) {
		const struct profile_node *node = &profile->nodes[n];
		uint32_t group = groups->of_frame[node->frame];

		while (count > 0 && profile->nodes[open[count - 1]].end <= n)
			times[groups->of_frame[profile->nodes[
				open[--count]].frame]]--;
		rows->adding[n] = rows->adding[node->parent];
		if (profile->frames[node->frame].stop == GT_STOP_BOTTOM &&
		    times[group] == 0)
			rows->adding[n] = n;
		times[group]++;
		open[count++] = n;
	}
	free(times);
	free(open);
}

/* The values of the inclusive key, each once; returns their number. */
static size_t values_of(struct query_rows *rows, const struct piece *piece)
{
	const struct profile *profile = rows->source->profile;
	size_t count = 0;
	uint32_t n = rows->adding[profile->self_costs[piece->self].node];

	for (; n != PROFILE_NONE;
	     n = rows->adding[profile->nodes[n].parent]) {
		GROW(rows->path, count, rows->path_capacity);
		rows->path[count++] = rows->groups[rows->inclusive]
			.of_frame[profile->nodes[n].frame];
	}
	return count;
}

/* The group's number, with `with` as the inclusive key's value. False: `find`
 * is set, and there is no such group. */
static bool group_of(struct query_rows *rows, const struct piece *piece,
		     uint32_t with, bool find, uint32_t *group)
{
	const struct query *query = rows->query;
	unsigned block = 0;

	for (unsigned i = 0; i < query->key_count; i++) {
		uint32_t value = query->keys[i]->inclusive ? with :
			value_of(rows, i, block, piece);

		block += query->keys[i]->of == QUERY_OF_BLOCK;
		if (i == 0)
			*group = value;
		else if (!find)
			*group = pairset_number(&rows->tuples[i - 1], *group,
						value);
		else if (!pairset_find(&rows->tuples[i - 1], *group, value,
				       group))
			return false;
	}
	return true;
}

/* The index of its row; rows->count: it has none yet. With several keys, groups
 * are numbered in order of appearance, and so are rows. */
static size_t row_for(struct query_rows *rows, uint32_t group)
{
	size_t at = rows->query->key_count > 1 ? group :
		table_number(&rows->row_of, group, rows->count);

	DEBUG_ASSERT(at <= rows->count);
	return at;
}

static void add(struct query_rows *rows, size_t *capacity,
		const struct query_row *row)
{
	size_t at = row_for(rows, row->group);
	struct query_row *into;

	if (at == rows->count) {
		GROW(rows->list, rows->count, *capacity);
		rows->list[rows->count++] = *row;
		return;
	}
	into = &rows->list[at];
	if (row->largest > into->largest) {
		into->largest = row->largest;
		into->node = row->node;
	}
	figures_add(&into->figures, &row->figures);
	into->contexts += row->contexts;
}

static void collect_groups(struct query_rows *rows)
{
	bool inclusive = rows->inclusive < QUERY_KEYS_MAX;
	size_t capacity = 0, count = piece_count(rows);

	for (size_t i = 0; i < count; i++) {
		struct query_row row = { 0 };
		struct piece piece;
		size_t values = 1;

		if (!piece_at(rows, i, &piece))
			continue;
		row.figures = piece.figures;
		row.node = piece.node;
		row.contexts = piece.contexts;
		row.largest = query_value_of_row(rows, &row);
		if (inclusive)
			values = values_of(rows, &piece);
		for (size_t v = 0; v < values; v++) {
			group_of(rows, &piece, inclusive ? rows->path[v] : 0,
				 false, &row.group);
			add(rows, &capacity, &row);
		}
	}
	for (size_t i = 0; i < rows->count; i++)
		rows->nonzero += figures_any(&rows->list[i].figures,
					     rows->query->order,
					     rows->source->end_ns);
	table_free(&rows->row_of);
}

/* ---- order ---- */

uint64_t query_value_of_row(const struct query_rows *rows,
			    const struct query_row *row)
{
	return figures_value(&row->figures, rows->query->order,
			     rows->source->end_ns);
}

/* < 0: x comes before y. */
static int order(const struct query_rows *rows, const struct query_row *x,
		 const struct query_row *y)
{
	for (int i = -2; i < (int)measure_count; i++) {
		/* The sort key, then its number of blocks (some have no bytes),
		 * then all other measures in their order, except unknown
		 * ones. */
		enum measure key = i < 0 ? rows->query->order : (enum measure)i;
		uint64_t left = figures_value(&x->figures, key,
					      rows->source->end_ns);
		uint64_t right = figures_value(&y->figures, key,
					       rows->source->end_ns);

		if (i == MEASURE_OWN_PEAK &&
		    rows->query->spares & QUERY_SPARES_OWN_PEAKS)
			continue;
		if (i == -1) {
			left = figures_blocks(&x->figures, key);
			right = figures_blocks(&y->figures, key);
		}
		if (left != right)
			return left > right ? -1 : 1;
	}
	return sort_up(x->node, y->node) ?: sort_up(x->group, y->group);
}

static int compare(const void *a, const void *b, void *owner)
{
	return order(owner, a, b);
}

static void sort(struct query_rows *rows)
{
	if (rows->count > 0)
		qsort_r(rows->list, rows->count, sizeof(*rows->list), compare,
			rows);
}

/*
 * Adds a row, keeping the best `limit` rows: the list is a heap whose root is
 * the last of them.
 */
static void offer(struct query_rows *rows, size_t limit,
		  const struct query_row *row)
{
	struct query_row *heap = rows->list;
	size_t i = rows->count;

	DEBUG_ASSERT(limit > 0 && rows->count <= limit);
	if (rows->count < limit) {
		rows->count++;
		while (i > 0 && order(rows, &heap[(i - 1) / 2], row) < 0) {
			heap[i] = heap[(i - 1) / 2];
			i = (i - 1) / 2;
		}
		heap[i] = *row;
		return;
	}
	if (order(rows, row, &heap[0]) > 0)
		return;
	i = 0;
	for (size_t child = 1; child < limit; child = 2 * i + 1) {
		if (child + 1 < limit &&
		    order(rows, &heap[child], &heap[child + 1]) < 0)
			child++;
		if (order(rows, &heap[child], row) < 0)
			break;
		heap[i] = heap[child];
		i = child;
	}
	DEBUG_ASSERT(i < limit);
	heap[i] = *row;
}

/* Keeps the first `limit` rows, sorted. */
static void sort_and_cut(struct query_rows *rows)
{
	size_t limit = rows->query->limit, count = rows->count;
	struct query_row *all = rows->list;

	if (limit != 0 && limit < count) {
		rows->list = grow_resize(NULL, limit, sizeof(*rows->list));
		rows->count = 0;
		for (size_t i = 0; i < count; i++)
			offer(rows, limit, &all[i]);
		free(all);
	}
	sort(rows);
}

/* Each piece is a row: there may be millions, and a row is larger than a
 * cost. */
static void collect_each(struct query_rows *rows)
{
	size_t count = piece_count(rows);
	size_t limit = rows->query->limit != 0 && rows->query->limit < count ?
		rows->query->limit : count;

	rows->list = grow_resize(NULL, limit, sizeof(*rows->list));
	for (size_t i = 0; i < count; i++) {
		struct query_row row = { 0 };
		struct piece piece;

		if (!piece_at(rows, i, &piece))
			continue;
		row.figures = piece.figures;
		row.node = row.group = piece.node;
		row.contexts = piece.contexts;
		row.largest = query_value_of_row(rows, &row);
		rows->nonzero += figures_any(&row.figures, rows->query->order,
					     rows->source->end_ns);
		offer(rows, limit, &row);
	}
}

/* ---- own peaks ---- */

static uint32_t row_of_key(void *owner, uint32_t node, uint32_t key)
{
	struct query_rows *rows = owner;
	uint32_t cost = contexts_find_cost(rows->contexts,
					   node, key);

	return cost == CONTEXT_NO_COST ? MODEL_NO_GROUP :
					 query_row_of(rows, cost);
}

/* Whether own peaks of rows are needed and are only sums so far, and whether
 * the trace can be read again. */
static bool peaks_are_wanted(const struct query_rows *rows)
{
	const struct query_source *source = rows->source;
	const struct model *model = source->model;
	struct stat status;

	if (model == NULL ||
	    !query_needs_pass(rows->query, QUERY_PASS_PEAKS) ||
	    model_is_being_written(model) || model_has_left_out(model) ||
	    model_has_too_many_groups(model) ||
	    (source->profile != NULL && !source->profile->with_costs) ||
	    source->trace == NULL || stat(source->trace, &status) != 0 ||
	    !S_ISREG(status.st_mode))
		return false;
	for (size_t i = 0; i < rows->count; i++)
		if (rows->list[i].contexts > 1)
			return true;
	return false;
}

/* From an index, or by a pass over the events. */
static bool ask_peaks(struct query_rows *rows, struct group_peak *peaks)
{
	const struct model *model = rows->source->model;
	const struct index_grouping grouping = {
		.group = row_of_key, .owner = rows, .count = rows->count,
	};

	if (model_store(model) != NULL &&
	    index_group_peaks(model, &grouping, peaks) == 0)
		return true;
	return model_group_peaks(model, rows->source->trace, row_of_key, rows,
				 peaks, rows->count) != EXIT_NOTHING;
}

static void find_peaks(struct query_rows *rows)
{
	struct group_peak *peaks = grow_zeroed(rows->count, sizeof(*peaks));

	rows->exact = ask_peaks(rows, peaks);
	for (size_t i = 0; i < rows->count && rows->exact; i++) {
		struct figures *figures = &rows->list[i].figures;

		figures->own_peak_bytes = peaks[i].bytes;
		figures->own_peak_blocks = peaks[i].blocks;
		figures->own_peak_ns = peaks[i].ns;
	}
	free(peaks);
}

/* ---- the whole query ---- */

static void make_profile_groups(struct query_rows *rows)
{
	for (unsigned i = 0; i < rows->query->key_count; i++)
		if (rows->query->keys[i]->of != QUERY_OF_BLOCK &&
		    rows->query->keys[i]->of != QUERY_OF_PROCESS)
			profile_groups(rows->source->profile,
				       rows->query->keys[i]->by,
				       rows->query->order, &rows->groups[i]);
}

void query_rows_collect(const struct query *query,
			const struct query_source *source,
			struct query_rows *rows)
{
	memset(rows, 0, sizeof(*rows));
	rows->query = query;
	rows->source = source;
	if (source->model != NULL)
		rows->contexts = model_contexts(source->model);
	rows->grouped = !query_is(query, QUERY_OF_STACK);
	rows->of_contexts = source->profile == NULL ||
		(source->model != NULL && (query_has(query, QUERY_OF_BLOCK) ||
					   query_has(query, QUERY_OF_SITE) ||
					   query_has(query, QUERY_OF_STACK)));
	rows->inclusive = 0;
	while (rows->inclusive < query->key_count &&
	       !query->keys[rows->inclusive]->inclusive)
		rows->inclusive++;
	if (rows->inclusive == query->key_count)
		rows->inclusive = QUERY_KEYS_MAX;
	if (source->profile != NULL)
		make_profile_groups(rows);
	if (rows->inclusive < QUERY_KEYS_MAX)
		find_adding(rows);
	if (rows->grouped)
		collect_groups(rows);
	else
		collect_each(rows);
	/* Cut first, so that own peaks are computed only for needed rows. */
	if (query->order != MEASURE_OWN_PEAK || !rows->grouped)
		sort_and_cut(rows);
	if (peaks_are_wanted(rows))
		find_peaks(rows);
	table_free(&rows->row_of);
	if (query->order == MEASURE_OWN_PEAK)
		sort_and_cut(rows);
}

void query_rows_free(struct query_rows *rows)
{
	for (unsigned i = 0; i < QUERY_KEYS_MAX; i++)
		profile_groups_free(&rows->groups[i]);
	for (unsigned i = 0; i + 1 < QUERY_KEYS_MAX; i++)
		pairset_free(&rows->tuples[i]);
	table_free(&rows->row_of);
	free(rows->path);
	free(rows->adding);
	free(rows->list);
}

/* ---- values of a row ---- */

void query_no_value(const struct query_rows *rows, unsigned key,
		    struct query_value *value)
{
	static const struct query_process nobody = { .program = "" };
	const struct query *query = rows->query;

	DEBUG_ASSERT(key < query->key_count);
	*value = (struct query_value){
		.model = rows->source->model,
		.process = &nobody,
		.with_library = true, .with_file = true,
	};
	/* Members of an inclusive key are separate from those of the site. */
	for (unsigned i = 0; i < query->key_count; i++) {
		const struct query_key *other = query->keys[i];

		if (i == key || other->of != QUERY_OF_FRAME ||
		    other->inclusive || query->keys[key]->inclusive)
			continue;
		if (other->by == PROFILE_BY_LIBRARY || i < key)
			value->with_library = false;
		if (other->by == PROFILE_BY_FILE)
			value->with_file = false;
	}
}

/* The number of a key's value within a group's number. */
static uint32_t value_in(const struct query_rows *rows, uint32_t group,
			 unsigned key)
{
	for (unsigned i = rows->query->key_count - 1; i > key; i--)
		group = rows->tuples[i - 1].pairs[group].first;
	return key > 0 ? rows->tuples[key - 1].pairs[group].second : group;
}

void query_row_value(const struct query_rows *rows,
		     const struct query_row *row, unsigned key,
		     struct query_value *value)
{
	uint32_t number = value_in(rows, row->group, key);

	query_no_value(rows, key, value);
	value->value = number;
	if (rows->query->keys[key]->of == QUERY_OF_PROCESS)
		value->process = &rows->source->processes[number];
	if (rows->query->keys[key]->of == QUERY_OF_FRAME)
		query_value_frame(rows->source->profile,
				  &rows->groups[key].list[number], value);
}

bool query_row_called(const struct query_rows *rows,
		      const struct query_row *row, struct figures *sum)
{
	const struct query *query = rows->query;

	if (!rows->grouped || query->key_count != 1 || !of_selves(rows) ||
	    query->keys[0]->inclusive ||
	    query->keys[0]->of == QUERY_OF_PROCESS)
		return false;
	*sum = *profile_group_inclusive(rows->source->profile,
					&rows->groups[0], row->group, 0);
	return true;
}

/* The piece that a cost of the model belongs to. False: the filter drops it. */
static bool piece_of_cost(const struct query_rows *rows, uint32_t cost,
			  struct piece *piece)
{
	uint32_t number = of_selves(rows) ?
		rows->source->profile->self_of_cost[cost] : cost;

	return number != PROFILE_NONE && piece_of(rows, number, piece);
}

static void index_rows(struct query_rows *rows)
{
	if (rows->row_of.slots == NULL)
		for (size_t i = 0; i < rows->count; i++)
			table_set(&rows->row_of, rows->list[i].group,
				  (uint32_t)i);
}

uint32_t query_row_of(struct query_rows *rows, uint32_t cost)
{
	struct piece piece = { 0 };
	uint32_t group;

	DEBUG_ASSERT(rows->grouped && query_inclusive(rows->query) == NULL);
	index_rows(rows);
	return piece_of_cost(rows, cost, &piece) &&
	       group_of(rows, &piece, 0, true, &group) ?
		table_get(&rows->row_of, group) : QUERY_NO_ROW;
}

bool query_rows_of(struct query_rows *rows, uint32_t cost,
		   const uint32_t **list, size_t *count)
{
	bool inclusive = rows->inclusive < QUERY_KEYS_MAX;
	struct piece piece;
	size_t values = 1;

	*count = 0;
	if (!piece_of_cost(rows, cost, &piece))
		return false;
	index_rows(rows);
	if (inclusive)
		values = values_of(rows, &piece);
	else if (rows->path_capacity == 0)
		GROW(rows->path, 0, rows->path_capacity);
	for (size_t v = 0; v < values; v++) {
		uint32_t group = piece.node, row;

		if (rows->grouped &&
		    !group_of(rows, &piece, inclusive ? rows->path[v] : 0,
			      true, &group))
			continue;
		row = table_get(&rows->row_of, group);
		if (row != TABLE_NONE)
			rows->path[(*count)++] = row;
	}
	*list = rows->path;
	return true;
}

/* ---- the largest stacks of rows ---- */

/* Inserts a stack; among equal ones, the earlier comes first. */
static void offer_part(const struct query_rows *rows,
		       struct query_parts *parts,
		       const struct query_part *part)
{
	enum measure key = rows->query->order;
	uint64_t end_ns = rows->source->end_ns;
	uint64_t value = figures_value(&part->figures, key, end_ns);
	size_t at = parts->count;

	if (!figures_any(&part->figures, key, end_ns))
		return;
	parts->nonzero++;
	while (at > 0 && figures_value(&parts->list[at - 1].figures, key,
				       end_ns) < value)
		at--;
	if (at == QUERY_PARTS)
		return;
	if (parts->count < QUERY_PARTS)
		parts->count++;
	memmove(&parts->list[at + 1], &parts->list[at],
		(parts->count - at - 1) * sizeof(*parts->list));
	parts->list[at] = *part;
}

struct query_parts *query_rows_parts(struct query_rows *rows, size_t shown)
{
	bool inclusive = rows->inclusive < QUERY_KEYS_MAX;
	struct query_parts *parts = grow_zeroed(shown, sizeof(*parts));
	struct table row_of = { 0 };

	for (size_t i = 0; i < shown; i++)
		table_set(&row_of, rows->list[i].group, (uint32_t)i);
	for (size_t i = 0; i < piece_count(rows); i++) {
		struct piece piece;
		size_t values = 1;

		if (!piece_of(rows, i, &piece))
			continue;
		if (inclusive)
			values = values_of(rows, &piece);
		for (size_t v = 0; v < values; v++) {
			const struct query_part part = { piece.figures,
							 piece.node };
			uint32_t group, row;

			group_of(rows, &piece, inclusive ? rows->path[v] : 0,
				 false, &group);
			row = table_get(&row_of, group);
			if (row != TABLE_NONE)
				offer_part(rows, &parts[row], &part);
		}
	}
	table_free(&row_of);
	return parts;
}
