/*
 * index_whole.c: see index_whole.h. The peak of the whole recording is a fact
 * of the index. The peak of a view takes a sweep over all edges, and is cached
 * until the view changes.
 */
#include "cli/model/index/index_whole.h"

#include <stdlib.h>

#include "cli/base/grow.h"
#include "cli/model/index/index_select.h"
#include "cli/store/store_sweep.h"
#include "unwind/base/assertion.h"

/* ---- facts ---- */

/* The first stretch that belongs to the view. */
static size_t first_stretch(const struct controls *controls)
{
	size_t first = 0;

	for (size_t i = 0; i < controls->count && controls->view > 0; i++)
		if (controls->list[i].stamp <= controls->view)
			first = i + 1;
	return first;
}

void index_whole_facts(struct model *model, const struct index_facts *facts)
{
	struct threads *threads = &model->threads;

	model->totals.last_stamp = facts->last_stamp;
	model->totals.unpaired = model->totals.repaired = 0;
	model->controls.foreign = 0;
	for (size_t i = first_stretch(&model->controls);
	     i < facts->stretch_count; i++) {
		const struct index_stretch *stretch = &facts->stretches[i];

		model->totals.unpaired += stretch->unpaired;
		model->totals.repaired += stretch->repaired;
		model->controls.foreign += stretch->foreign;
	}
	if (model->controls.view == 0) {
		model->peak_known = true;
		model->peak_view = 0;
		model->peak = (struct store_peak){
			.bytes = facts->most_bytes,
			.blocks = facts->most_blocks,
			.edge = facts->most_edge,
			.stamp = facts->most_stamp,
		};
	}
	for (size_t i = 0; i < threads->count; i++) {
		bool there = i < facts->thread_count;

		threads->list[i].events = there ? facts->thread_events[i] : 0;
		threads->list[i].allocations = there ?
			facts->thread_allocations[i] : 0;
	}
}

/* ---- the peak ---- */

static int find_peak(struct model *model, const atomic_bool *cancel)
{
	const struct store_weight weight = index_weight(model);
	struct index_select select;
	int error;

	if (model->peak_known && model->peak_view == model->controls.view)
		return 0;
	index_select_all(&select, model, cancel);
	error = store_peaks(model->store, &select.scan, NULL, &weight,
			    &model->peak, NULL);
	model->peak_known = error == 0;
	model->peak_view = model->controls.view;
	return error;
}

static void set_peak(const struct model *model, struct totals *totals)
{
	totals->peak_bytes = model->peak.bytes;
	totals->peak_blocks = model->peak.blocks;
	totals->peak_stamp = model->peak.bytes > 0 ? model->peak.stamp : 0;
}

/* ---- totals ---- */

static void add_totals(struct totals *totals, const struct store_sums *sums)
{
	totals->allocations = sums->blocks;
	totals->total_bytes = sums->bytes;
	totals->frees = sums->frees;
	totals->temporary = sums->temporary;
	totals->live_blocks = sums->live_blocks;
	totals->live_bytes = sums->live_bytes;
}

static int sum(const struct model *model, const struct store_scan *scan,
	       const struct store_grouping *grouping, struct store_sums *sums)
{
	const struct store_group_options options = {
		.sums = STORE_SUM_FREES | STORE_SUM_LIVE | STORE_SUM_TEMPORARY,
		.temporary = model->options.temporary,
		.weight = index_weight(model),
	};

	return store_group(model->store, scan, grouping, &options, sums);
}

/* All blocks are one group. */
static int sum_whole(struct model *model, const atomic_bool *cancel)
{
	static const uint32_t all[STORE_FLAGS_END];
	const struct store_grouping grouping = {
		.groups = 1, .column = STORE_FLAGS,
		.map = all, .map_size = STORE_FLAGS_END,
	};
	struct index_select select;
	struct store_sums sums = { 0 };
	int error;

	index_select_all(&select, model, cancel);
	error = sum(model, &select.scan, &grouping, &sums);
	add_totals(&model->whole, &sums);
	return error;
}

/* Blocks from before the view that were freed in it. */
static int count_foreign(struct model *model, const atomic_bool *cancel)
{
	struct index_select select;
	uint64_t rows = 0, bytes;
	int error;

	if (model->controls.view == 0)
		return 0;
	index_select_foreign(&select, model, cancel);
	error = store_scan_count(model->store, &select.scan, &rows, &bytes);
	model->controls.foreign += rows;
	return error;
}

/* ---- heaps ---- */

static void number_heaps(void *owner, unsigned worker,
			 const struct store_batch *batch, uint32_t *groups)
{
	(void)owner;
	(void)worker;
	for (size_t i = 0; i < batch->count; i++)
		groups[i] = pools_number(batch->column[STORE_ADDRESS][i]);
}

static void fill_heaps(struct pools *pools, const struct store_sums *sums,
		       const struct store_peak *peaks)
{
	for (size_t i = 1; i < pools->count; i++) {
		struct totals *figures = &pools->list[i].figures;

		add_totals(figures, &sums[i]);
		/* whether these are temporary is not known */
		figures->temporary = 0;
		figures->peak_bytes = peaks[i].bytes;
		figures->peak_blocks = peaks[i].blocks;
		figures->peak_stamp = peaks[i].bytes > 0 ? peaks[i].stamp : 0;
	}
}

static int find_heaps(struct model *model, const atomic_bool *cancel)
{
	struct pools *pools = &model->pools;
	const struct store_weight weight = index_weight(model);
	const struct store_grouping grouping = {
		.groups = (uint32_t)pools->count, .number = number_heaps,
		.columns = STORE_BIT(STORE_ADDRESS),
	};
	struct store_sums *sums;
	struct store_peak *peaks;
	struct index_select select;
	int error;

	if (pools->count < 2)
		return 0;
	sums = grow_zeroed(pools->count, sizeof(*sums));
	peaks = grow_zeroed(pools->count, sizeof(*peaks));
	index_select_heaps(&select, model, cancel);
	error = sum(model, &select.scan, &grouping, sums);
	if (error == 0)
		error = store_peaks(model->store, &select.scan, &grouping,
				    &weight, NULL, peaks);
	if (error == 0)
		fill_heaps(pools, sums, peaks);
	free(sums);
	free(peaks);
	return error;
}

/* ---- all measures ---- */

int index_whole_figures(struct model *model, bool wanted,
			const atomic_bool *cancel, uint64_t *edge)
{
	int error = find_peak(model, cancel);

	if (error != 0)
		return error;
	*edge = model->peak.edge;
	set_peak(model, model->selection != NULL ? &model->whole :
						   &model->totals);
	if (wanted)
		error = count_foreign(model, cancel);
	if (wanted && error == 0 && model->selection != NULL)
		error = sum_whole(model, cancel);
	if (wanted && error == 0)
		error = find_heaps(model, cancel);
	return error;
}
