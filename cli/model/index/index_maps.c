/*
 * index_maps.c: see index_maps.h. Arrays are blobs, as in index_facts.c.
 * Strings are in one blob, each with its 0, and are stored as offsets into it.
 */
#include "cli/model/index/index_maps.h"

#include <stdlib.h>
#include <string.h>

#include "cli/base/grow.h"
#include "cli/base/text/buffer.h"
#include "cli/model/model_state.h"
#include "cli/model/index/index_facts.h"
#include "unwind/base/assertion.h"

#define FORMAT 1

/* The first words of "maps_facts". Calls by kind follow. */
enum word {
	WORD_FORMAT, WORD_OWN_BYTES, WORD_FORGOTTEN, WORD_FAILED, WORD_LOOKS,
	WORD_FIRST_LOOK, WORD_LAST_LOOK, WORD_PEAK_STAMP, WORD_PEAK_BYTES,
	WORD_CURVE_STEP, WORD_CALLS, WORDS = WORD_CALLS + GT_EXTRA_COUNT
};

/* A struct mapping, as stored. */
struct kept_mapping {
	uint64_t start, size, bytes, mapped, unmapped, device, inode;
	uint64_t path;
	uint32_t node, look;
	uint8_t origin, is, looked, attached;
	uint32_t zero;
};

/* A struct span, as stored. */
struct kept_span {
	uint64_t start, end;
	uint32_t owner, flags;
};

/* ---- write ---- */

static void write_words(const struct maps *maps, struct store_writer *writer)
{
	uint64_t words[WORDS] = {
		[WORD_FORMAT] = FORMAT,
		[WORD_OWN_BYTES] = maps->own_bytes,
		[WORD_FORGOTTEN] = maps->forgotten,
		[WORD_FAILED] = maps->failed,
		[WORD_LOOKS] = maps->looks,
		[WORD_FIRST_LOOK] = maps->first_look,
		[WORD_LAST_LOOK] = maps->last_look,
		[WORD_PEAK_STAMP] = maps->curve.peak.stamp,
		[WORD_PEAK_BYTES] = maps->curve.peak.bytes,
		[WORD_CURVE_STEP] = maps->curve.step,
	};

	memcpy(&words[WORD_CALLS], maps->calls, sizeof(maps->calls));
	index_array_write(writer, "maps_facts", words, sizeof(words));
	index_array_write(writer, "maps_curve", maps->curve.points,
	     maps->curve.count * sizeof(*maps->curve.points));
	index_array_write(writer, "maps_sites", maps->sites,
	     maps->site_count * sizeof(*maps->sites));
}

/* Paths are interned: consecutive ones are often equal. */
static void write_mappings(const struct maps *maps, struct store_writer *writer)
{
	struct kept_mapping *list = grow_zeroed(maps->count + 1, sizeof(*list));
	struct buffer paths = { 0 };
	const char *last = NULL;
	size_t at = 0;

	for (size_t i = 0; i < maps->count; i++) {
		const struct mapping *mapping = &maps->list[i];

		if (last == NULL || strcmp(last, mapping->path) != 0) {
			last = mapping->path;
			at = paths.size;
			buffer_add(&paths, last, strlen(last) + 1);
		}
		list[i] = (struct kept_mapping){
			.start = mapping->start, .size = mapping->size,
			.bytes = mapping->bytes, .mapped = mapping->mapped,
			.unmapped = mapping->unmapped,
			.device = mapping->device, .inode = mapping->inode,
			.path = at, .node = mapping->node,
			.look = mapping->look, .origin = mapping->origin,
			.is = mapping->is, .looked = mapping->looked,
			.attached = mapping->attached,
		};
	}
	index_array_write(writer, "maps_list", list,
			  maps->count * sizeof(*list));
	index_array_write(writer, "maps_paths", paths.data, paths.size);
	buffer_free(&paths);
	free(list);
}

static void write_spans(const struct spans *spans, struct store_writer *writer)
{
	struct kept_span *list = grow_zeroed(spans->count + 1, sizeof(*list));
	const struct span *span;
	size_t count = 0;

	for (span = spans_at(spans, 0); span != NULL;
	     span = spans_at(spans, span->end))
		list[count++] = (struct kept_span){
			span->start, span->end, span->owner, span->flags,
		};
	DEBUG_ASSERT(count <= spans->count);
	index_array_write(writer, "maps_spans", list, count * sizeof(*list));
	free(list);
}

void index_maps_write(const struct model *model, struct store_writer *writer)
{
	write_words(&model->maps, writer);
	write_mappings(&model->maps, writer);
	write_spans(&model->maps.spans, writer);
}

/* ---- read ---- */

/* Data read from the index, not yet validated. */
struct kept {
	uint64_t *words;
	struct map_point *curve;
	struct map_site *sites;
	struct kept_mapping *list;
	struct kept_span *spans;
	char *paths;
	size_t word_count, curve_count, site_count, count, span_count;
	size_t path_bytes;
};

static bool read_kept(struct store *store, struct kept *kept)
{
	return index_array_read(store, "maps_facts", sizeof(uint64_t),
				&kept->words, &kept->word_count) &&
	       kept->word_count == WORDS &&
	       kept->words[WORD_FORMAT] == FORMAT &&
	       index_array_read(store, "maps_curve", sizeof(*kept->curve),
				&kept->curve, &kept->curve_count) &&
	       index_array_read(store, "maps_sites", sizeof(*kept->sites),
				&kept->sites, &kept->site_count) &&
	       index_array_read(store, "maps_list", sizeof(*kept->list),
				&kept->list, &kept->count) &&
	       index_array_read(store, "maps_spans", sizeof(*kept->spans),
				&kept->spans, &kept->span_count) &&
	       index_array_read(store, "maps_paths", 1, &kept->paths,
				&kept->path_bytes);
}

