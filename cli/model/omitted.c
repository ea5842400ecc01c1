/*
 * omitted.c: see omitted.h. Called by the reader's thread.
 */
#include "cli/model/omitted.h"

#include <stdlib.h>
#include <string.h>

#include "cli/base/grow.h"
#include "cli/base/sort.h"
#include "cli/model/account.h"
#include "unwind/base/assertion.h"

#define CHAIN_BLOCKS_MAX (UINT64_C(1) << 40)	/* per row: so that sums do not
						 * overflow */

void omitted_totals(struct omitted *omitted, const struct trace_totals *totals)
{
	GROW(omitted->rows, omitted->row_count, omitted->row_capacity);
	omitted->rows[omitted->row_count++] = *totals;
	omitted->blocks += totals->value[GT_TOTALS_ALLOCATIONS];
	omitted->bytes += totals->value[GT_TOTALS_BYTES];
}

void omitted_freed(struct omitted *omitted, const struct trace_totals *freed)
{
	struct omitted_freed *row;

	GROW(omitted->freed, omitted->freed_count, omitted->freed_capacity);
	row = &omitted->freed[omitted->freed_count++];
	row->context = freed->context;
	row->by = freed->thread;
	memcpy(row->value, freed->value, sizeof(row->value));
}

void omitted_chains(struct omitted *omitted, const struct trace_totals *chains)
{
	GROW(omitted->chains, omitted->chains_count,
	     omitted->chains_capacity);
	omitted->chains[omitted->chains_count++] = *chains;
}

/* A trace may be made smaller several times: these add up. */
void omitted_classes(struct omitted *omitted,
		     const struct trace_classes *classes)
{
	for (unsigned i = 0; i < GT_CLASSES; i++) {
		for (unsigned k = 0; k < GT_SIZE_VALUES; k++)
			omitted->classes.size[i][k] += classes->size[i][k];
		for (unsigned k = 0; k < GT_LIFETIME_VALUES; k++)
			omitted->classes.lifetime[i][k] +=
				classes->lifetime[i][k];
	}
}

/* A thread's unrecorded allocations come in several records. */
void omitted_skipped(struct omitted *omitted,
		     const struct trace_skipped *skipped)
{
	for (unsigned i = 0; i < GT_CLASSES; i++) {
		for (unsigned k = 0; k < GT_REST_VALUES; k++)
			omitted->skipped.size[i][k] += skipped->size[i][k];
		omitted->skipped_blocks +=
			skipped->size[i][GT_REST_ALLOCATIONS];
		omitted->skipped_bytes += skipped->size[i][GT_REST_BYTES];
	}
}

/* A peak from before a CLEAR is kept, unless the view begins at that CLEAR. */
void omitted_run(struct omitted *omitted, const struct trace_run *run)
{
	const struct trace_run before = omitted->run;

	omitted->run = *run;
	if (before.value[GT_RUN_PEAK_BYTES] > run->value[GT_RUN_PEAK_BYTES])
		memcpy(omitted->run.value, before.value,
		       (GT_RUN_PEAK_KEPT + 1) * sizeof(before.value[0]));
}

static int compare_rows(const void *a, const void *b)
{
	const struct trace_totals *one = a, *other = b;

	return sort_up(one->context, other->context) ?:
	       sort_up(one->thread, other->thread);
}

static void add_row(struct trace_totals *to, const struct trace_totals *row)
{
	const uint64_t *value = row->value;

	if (value[GT_TOTALS_ALLOCATIONS] > 0 &&
	    (to->value[GT_TOTALS_ALLOCATIONS] == 0 ||
	     value[GT_TOTALS_FIRST] < to->value[GT_TOTALS_FIRST]))
		to->value[GT_TOTALS_FIRST] = value[GT_TOTALS_FIRST];
	for (unsigned k = 0; k < GT_TOTALS_FIRST; k++)
		to->value[k] += value[k];
	if (value[GT_TOTALS_LAST] > to->value[GT_TOTALS_LAST])
		to->value[GT_TOTALS_LAST] = value[GT_TOTALS_LAST];
	if (value[GT_TOTALS_OWN_PEAK_BYTES] >
	    to->value[GT_TOTALS_OWN_PEAK_BYTES])
		memcpy(to->value + GT_TOTALS_OWN_PEAK_BYTES,
		       value + GT_TOTALS_OWN_PEAK_BYTES,
		       3 * sizeof(*value));
}

/* A recorder writes rows as it goes: a row may have frees of allocations in an
 * earlier row. Only the sums matter. */
static void merge_rows(struct omitted *omitted)
{
	struct trace_totals *rows = omitted->rows;
	size_t count = 0;

	if (omitted->row_count == 0)
		return;
	SORT(rows, omitted->row_count, compare_rows);
	for (size_t i = 1; i < omitted->row_count; i++)
		if (compare_rows(&rows[count], &rows[i]) == 0)
			add_row(&rows[count], &rows[i]);
		else
			rows[++count] = rows[i];
	DEBUG_ASSERT(count < omitted->row_count);
	omitted->row_count = count + 1;
}

