/*
 * residency.c: see residency.h. For each snapshot the address space is visited
 * once: its mappings; the *pieces* of which a mapping consists (the kernel
 * merges neighbouring mappings, whoever made them); and the pages with live
 * blocks:
 *
 *	mapping   |----------------------------------|   only its Rss is known
 *	piece     |  malloc  | program | stack | ... |
 *	covers     ##  #  #     #
 *
 *  I1  The parts of a point add up to rss_bytes.
 *  I2  The mappings of a snapshot ascend and do not overlap, so each piece is
 *      visited once.
 */
#include "cli/model/pages/residency.h"

#include <stdlib.h>
#include <string.h>

#include "cli/base/grow.h"
#include "cli/base/status.h"
#include "cli/model/map_index.h"
#include "cli/model/maps/maps.h"
#include "cli/model/model.h"
#include "cli/model/pages/pages_sweep.h"
#include "cli/model/index/index_live.h"
#include "cli/model/stats/footprint.h"
#include "unwind/base/assertion.h"

const char *const residency_names[RESIDENCY_PARTS] = {
	[RESIDENCY_LIVE] = "live",
	[RESIDENCY_FRAGMENTED] = "fragmented",
	[RESIDENCY_FREE] = "free",
	[RESIDENCY_MAPPED] = "mapped",
	[RESIDENCY_FILES] = "files",
	[RESIDENCY_STACKS] = "stacks",
	[RESIDENCY_RECORDER] = "recorder",
	[RESIDENCY_REST] = "rest",
};

const char *const residency_meanings[RESIDENCY_PARTS] = {
	[RESIDENCY_LIVE] = "live blocks",
	[RESIDENCY_FRAGMENTED] = "the rest of their pages",
	[RESIDENCY_FREE] = "the allocator's other pages",
	[RESIDENCY_MAPPED] = "mapped by the program",
	[RESIDENCY_FILES] = "files and shared memory",
	[RESIDENCY_STACKS] = "threads' stacks",
	[RESIDENCY_RECORDER] = "gnomon's own",
	[RESIDENCY_REST] = "not known whose",
};

/* The state of a visit of a snapshot. */
struct walk {
	const struct model *model;
	const struct map_index *maps;
	const struct footprint_mapping *mappings;
	size_t count, at;
	uint64_t stamp;			/* of the snapshot */
	struct residency_point *point;
	/* Of the current mapping, in bytes. */
	uint64_t paged;			/* of pages with live blocks */
	uint64_t live;			/* of live blocks */
	uint64_t other[RESIDENCY_PARTS];	/* by kind, without live
						 * blocks */
	/* The current piece, which ends at piece_end. */
	uint64_t piece, piece_end;
	uint64_t piece_paged;
	enum residency_part kind;
};

/* ---- pieces ---- */

static enum residency_part kind_of_origin(unsigned origin)
{
	switch (origin) {
	case MAP_MALLOC:
	case MAP_ALLOCATOR:
		return RESIDENCY_FREE;
	case MAP_PROGRAM:
		return RESIDENCY_MAPPED;
	case MAP_CREATE:
		return RESIDENCY_STACKS;
	case MAP_DLOPEN:
		return RESIDENCY_FILES;
	case MAP_RECORDER:
		return RESIDENCY_RECORDER;
	default:
		return RESIDENCY_REST;
	}
}

static enum residency_part kind_of_path(const struct footprint_mapping *mapping)
{
	if (mapping->flags & GT_MAPPING_OURS)
		return RESIDENCY_RECORDER;
	if (mapping->path[0] == '/' || mapping->flags & GT_MAPPING_IS_SHARED)
		return RESIDENCY_FILES;
	if (strcmp(mapping->path, "[heap]") == 0)
		return RESIDENCY_FREE;
	return strncmp(mapping->path, "[stack", 6) == 0 ? RESIDENCY_STACKS :
							  RESIDENCY_REST;
}

static uint64_t end_of(const struct footprint_mapping *mapping)
{
	return mapping->start + mapping->size;	/* I2 */
}

