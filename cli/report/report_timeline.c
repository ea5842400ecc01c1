/*
 * report_timeline.c: see report.h. The run is divided into pieces of equal
 * length, a line each. Called by the main thread.
 */
#include "cli/report/report.h"

#include <stdlib.h>

#include "cli/base/grow.h"
#include "cli/base/text/quantity.h"
#include "cli/model/model.h"
#include "cli/model/stats/timeline.h"

#define PIECES 16
#define BAR 14			/* columns of the largest */

struct piece {
	uint64_t live_bytes, live_blocks;	/* maximum, */
	uint64_t last_bytes, last_blocks;	/* and at its end */
	uint64_t allocations, bytes;
	uint64_t resident;			/* maximum */
	bool any;				/* has a bucket */
};

/* A bucket's allocations count for the piece in which the bucket begins; a
 * piece without buckets keeps the live memory of the piece before. */
static void gather(const struct report *r, struct piece *pieces)
{
	const struct timeline *timeline = model_timeline(r->model);
	uint64_t (*memory)[GT_USAGE_VALUES] =
		grow_zeroed(timeline->count + 1, sizeof(*memory));

	timeline_memory(timeline, model_footprint(r->model), memory);
	for (size_t i = 0; i < timeline->count; i++) {
		const struct timeline_bucket *bucket = &timeline->buckets[i];
		uint64_t ns = model_since_start_ns(r->model,
					timeline_stamp(timeline, i));
		size_t at = (size_t)((unsigned __int128)ns * PIECES /
				     (r->end_ns + 1));
		struct piece *piece = &pieces[at < PIECES ? at : PIECES - 1];

		piece->any = true;
		piece->allocations += bucket->allocations;
		piece->bytes += bucket->allocated_bytes;
		if (bucket->live_bytes_max > piece->live_bytes)
			piece->live_bytes = bucket->live_bytes_max;
		if (bucket->live_blocks_max > piece->live_blocks)
			piece->live_blocks = bucket->live_blocks_max;
		piece->last_bytes = bucket->live_bytes;
		piece->last_blocks = bucket->live_blocks;
		if (memory[i][GT_USAGE_RSS] > piece->resident)
			piece->resident = memory[i][GT_USAGE_RSS];
	}
	free(memory);
	for (size_t i = 1; i < PIECES; i++)
		if (!pieces[i].any) {
			pieces[i] = pieces[i - 1];
			pieces[i].live_bytes = pieces[i].last_bytes;
			pieces[i].live_blocks = pieces[i].last_blocks;
			pieces[i].allocations = pieces[i].bytes = 0;
		}
}

static uint64_t per_second(uint64_t count, uint64_t ns)
{
	return ns == 0 ? 0 : (uint64_t)((double)count * 1e9 / (double)ns);
}

static void put_piece(const struct report *r, const struct piece *piece,
		      size_t i, uint64_t max)
{
	static const char bar[BAR + 1] = "##############";
	uint64_t ns = r->end_ns / PIECES;
	int length = max == 0 ? 0 : (int)((double)piece->live_bytes * BAR /
					  (double)max + 0.5);

	fprintf(r->out, "  %8s %8s %10s ",
		TIME_TEXT(r->end_ns * (i + 1) / PIECES),
		SIZE_TEXT(piece->live_bytes), COUNT_TEXT(piece->live_blocks));
	fprintf(r->out, "%11s %8s ",
		COUNT_TEXT(per_second(piece->allocations, ns)),
		SIZE_TEXT(per_second(piece->bytes, ns)));
	fprintf(r->out, "%8s%s%s%.*s%s\n",
		piece->resident == 0 ? "-" : SIZE_TEXT(piece->resident),
		length > 0 ? "  " : "", r->style->share, length, bar,
		r->style->off);
}

void report_timeline_text(const struct report *r)
{
	struct piece pieces[PIECES] = { 0 };
	uint64_t max = 0;

	if (r->model == NULL || model_timeline(r->model)->count == 0)
		return;
	gather(r, pieces);
	for (size_t i = 0; i < PIECES; i++)
		if (pieces[i].live_bytes > max)
			max = pieces[i].live_bytes;
	fprintf(r->out, "\n%sOVER TIME%s: largest live memory in each "
		"sixteenth of the run, allocation\nrate, and resident memory "
		"of the whole process\n\n",
		r->style->title, r->style->off);
	fprintf(r->out, "  %8s %8s %10s %11s %8s %8s\n", "until", "live",
		"blocks", "allocs/s", "bytes/s", "resident");
	for (size_t i = 0; i < PIECES; i++)
		put_piece(r, &pieces[i], i, max);
	if (r->about.coverage.left_out.allocations > 0)
		fprintf(r->out, "\n  without %s of which only sums are known\n",
			COUNTED(r->about.coverage.left_out.allocations,
				"block"));
}