/* The difference, at least 0: numbers of a hostile trace may contradict each
 * other. */
static uint64_t difference(uint64_t all, uint64_t part)
{
	return part < all ? all - part : 0;
}

static uint64_t live_blocks(const struct trace_totals *row)
{
	return difference(row->value[GT_TOTALS_ALLOCATIONS],
			  row->value[GT_TOTALS_FREES]);
}

static uint64_t live_bytes(const struct trace_totals *row)
{
	return difference(row->value[GT_TOTALS_BYTES],
			  row->value[GT_TOTALS_FREED_BYTES]);
}

void omitted_settle(struct omitted *omitted)
{
	merge_rows(omitted);
	omitted->live_blocks = omitted->live_bytes = 0;
	for (size_t i = 0; i < omitted->row_count; i++) {
		omitted->live_blocks += live_blocks(&omitted->rows[i]);
		omitted->live_bytes += live_bytes(&omitted->rows[i]);
	}
}

/* The cost of a context; of its keys only the thread may be known. */
static uint32_t cost_of(struct model *model, uint32_t context,
			uint32_t thread)
{
	uint32_t values[BLOCK_KEYS_MAX];

	if (model->keys.count == 0)
		return contexts_cost(&model->contexts, context);
	block_keys_unknown(&model->keys, values);
	for (unsigned i = 0; i < model->keys.count; i++)
		if (model->keys.list[i] == BLOCK_KEY_THREAD)
			values[i] = thread;
	return contexts_keyed_cost(&model->contexts, context,
				   block_keys_number(&model->keys, values));
}

/* Not if its context is not chosen. A context's own peak is in a row without a
 * thread: if there are keys by thread, that row belongs to no group. */
static bool is_of_groups(struct model *model, const struct trace_totals *row)
{
	if (model->chosen != NULL &&
	    !model_chooses(model, contexts_node(&model->contexts,
						row->context)))
		return false;
	return !block_keys_have(&model->keys, BLOCK_KEY_THREAD) ||
	       row->value[GT_TOTALS_ALLOCATIONS] > 0 ||
	       row->value[GT_TOTALS_FREES] > 0;
}

/* `always`: the live blocks of the row were live from the beginning (a part
 * with too many live blocks to list them). */
static void apply(struct model *model, const struct trace_totals *row,
		  bool always)
{
	/* may move the array of costs */
	uint32_t index = cost_of(model, row->context,
				 threads_by_number(&model->threads,
						   row->thread));
	struct context_cost *cost = &model->contexts.costs[index];
	struct totals *totals = &model->totals;
	const uint64_t *value = row->value;
	uint64_t blocks = live_blocks(row), bytes = live_bytes(row);

	DEBUG_ASSERT(index < model->contexts.cost_count);
	account_keep_peak(totals, cost);
	if (value[GT_TOTALS_ALLOCATIONS] > 0 &&
	    (cost->allocations == 0 || value[GT_TOTALS_FIRST] < cost->first))
		cost->first = value[GT_TOTALS_FIRST];
	if (value[GT_TOTALS_LAST] > cost->last)
		cost->last = value[GT_TOTALS_LAST];
	cost->allocations += value[GT_TOTALS_ALLOCATIONS];
	cost->total_bytes += value[GT_TOTALS_BYTES];
	cost->frees += value[GT_TOTALS_FREES];
	cost->temporary += value[GT_TOTALS_TEMPORARY];
	cost->lifetime += (double)value[GT_TOTALS_LIFETIME];
	cost->live_blocks += blocks;
	cost->live_bytes += bytes;
	if (value[GT_TOTALS_OWN_PEAK_BYTES] > 0 &&
	    value[GT_TOTALS_OWN_PEAK_BYTES] >= cost->own_peak_bytes) {
		cost->own_peak_bytes = value[GT_TOTALS_OWN_PEAK_BYTES];
		cost->own_peak_blocks = value[GT_TOTALS_OWN_PEAK_BLOCKS];
		cost->own_peak_stamp = value[GT_TOTALS_OWN_PEAK_STAMP];
	}
	totals->allocations += value[GT_TOTALS_ALLOCATIONS];
	totals->total_bytes += value[GT_TOTALS_BYTES];
	totals->frees += value[GT_TOTALS_FREES];
	totals->temporary += value[GT_TOTALS_TEMPORARY];
	totals->live_blocks += blocks;
	totals->live_bytes += bytes;
	if (always) {
		cost->peak_blocks += blocks;
		cost->peak_bytes += bytes;
		totals->peak_blocks += blocks;
		totals->peak_bytes += bytes;
	}
}

/* Threads, sizes and heaps of these blocks are not known. */
static void apply_freed(struct model *model, const struct omitted_freed *row)
{
	struct contexts *contexts = &model->contexts;
	uint32_t cost = FREED_NO_COST;
	const struct freed_sum sum = {
		.blocks = row->value[GT_FREED_BLOCKS],
		.bytes = row->value[GT_FREED_BYTES],
		.lifetime = (double)row->value[GT_FREED_LIFETIME],
	};

	if (model->options.wants & MODEL_WANT_FREED_BY)
		cost = cost_of(model, row->context, 0);
	freed_add(&model->freed, row->by == 0 ? FREED_UNKNOWN :
		  contexts_node(contexts, row->by), cost, &sum);
}