/* The piece that begins at w->piece. */
static void begin_piece(struct walk *w)
{
	const struct footprint_mapping *mapping = &w->mappings[w->at];
	uint32_t index = MAP_INDEX_NONE;
	uint64_t until = UINT64_MAX;

	w->piece_paged = 0;
	w->kind = kind_of_path(mapping);
	if (w->kind == RESIDENCY_REST && w->maps != NULL)
		index = map_index_at(w->maps, w->piece, w->stamp, &until);
	if (index != MAP_INDEX_NONE)
		w->kind = kind_of_origin(
			model_maps(w->model)->list[index].origin);
	w->piece_end = until < end_of(mapping) ? until : end_of(mapping);
}

/* A piece with live blocks is an allocator's, whoever mapped it. */
static void end_piece(struct walk *w)
{
	uint64_t size = w->piece_end - w->piece;

	if (w->piece_paged > 0 && w->kind != RESIDENCY_RECORDER &&
	    w->kind != RESIDENCY_FILES)
		w->kind = RESIDENCY_FREE;
	DEBUG_ASSERT(w->piece_paged <= size);
	w->other[w->kind] += size - w->piece_paged;
	w->piece = w->piece_end;
}

/* ---- mappings ---- */

static uint64_t part_of(uint64_t whole, uint64_t part, uint64_t of)
{
	return of == 0 ? 0 :
		(uint64_t)((unsigned __int128)whole * part / of);
}

/* Divides the resident bytes among the parts without live blocks. */
static void divide(struct walk *w, uint64_t bytes)
{
	uint64_t all = 0, so_far = 0, before = 0;

	for (unsigned i = 0; i < RESIDENCY_PARTS; i++)
		all += w->other[i];
	for (unsigned i = 0; i < RESIDENCY_PARTS; i++) {
		uint64_t until;

		so_far += w->other[i];
		until = part_of(bytes, so_far, all);
		w->point->part_bytes[i] += until - before;
		before = until;
	}
	DEBUG_ASSERT(before == bytes);		/* I1 */
}

static void begin_mapping(struct walk *w)
{
	w->paged = w->live = 0;
	memset(w->other, 0, sizeof(w->other));
	if (w->at == w->count)
		return;
	w->piece = w->mappings[w->at].start;
	begin_piece(w);
}

static void end_mapping(struct walk *w)
{
	uint64_t rss = footprint_resident(&w->mappings[w->at]);
	uint64_t paged = w->paged < rss ? w->paged : rss;
	uint64_t live = part_of(paged, w->live, w->paged);
	uint64_t others = end_of(&w->mappings[w->at]) -
		w->mappings[w->at].start - w->paged;

	w->point->rss_bytes += rss;
	w->point->part_bytes[RESIDENCY_LIVE] += live;
	w->point->part_bytes[RESIDENCY_FRAGMENTED] += paged - live;
	/* This much has no room in the rest of the mapping. */
	w->point->bound_bytes += paged - (rss > others ? rss - others : 0);
	divide(w, rss - paged);
	w->at++;
	begin_mapping(w);
}

/* Everything before the address was counted. */
static void advance(struct walk *w, uint64_t address)
{
	while (w->at < w->count && w->piece_end <= address) {
		end_piece(w);
		if (w->piece < end_of(&w->mappings[w->at]))
			begin_piece(w);
		else
			end_mapping(w);
	}
}

static void take_cover(void *owner, const struct page_cover *cover)
{
	struct walk *w = owner;
	uint64_t page_size = model_page_size(w->model);
	uint64_t end = cover->address + cover->pages * page_size;
	uint64_t at = cover->address;

	advance(w, at);
	while (w->at < w->count && w->piece < end) {
		uint64_t from = at > w->piece ? at : w->piece;
		uint64_t to = end < w->piece_end ? end : w->piece_end;

		if (from < to) {
			w->paged += to - from;
			w->piece_paged += to - from;
			w->live += part_of(to - from, cover->live_bytes,
					   page_size);
			at = to;
		}
		if (w->piece_end > end)
			break;
		advance(w, w->piece_end);
	}
}