static bool is_node(const struct model *model, uint32_t node)
{
	return node == MAPS_NO_NODE || node < model->contexts.node_count;
}

static bool mappings_are_valid(const struct model *model,
			       const struct kept *kept)
{
	if (kept->count >= MAPS_NONE ||
	    (kept->count > 0 && (kept->path_bytes == 0 ||
				 kept->paths[kept->path_bytes - 1] != 0)))
		return false;
	for (size_t i = 0; i < kept->count; i++)
		if (kept->list[i].path >= kept->path_bytes ||
		    kept->list[i].origin >= MAP_ORIGINS ||
		    !is_node(model, kept->list[i].node))
			return false;
	for (size_t i = 0; i < kept->site_count; i++)
		if (kept->sites[i].origin >= MAP_ORIGINS ||
		    !is_node(model, kept->sites[i].node))
			return false;
	return true;
}

/* Spans are by address, without overlaps, and each mapping has as many bytes as
 * its spans. */
static bool spans_are_valid(const struct kept *kept)
{
	uint64_t *left = grow_zeroed(kept->count + 1, sizeof(*left));
	uint64_t end = 0;
	bool good = true;

	for (size_t i = 0; i < kept->count; i++)
		left[i] = kept->list[i].bytes;
	for (size_t i = 0; good && i < kept->span_count; i++) {
		const struct kept_span *span = &kept->spans[i];

		good = span->start >= end && span->end > span->start &&
			span->end <= SPANS_END && span->owner < kept->count &&
			left[span->owner] >= span->end - span->start;
		if (good)
			left[span->owner] -= span->end - span->start;
		end = span->end;
	}
	for (size_t i = 0; good && i < kept->count; i++)
		good = left[i] == 0;
	free(left);
	return good;
}

static bool curve_is_valid(const struct kept *kept)
{
	for (size_t i = 1; i < kept->curve_count; i++)
		if (kept->curve[i].stamp < kept->curve[i - 1].stamp)
			return false;
	return kept->curve_count <= MAPS_POINTS;
}

static void take_words(struct maps *maps, const struct kept *kept)
{
	const uint64_t *words = kept->words;

	maps->own_bytes = words[WORD_OWN_BYTES];
	maps->forgotten = words[WORD_FORGOTTEN];
	maps->failed = words[WORD_FAILED];
	maps->looks = (uint32_t)words[WORD_LOOKS];
	maps->first_look = words[WORD_FIRST_LOOK];
	maps->last_look = words[WORD_LAST_LOOK];
	memcpy(maps->calls, &words[WORD_CALLS], sizeof(maps->calls));
	maps->curve.peak = (struct map_point){
		words[WORD_PEAK_STAMP], words[WORD_PEAK_BYTES],
	};
	maps->curve.step = words[WORD_CURVE_STEP];
	maps->curve.count = kept->curve_count;
	memcpy(maps->curve.points, kept->curve,
	       kept->curve_count * sizeof(*kept->curve));
}

static void take_mappings(struct maps *maps, const struct kept *kept)
{
	GROW_TO(maps->list, maps->capacity, kept->count);
	for (size_t i = 0; i < kept->count; i++) {
		const struct kept_mapping *mapping = &kept->list[i];

		maps->list[i] = (struct mapping){
			.start = mapping->start, .size = mapping->size,
			.bytes = mapping->bytes, .mapped = mapping->mapped,
			.unmapped = mapping->unmapped,
			.device = mapping->device, .inode = mapping->inode,
			.path = intern_string(&maps->paths,
					      kept->paths + mapping->path),
			.node = mapping->node, .look = mapping->look,
			.origin = mapping->origin, .is = mapping->is,
			.looked = mapping->looked != 0,
			.attached = mapping->attached != 0,
		};
	}
	maps->count = kept->count;
	for (size_t i = 0; i < kept->span_count; i++)
		spans_put(&maps->spans, kept->spans[i].start,
			  kept->spans[i].end, kept->spans[i].owner,
			  kept->spans[i].flags);
}

static void take_sites(struct maps *maps, const struct kept *kept)
{
	GROW_TO(maps->sites, maps->site_capacity, kept->site_count);
	for (size_t i = 0; i < kept->site_count; i++) {
		const struct map_site *site = &kept->sites[i];

		maps->sites[i] = *site;
		table_set(&maps->by_site,
			  (uint64_t)site->origin << 32 | site->node,
			  (uint32_t)i);
	}
	maps->site_count = kept->site_count;
}

bool index_maps_read(struct model *model, struct store *store)
{
	struct kept kept = { 0 };
	bool good = read_kept(store, &kept) &&
		mappings_are_valid(model, &kept) && spans_are_valid(&kept) &&
		curve_is_valid(&kept);

	ASSERT(!model->with_maps && model->maps.count == 0);
	if (good) {
		take_words(&model->maps, &kept);
		take_mappings(&model->maps, &kept);
		take_sites(&model->maps, &kept);
		model->with_maps = true;
		DEBUG_ASSERT(maps_is_valid(&model->maps));
	}
	free(kept.words);
	free(kept.curve);
	free(kept.sites);
	free(kept.list);
	free(kept.spans);
	free(kept.paths);
	return good;
}
