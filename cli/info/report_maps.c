/*
 * report_maps.c: mappings, and who made them. Sizes of mappings are sizes of
 * address space; they do not show how much of it is in use, and are never added
 * to allocations. Called by the main thread.
 */
#include "cli/info/info.h"

#include <inttypes.h>
#include <stdlib.h>

#include "cli/base/grow.h"
#include "cli/base/sort.h"
#include "cli/base/text/quantity.h"
#include "cli/command/print/report_parts.h"
#include "cli/model/maps/maps.h"

#define SITES_SHOWN 10
#define STACK_COLUMN 15

/* ---- text ---- */

static void put_whole(const struct model *model, FILE *out)
{
	const struct maps *maps = model_maps(model);
	const struct map_point *peak = &maps->curve.peak;

	fprintf(out, "  %s at the end, %s at most (after %s);\n",
		SIZE_TEXT(maps->spans.bytes - maps->own_bytes),
		SIZE_TEXT(peak->bytes),
		TIME_TEXT(peak->bytes == 0 ? 0 :
			model_since_start_ns(model, peak->stamp)));
	fprintf(out, "  gnomon's own, left out: %s; %" PRIu32 " "
		"readings\n",
		SIZE_TEXT(maps->own_bytes), maps->looks);
}

/* Sums over the sites of each origin. */
static void sum_origins(const struct maps *maps,
			struct map_site sums[MAP_ORIGINS])
{
	for (unsigned i = 0; i < MAP_ORIGINS; i++)
		sums[i] = (struct map_site){ .origin = i };
	for (size_t i = 0; i < maps->site_count; i++) {
		const struct map_site *site = &maps->sites[i];
		struct map_site *sum = &sums[site->origin];

		sum->count += site->count;
		sum->total_bytes += site->total_bytes;
		sum->live_count += site->live_count;
		sum->live_bytes += site->live_bytes;
	}
}

static void put_origins(const struct maps *maps, FILE *out)
{
	struct map_site sums[MAP_ORIGINS];

	sum_origins(maps, sums);
	fprintf(out, "  %-18s %10s %9s %10s %9s\n", "made by", "mappings",
		"bytes", "at the end", "bytes");
	for (unsigned i = 0; i < MAP_ORIGINS; i++) {
		if (sums[i].count == 0)
			continue;
		fprintf(out, "  %-18s %10s %9s %10s %9s\n", map_origin_names[i],
			COUNT_TEXT(sums[i].count),
			SIZE_TEXT(sums[i].total_bytes),
			COUNT_TEXT(sums[i].live_count),
			SIZE_TEXT(sums[i].live_bytes));
	}
}

static int by_bytes(const void *a, const void *b)
{
	const struct map_site *x = a, *y = b;

	return sort_down(x->live_bytes, y->live_bytes) ?:
	       sort_down(x->total_bytes, y->total_bytes) ?:
	       sort_up(x->node, y->node);
}

/* Sites with a stack, the largest first; to be freed. */
static struct map_site *sorted_sites(const struct maps *maps, size_t *count)
{
	struct map_site *sites = grow_alloc((maps->site_count + 1) *
					    sizeof(*sites));

	*count = 0;
	for (size_t i = 0; i < maps->site_count; i++)
		if (maps->sites[i].node != MAPS_NO_NODE &&
		    maps->sites[i].count > 0)
			sites[(*count)++] = maps->sites[i];
	SORT(sites, *count, by_bytes);
	return sites;
}

void report_maps_text(struct model *model, struct frames *frames, bool full,
		      FILE *out)
{
	struct map_site *sites;
	size_t count;

	if (model_maps(model)->count == 0)
		return;
	fprintf(out, "\nMAPPINGS\n");
	put_whole(model, out);
	put_origins(model_maps(model), out);
	sites = sorted_sites(model_maps(model), &count);
	for (size_t i = 0; i < count && i < SITES_SHOWN; i++) {
		fprintf(out, "  %9s in %s by %s\n%*s",
			SIZE_TEXT(sites[i].total_bytes),
			COUNT_TEXT(sites[i].count),
			map_origin_names[sites[i].origin], STACK_COLUMN, "");
		report_calls(frames, sites[i].node, full ? 0 :
			     report_width() - STACK_COLUMN, out);
		fputc('\n', out);
	}
	free(sites);
}

/* ---- JSON ---- */