/* ---- snapshots ---- */

struct finding {
	const struct model *model;
	const struct map_index *maps;
	struct residency *residency;
};

static void look(void *owner, const struct model *then, size_t number)
{
	const struct finding *finding = owner;
	struct residency_point *point = &finding->residency->list[number];
	const struct footprint_snapshot *snapshot = point->snapshot;
	struct walk walk = {
		.model = finding->model, .maps = finding->maps,
		.mappings = model_footprint(finding->model)->mappings +
			snapshot->first,
		.count = snapshot->count, .stamp = snapshot->said.begin,
		.point = point,
	};
	struct pages_sweep sweep = {
		.page_size = model_page_size(finding->model),
		.group_count = 1, .owner = &walk, .cover = take_cover,
	};

	*point = (struct residency_point){
		.snapshot = snapshot, .ns = point->ns,
	};
	begin_mapping(&walk);
	pages_sweep(&sweep, then);
	advance(&walk, UINT64_MAX);
}

static bool is_wanted(const struct model *model,
		      const struct footprint_snapshot *snapshot)
{
	return model_counts(model, snapshot->said.begin) &&
	       footprint_is_whole(model_footprint(model), snapshot);
}

/* Keeps every n-th of the snapshots that count, and the last. */
static void choose(const struct model *model, size_t limit,
		   struct residency *residency)
{
	const struct footprint *footprint = model_footprint(model);
	size_t wanted = 0, met = 0;

	for (size_t i = 0; i < footprint->snapshot_count; i++)
		wanted += is_wanted(model, &footprint->snapshots[i]);
	limit = limit < wanted ? limit : wanted;
	residency->left_out = footprint->snapshot_count - limit;
	residency->list = grow_zeroed(limit + 1, sizeof(*residency->list));
	for (size_t i = 0; i < footprint->snapshot_count; i++) {
		const struct footprint_snapshot *snapshot =
			&footprint->snapshots[i];

		if (!is_wanted(model, snapshot))
			continue;
		met++;
		if (met * limit / wanted == residency->count)
			continue;
		residency->list[residency->count++] = (struct residency_point){
			.snapshot = snapshot,
			.ns = model_since_start_ns(model, snapshot->said.begin),
		};
	}
	DEBUG_ASSERT(residency->count == limit);
}

/* How many snapshots are not after the last event. For later ones the live
 * blocks are those of the model, if it was made from events and has all
 * blocks. */
static size_t count_before_end(const struct model *model,
			       const struct residency *residency)
{
	size_t count = residency->count;

	if (model_store(model) != NULL)
		return count;
	while (count > 0 && !model_is_selected(model) &&
	       residency->list[count - 1].snapshot->said.begin >
	       model_totals(model)->last_stamp)
		count--;
	return count;
}

static int look_before_end(struct finding *finding, const char *path,
			   size_t count)
{
	struct model_looks looks = {
		.owner = finding, .look = look, .count = count,
	};
	uint64_t *stamps = grow_alloc(count * sizeof(*stamps));
	int status = EXIT_COMPLETE;

	for (size_t i = 0; i < count; i++)
		stamps[i] = finding->residency->list[i].snapshot->said.begin;
	looks.stamps = stamps;
	if (model_store(finding->model) == NULL ||
	    index_live(finding->model, &looks) != 0)
		status = model_at_moments(finding->model, path, &looks);
	free(stamps);
	return status;
}

int residency_find(const struct model *model, const char *path, size_t limit,
		   const struct map_index *maps, struct residency *residency)
{
	struct finding finding = { model, maps, residency };
	int status = EXIT_COMPLETE;
	size_t before;

	memset(residency, 0, sizeof(*residency));
	choose(model, limit, residency);
	before = count_before_end(model, residency);
	if (before > 0)
		status = look_before_end(&finding, path, before);
	if (status == EXIT_NOTHING)
		residency->count = 0;
	for (size_t i = before; i < residency->count; i++)
		look(&finding, model, i);
	return status;
}

void residency_free(struct residency *residency)
{
	free(residency->list);
}