/* Limits numbers of a hostile trace. */
static uint64_t at_most(uint64_t value, uint64_t max)
{
	return value < max ? value : max;
}

static void apply_chains(struct model *model, const struct trace_totals *row)
{
	const uint64_t *value = row->value;
	uint64_t blocks = at_most(value[GT_CHAINS_BLOCKS], CHAIN_BLOCKS_MAX);
	const struct chain_figures figures = {
		.count = at_most(value[GT_CHAINS_COUNT], blocks),
		.blocks = blocks,
		.longest = at_most(value[GT_CHAINS_LONGEST], blocks),
		.first_bytes = value[GT_CHAINS_FIRST_BYTES],
		.last_bytes = value[GT_CHAINS_LAST_BYTES],
		.largest = value[GT_CHAINS_LARGEST],
		.moves = at_most(value[GT_CHAINS_MOVES], blocks),
		.copied_bytes = value[GT_CHAINS_COPIED_BYTES],
		.lifetime = (double)value[GT_CHAINS_LIFETIME],
	};

	chains_add(&model->chains,
		   cost_of(model, row->context, 0), &figures);
}

static void apply_classes(struct histograms *histograms,
			  const struct trace_classes *classes)
{
	for (unsigned i = 0; i < GT_CLASSES; i++) {
		const uint64_t *value = classes->size[i];
		struct size_class *size = &histograms->sizes[i];

		size->allocations += value[GT_SIZE_ALLOCATIONS];
		size->bytes += value[GT_SIZE_BYTES];
		size->frees += value[GT_SIZE_FREES];
		size->temporary += value[GT_SIZE_TEMPORARY];
		size->live_blocks += difference(value[GT_SIZE_ALLOCATIONS],
						value[GT_SIZE_FREES]);
		size->live_bytes += difference(value[GT_SIZE_BYTES],
					       value[GT_SIZE_FREED_BYTES]);
		size->lifetime += (double)value[GT_SIZE_LIFETIME];
		value = classes->lifetime[i];
		histograms->lifetimes[i].blocks += value[GT_LIFETIME_BLOCKS];
		histograms->lifetimes[i].bytes += value[GT_LIFETIME_BYTES];
	}
}

/* Whether these were freed is not known: they add only allocations and
 * bytes. */
static void apply_rest(struct model *model)
{
	const struct omitted *omitted = &model->omitted;

	for (unsigned i = 0; i < GT_CLASSES; i++) {
		struct size_class *size = &model->histograms.sizes[i];

		size->allocations +=
			omitted->skipped.size[i][GT_REST_ALLOCATIONS];
		size->bytes += omitted->skipped.size[i][GT_REST_BYTES];
	}
	model->totals.allocations += omitted->skipped_blocks;
	model->totals.total_bytes += omitted->skipped_bytes;
}

void omitted_apply(struct model *model)
{
	struct omitted *omitted = &model->omitted;
	const uint64_t *run = omitted->run.value;
	struct totals *totals = &model->totals;
	bool always = model_number(model, GT_INFO, "part_left_out", 0) > 0;

	for (size_t i = 0; i < omitted->row_count; i++)
		if (is_of_groups(model, &omitted->rows[i]))
			apply(model, &omitted->rows[i], always);
	for (size_t i = 0; i < omitted->freed_count && model->has_freed_by; i++)
		apply_freed(model, &omitted->freed[i]);
	for (size_t i = 0; i < omitted->chains_count && model->follows_chains;
	     i++)
		apply_chains(model, &omitted->chains[i]);
	apply_classes(&model->histograms, &omitted->classes);
	apply_rest(model);
	if (run[GT_RUN_PEAK_BYTES] > totals->peak_bytes) {
		omitted->kept_peak_stamp = totals->peak_stamp;
		totals->peak_bytes = run[GT_RUN_PEAK_BYTES];
		totals->peak_blocks = run[GT_RUN_PEAK_BLOCKS];
		totals->peak_stamp = run[GT_RUN_PEAK_STAMP];
	}
}

void omitted_forget(struct omitted *omitted)
{
	omitted->row_count = omitted->freed_count = omitted->chains_count = 0;
	omitted->blocks = omitted->bytes = 0;
	omitted->live_blocks = omitted->live_bytes = 0;
	memset(&omitted->classes, 0, sizeof(omitted->classes));
	memset(&omitted->run, 0, sizeof(omitted->run));
	memset(&omitted->skipped, 0, sizeof(omitted->skipped));
	omitted->skipped_blocks = omitted->skipped_bytes = 0;
}

void omitted_free(struct omitted *omitted)
{
	free(omitted->rows);
	free(omitted->freed);
	free(omitted->chains);
	memset(omitted, 0, sizeof(*omitted));
}