static void json_whole(struct json *json, const struct model *model)
{
	static const char *const calls[GT_EXTRA_COUNT] = {
		[GT_EXTRA_MAP] = "mmap", [GT_EXTRA_UNMAP] = "munmap",
		[GT_EXTRA_REMAP] = "mremap", [GT_EXTRA_PROTECT] = "mprotect",
		[GT_EXTRA_BRK] = "brk", [GT_EXTRA_SHMAT] = "shmat",
		[GT_EXTRA_SHMDT] = "shmdt",
		[GT_EXTRA_CREATE] = "pthread_create",
		[GT_EXTRA_DLOPEN] = "dlopen",
	};
	const struct maps *maps = model_maps(model);
	const struct map_curve *curve = &maps->curve;

	json_object(json, "mapped");
	json_uint(json, "bytes", maps->spans.bytes - maps->own_bytes);
	json_uint(json, "peak_bytes", curve->peak.bytes);
	json_uint(json, "peak_time_ns", curve->peak.bytes == 0 ? 0 :
		  model_since_start_ns(model, curve->peak.stamp));
	json_uint(json, "recorder_bytes", maps->own_bytes);
	json_uint(json, "looks", maps->looks);
	json_uint(json, "forgotten", maps->forgotten);
	json_object(json, "calls");
	for (unsigned i = 0; i < GT_EXTRA_COUNT; i++)
		if (calls[i] != NULL)
			json_uint(json, calls[i], maps->calls[i]);
	json_uint(json, "failed", maps->failed);
	json_end_object(json);
	json_array(json, "curve");
	for (size_t i = 0; i < curve->count; i++) {
		json_object(json, NULL);
		json_uint(json, "time_ns", model_since_start_ns(model,
						curve->points[i].stamp));
		json_uint(json, "bytes", curve->points[i].bytes);
		json_end_object(json);
	}
	json_end_array(json);
	json_end_object(json);
}

static void json_mapping(struct json *json, const struct model *model,
			 const struct mapping *mapping)
{
	char access[] = {
		mapping->is & GT_MAPS_READ ? 'r' : '-',
		mapping->is & GT_MAPS_WRITE ? 'w' : '-',
		mapping->is & GT_MAPS_EXECUTE ? 'x' : '-',
		mapping->is & GT_MAPS_SHARED ? 's' : 'p', 0
	};
	uint64_t key = (uint64_t)mapping->origin << 32 | mapping->node;

	json_object(json, NULL);
	json_uint(json, "start", mapping->start);
	json_uint(json, "size", mapping->size);
	json_uint(json, "bytes", mapping->bytes);
	json_string(json, "access", access);
	json_string(json, "path", mapping->path);
	json_string(json, "origin", map_origin_names[mapping->origin]);
	json_string(json, "known_by", mapping->look ? "look" : "call");
	json_uint(json, "mapped_ns", model_since_start_ns(model,
							mapping->mapped));
	if (mapping->bytes == 0)
		json_uint(json, "unmapped_ns",
			  model_since_start_ns(model, mapping->unmapped));
	json_uint(json, "site", table_get(&model_maps(model)->by_site, key));
	json_end_object(json);
}

static void json_site(struct json *json, struct frames *frames,
		      const struct map_site *site)
{
	json_object(json, NULL);
	json_string(json, "origin", map_origin_names[site->origin]);
	json_uint(json, "count", site->count);
	json_uint(json, "total_bytes", site->total_bytes);
	json_uint(json, "live_count", site->live_count);
	json_uint(json, "live_bytes", site->live_bytes);
	json_array(json, "stack");
	if (site->node != MAPS_NO_NODE) {
		frames_of(frames, site->node);
		for (size_t i = 0; i < frames->count; i++)
			frame_table_frame(json, &frames->list[i]);
	}
	json_end_array(json);
	json_end_object(json);
}

void report_maps_json(struct model *model, struct frames *frames,
		      struct json *json)
{
	const struct maps *maps = model_maps(model);

	json_whole(json, model);
	json_array(json, "maps");
	for (size_t i = 0; i < maps->count; i++)
		if (maps->list[i].size > 0)
			json_mapping(json, model, &maps->list[i]);
	json_end_array(json);
	json_array(json, "map_sites");
	for (size_t i = 0; i < maps->site_count; i++)
		json_site(json, frames, &maps->sites[i]);
	json_end_array(json);
}
