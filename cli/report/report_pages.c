/*
 * report_pages.c: see report_pages.h. The rows are the query's, in another
 * order. Called by the main thread.
 */
#include "cli/report/report_pages.h"

#include <stdlib.h>
#include <string.h>

#include "cli/base/grow.h"
#include "cli/base/sort.h"
#include "cli/model/core/blocks.h"
#include "cli/model/core/contexts.h"
#include "cli/model/core/pools.h"
#include "cli/model/filters.h"
#include "cli/model/heap.h"
#include "cli/model/map_index.h"
#include "cli/model/maps/maps.h"
#include "cli/model/moment.h"
#include "cli/model/stats/footprint.h"
#include "unwind/base/assertion.h"

/* ---- finding ---- */

/* By kept pages, then by pages kept alone, then in the old order. */
static int by_kept(const void *a, const void *b)
{
	const struct pages_group *x = *(const struct pages_group *const *)a;
	const struct pages_group *y = *(const struct pages_group *const *)b;

	return sort_down(x->shared_bytes, y->shared_bytes) ?:
	       sort_down(x->alone_bytes, y->alone_bytes) ?:
	       sort_up((uintptr_t)x, (uintptr_t)y);
}

/* Drops rows that keep no page: there may be millions. */
static void sort_rows(struct report_pages *found)
{
	const struct pages_group *groups = found->pages->groups;
	struct query_rows *rows = &found->rows;
	struct query_row *list;
	size_t kept = 0;

	for (size_t i = 0; i < rows->count; i++)
		kept += groups[i].pages > 0;
	list = grow_alloc(kept * sizeof(*list));
	found->groups = grow_alloc(kept * sizeof(*found->groups));
	kept = 0;
	for (size_t i = 0; i < rows->count; i++)
		if (groups[i].pages > 0)
			found->groups[kept++] = &groups[i];
	SORT(found->groups, kept, by_kept);
	for (size_t i = 0; i < kept; i++)
		list[i] = rows->list[found->groups[i] - groups];
	free(rows->list);
	rows->list = list;
	rows->count = rows->nonzero = kept;
	/* it maps to old row indexes */
	table_free(&rows->row_of);
}

/* The row of each cost. */
static uint32_t *groups_of(const struct report *r, struct query_rows *rows)
{
	const struct contexts *contexts = model_contexts(r->model);
	uint32_t *groups = grow_alloc(contexts->cost_count * sizeof(*groups));

	for (size_t i = 0; i < contexts->cost_count; i++) {
		const uint32_t *list;
		size_t count;

		groups[i] = PAGES_NO_GROUP;
		if (query_rows_of(rows, (uint32_t)i, &list, &count) &&
		    count > 0)
			groups[i] = list[0];
		DEBUG_ASSERT(count <= 1);
	}
	return groups;
}

/* The moment of the live blocks. */
static uint64_t moment_of(const struct report *r)
{
	const struct filter_word *word =
		filter_word(r->options->query->filter, FILTER_ALIVE_AT, 0);
	uint64_t ns = r->end_ns;

	if (word != NULL && !moment_ns(r->model, &word->moment, &ns))
		ns = r->end_ns;
	return ns;
}

void report_pages_find(struct report *r, size_t snapshots,
		       struct report_pages *found)
{
	struct pages_options options = { .moment_ns = moment_of(r) };
	uint32_t *groups;

	memset(found, 0, sizeof(*found));
	if (model_maps(r->model)->count > 0)
		found->maps = map_index_new(NULL, r->model, "--pages");
	report_collect(r, MEASURE_LIVE, 0, &found->rows);
	groups = groups_of(r, &found->rows);
	options.group_of_cost = groups;
	options.group_count = found->rows.count;
	options.maps = found->maps;
	found->pages = pages_new(r->model, &options);
	free(groups);
	sort_rows(found);
	residency_find(r->model, r->about.trace, snapshots, found->maps,
		       &found->residency);
}

void report_pages_free(struct report_pages *found)
{
	residency_free(&found->residency);
	pages_free(found->pages);
	map_index_free(found->maps);
	query_rows_free(&found->rows);
	free(found->groups);
}

/* ---- JSON ---- */

void report_pages_row_json(struct json *json, const struct report_pages *found,
			   size_t row)
{
	const struct pages_group *group = found->groups[row];

	json_object(json, "pages");
	json_uint(json, "pages", group->pages);
	json_uint(json, "kept_bytes", group->shared_bytes);
	json_uint(json, "kept_alone_bytes", group->alone_bytes);
	if (found->pages->snapshot != NULL)
		json_uint(json, "kept_resident_bytes_max",
			  group->resident_bytes);
	json_end_object(json);
}

