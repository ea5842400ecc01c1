/*
 * flame_tracks.c: see flame.h: live memory of the larger nodes of a tree in
 * equal time spans. A second pass follows the blocks. Each block counts for the
 * innermost node with a track that contains its stack. A row has the live bytes
 * at the end of a span.
 *
 * Called by the main thread.
 */
#include "cli/flamegraph/flame.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/grow.h"
#include "cli/base/search.h"
#include "cli/base/status.h"
#include "cli/model/core/contexts.h"
#include "cli/model/stats/timeline.h"

#define TRACKS_MAX 400u
#define ROWS_MAX 128u
#define SHARE_STEP 1.25

struct follower {
	struct flame_tracks *tracks;
	const struct timeline *timeline;
	uint32_t *of_context;	/* its track; PROFILE_NONE: excluded by a
				 * filter */
	uint64_t *live;		/* current live bytes of each track */
	size_t row;		/* next row to write */
};

/* ---- selecting nodes ---- */

static double share_of(const struct flame_tree *tree, uint32_t n)
{
	double max = 0;

	for (int v = 0; v < FLAME_COSTS; v++) {
		double whole = (double)tree->nodes[0].values[v];
		double own = (double)tree->nodes[n].values[v];

		if (own > 0 && own / whole > max)
			max = own / whole;
	}
	return max;
}

/* Callers are at least as large as their callees, so all callers of a selected
 * node are selected, too. */
static void choose(struct flame_tracks *tracks, const struct flame_tree *tree)
{
	double share = 1e-3;
	uint32_t count;

	for (;; share *= SHARE_STEP) {
		count = 0;
		for (uint32_t n = 0; n < tree->count; n++)
			count += tree->nodes[n].smaller == 0 &&
				(n == 0 || share_of(tree, n) >= share);
		if (count <= TRACKS_MAX || share > 1)
			break;
	}
	assert(count > 0);
	tracks->nodes = grow_alloc(count * sizeof(*tracks->nodes));
	for (uint32_t n = 0; n < tree->count && tracks->count < count; n++)
		if (tree->nodes[n].smaller == 0 &&
		    (n == 0 || share_of(tree, n) >= share))
			tracks->nodes[tracks->count++] = n;
}

static bool is_behind(const void *list, size_t i, uint64_t node)
{
	return ((const struct flame_node *)list)[i].origin > node;
}

/* The innermost node of the tree that is or contains a node of the profile. */
static uint32_t around(const struct flame_tree *tree, uint32_t node)
{
	size_t behind = search_first(tree->nodes, tree->count, is_behind, node);
	uint32_t n = (uint32_t)behind - 1;

	assert(behind > 0);	/* the root's origin is never greater */
	while (tree->nodes[n].smaller > 0 ||
	       tree->profile->nodes[tree->nodes[n].origin].end <= node)
		n = tree->nodes[n].parent;
	return n;
}

/* For each node of the tree, its track or that of the nearest ancestor. */
static uint32_t *tracks_of_nodes(const struct flame_tracks *tracks,
				 const struct flame_tree *tree)
{
	uint32_t *track = grow_alloc(tree->count * sizeof(*track));
	uint32_t next = 0;

	for (uint32_t n = 0; n < tree->count; n++)
		if (next < tracks->count && tracks->nodes[next] == n)
			track[n] = next++;
		else
			track[n] = track[tree->nodes[n].parent];
	assert(next == tracks->count);
	return track;
}

static uint32_t *tracks_of_contexts(const struct flame_tracks *tracks,
				    const struct flame_tree *tree,
				    const struct contexts *contexts)
{
	const struct profile *profile = tree->profile;
	uint32_t *of_node = tracks_of_nodes(tracks, tree);
	uint32_t *of_context = grow_alloc(contexts->node_count *
					  sizeof(*of_context));

	memset(of_context, 0xff, contexts->node_count * sizeof(*of_context));
	for (size_t i = 0; i < contexts->cost_count; i++) {
		uint32_t self = profile->self_of_cost[i];

		if (self != PROFILE_NONE)
			of_context[contexts->costs[i].node] =
				of_node[around(tree,
					profile->self_costs[self].node)];
	}
	free(of_node);
	return of_context;
}

/* ---- live bytes ---- */

static void write_rows(struct follower *f, uint64_t stamp)
{
	struct flame_tracks *tracks = f->tracks;

	while (f->row < tracks->rows && timeline_stamp(
			f->timeline, (f->row + 1) * tracks->step) <= stamp) {
		memcpy(tracks->live + f->row * tracks->count, f->live,
		       tracks->count * sizeof(*f->live));
		f->row++;
	}
}

static void add(struct follower *f, const struct export_block *block,
		uint64_t bytes)
{
	uint32_t track = f->of_context[block->node];

	write_rows(f, block->stamp);
	if (track != PROFILE_NONE)
		f->live[track] += bytes;
}

static void take_alloc(void *owner, const struct export_block *block)
{
	add(owner, block, block->block->size);
}

static void take_end(void *owner, const struct export_block *block)
{
	add(owner, block, -block->block->size);
}

/* Not possible for a pipe, which is read once; for a moment, where nothing is
 * freed; or for a sample, where a block stands for others. */
static bool can_follow(struct export *export)
{
	return model_timeline(export->model)->count > 0 &&
		!model_is_sampled(export->model) &&
		!model_is_of_moment(export->model) &&
		model_can_be_read_again(export->trace, NULL);
}

bool flame_tracks_follow(struct flame_tracks *tracks, struct export *export,
			 const struct flame_tree *tree)
{
	const struct model *model = export->model;
	struct follower f = { .tracks = tracks, .timeline = model_timeline(model) };
	const struct export_follower follower = {
		.owner = &f, .alloc = take_alloc, .end = take_end,
	};
	int status;

	*tracks = (struct flame_tracks){ 0 };
	if (!can_follow(export))
		return false;
	tracks->step = (model_timeline(model)->count + ROWS_MAX - 1) / ROWS_MAX;
	tracks->rows = (model_timeline(model)->count + tracks->step - 1) /
		tracks->step;
	choose(tracks, tree);
	tracks->live = grow_zeroed(tracks->rows * tracks->count,
				   sizeof(*tracks->live));
	f.live = grow_zeroed(tracks->count, sizeof(*f.live));
	f.of_context = tracks_of_contexts(tracks, tree, model_contexts(model));
	/* Free memory for the second pass. */
	profile_keep_frames(export->profile);
	status = export_follow(export, &follower);
	write_rows(&f, UINT64_MAX);
	free(f.live);
	free(f.of_context);
	return status != EXIT_NOTHING;
}

void flame_tracks_free(struct flame_tracks *tracks)
{
	free(tracks->nodes);
	free(tracks->live);
}