static void put_sum(struct json *json, const struct pages_sum *sum)
{
	json_uint(json, "pages", sum->pages);
	json_uint(json, "live_bytes", sum->live_bytes);
}

static void put_uses(struct json *json, const struct pages *pages)
{
	json_array(json, "uses");
	for (unsigned i = 0; i < PAGES_USES; i++) {
		json_object(json, NULL);
		json_uint(json, "percent_max", pages_use_percent[i]);
		put_sum(json, &pages->use[i]);
		json_end_object(json);
	}
	json_end_array(json);
}

static void put_heaps(struct json *json, struct report *r,
		      const struct pages *pages)
{
	json_array(json, "heaps");
	for (size_t i = 0; i < pages->heap_count; i++) {
		const struct pages_heap *heap = &pages->heaps[i];

		json_object(json, NULL);
		json_string(json, "arena", heap_part_names[heap->part]);
		put_sum(json, &heap->sum);
		json_uint(json, "begin", heap->begin);
		json_uint(json, "end", heap->end);
		if (heap->has_top) {
			json_object(json, "top");
			json_uint(json, "address",
				  pools_address(heap->top->address));
			json_uint(json, "size", heap->top->size);
			json_uint(json, "context",
				  model_node_of(r->model, heap->top));
			json_uint(json, "above_next_bytes", heap->top_bytes);
			json_end_object(json);
		}
		json_end_object(json);
	}
	json_end_array(json);
}

static void put_mappings(struct json *json, const struct pages *pages)
{
	json_array(json, "mappings");
	for (size_t i = 0; i < pages->mapping_count; i++) {
		const struct pages_mapping *mapping = &pages->mappings[i];

		if (mapping->sum.pages == 0)
			continue;
		json_object(json, NULL);
		json_string(json, "path", mapping->path);
		put_sum(json, &mapping->sum);
		json_end_object(json);
	}
	json_end_array(json);
}

static void put_resident(struct json *json, const struct pages *pages)
{
	if (pages->snapshot == NULL)
		return;
	json_object(json, "resident");
	json_string(json, "snapshot", pages->snapshot->name);
	json_uint(json, "time_ns", pages->snapshot_ns);
	json_uint(json, "bytes_min", pages->resident.min_bytes);
	json_uint(json, "bytes_max", pages->resident.max_bytes);
	json_end_object(json);
}

static void put_part(struct json *json, const struct residency_point *point,
		     unsigned part)
{
	char key[32];

	snprintf(key, sizeof(key), "%s_bytes", residency_names[part]);
	json_uint(json, key, point->part_bytes[part]);
}

static void put_residency(struct json *json, const struct residency *residency)
{
	json_array(json, "residency");
	for (size_t i = 0; i < residency->count; i++) {
		const struct residency_point *point = &residency->list[i];
		const uint64_t *arenas = point->snapshot->said.arenas_value;

		json_object(json, NULL);
		json_string(json, "snapshot", point->snapshot->name);
		json_uint(json, "time_ns", point->ns);
		json_uint(json, "rss_bytes", point->rss_bytes);
		for (unsigned k = 0; k < RESIDENCY_PARTS; k++)
			put_part(json, point, k);
		json_uint(json, "bound_bytes", point->bound_bytes);
		if (point->snapshot->said.arenas == GT_ARENAS_TAKEN)
			json_uint(json, "allocator_free_bytes",
				  arenas[GT_ARENAS_FREE]);
		json_end_object(json);
	}
	json_end_array(json);
	json_uint(json, "residency_left_out", residency->left_out);
}

void report_pages_json(struct json *json, struct report *r,
		       const struct report_pages *found)
{
	const struct pages *pages = found->pages;

	json_object(json, "pages");
	json_uint(json, "page_size", pages->page_size);
	put_sum(json, &pages->sum);
	json_uint(json, "bytes", pages->sum.pages * pages->page_size);
	json_uint(json, "blocks", pages->blocks);
	json_uint(json, "single_block_pages", pages->single);
	put_resident(json, pages);
	put_uses(json, pages);
	put_heaps(json, r, pages);
	put_mappings(json, pages);
	json_end_object(json);
	put_residency(json, &found->residency);
}
