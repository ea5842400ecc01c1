/*
 * heaptrack.c: heaptrack's text format, version 3, for heaptrack_print and
 * heaptrack_gui: one line for each event. All numbers are hexadecimal.
 *
 * Its readers identify a block only by its pair of size and stack. They count a
 * block as temporary if the line of its free directly follows the line of its
 * allocation, ignoring lines that are not about blocks. The order of lines and
 * the dummy pair 0 make readers count the same as gnomon:
 *
 *  I1  Frees between two allocations are held until it is known whether the
 *      last allocated block is freed before the next allocation. If so, its
 *      line comes first. All others keep their order and times.
 *  I2  If a free could be taken for that of the last allocated block, a free of
 *      the dummy precedes it, which resets the reader.
 *  I3  Times never decrease: the reader would stop there.
 *
 * Memory use grows with contexts and live blocks. Called by the main thread.
 */
#include "cli/export/exporters.h"

#include <stdlib.h>

#include "cli/base/grow.h"
#include "cli/base/status.h"
#include "cli/export/heaptrack_stacks.h"
#include "cli/model/stats/footprint.h"

#define WRITER_VERSION 0x10400	/* heaptrack's version that defines these
				 * lines */
#define FORMAT_VERSION 3
#define MS_NS 1000000
#define KIB 1024

struct held {
	uint64_t stamp;
	uint32_t pair;
};

struct writing {
	struct export *export;
	struct compressed_file out;
	struct heaptrack_stacks stacks;
	uint32_t *pairs;	/* by block number */
	size_t pair_capacity;
	uint32_t last;		/* number of the last allocated block, */
	bool last_lives;	/* if no free was written after it */
	struct held *held;	/* I1 */
	size_t held_count, held_capacity;
	uint64_t ms;		/* of the last `c` line */
	uint64_t page_size;
	size_t point;		/* index of the next footprint point */
};

static void put(struct writing *w, char kind, uint64_t number)
{
	compressed_file_byte(&w->out, (uint8_t)kind);
	heaptrack_number(&w->out, number);
	compressed_file_byte(&w->out, '\n');
}

/* ---- time ---- */

static void put_ms(struct writing *w, uint64_t ms)
{
	if (ms <= w->ms)
		return;		/* I3 */
	w->ms = ms;
	put(w, 'c', ms);
}

/* The kernel's memory measures up to then. */
static void put_points(struct writing *w, uint64_t stamp)
{
	const struct model *model = w->export->model;
	const struct footprint *footprint = model_footprint(model);

	for (; w->point < footprint->point_count; w->point++) {
		const struct trace_usage *point =
			&footprint->points[w->point];

		if (point->stamp > stamp || !model_counts(model, point->stamp))
			return;
		put_ms(w, model_since_start_ns(model, point->stamp) / MS_NS);
		put(w, 'R', point->value[GT_USAGE_RSS] * KIB / w->page_size);
	}
}

static void go_to(struct writing *w, uint64_t stamp)
{
	put_points(w, stamp);
	put_ms(w, model_since_start_ns(w->export->model, stamp) / MS_NS);
}

/* ---- events ---- */

static void put_free(struct writing *w, uint64_t stamp, uint32_t pair)
{
	go_to(w, stamp);
	put(w, '-', pair);
}

static void put_held(struct writing *w)
{
	for (size_t i = 0; i < w->held_count; i++)
		put_free(w, w->held[i].stamp, w->held[i].pair);
	w->held_count = 0;
}

/* The last allocated block is not temporary. The dummy's line must follow an
 * allocation's line: otherwise the reader would count the dummy. */
static void put_held_apart(struct writing *w)
{
	if (w->last_lives && w->held_count > 0 &&
	    w->held[0].pair == w->pairs[w->last])
		put(w, '-', 0);	/* I2 */
	put_held(w);
}

static void take_alloc(void *owner, const struct export_block *block)
{
	struct writing *w = owner;

	put_held_apart(w);
	GROW_TO(w->pairs, w->pair_capacity, block->number);
	go_to(w, block->stamp);
	w->pairs[block->number] = heaptrack_pair(&w->stacks, block->block->size,
						 block->node);
	put(w, '+', w->pairs[block->number]);
	w->last = block->number;
	w->last_lives = true;
}

static void hold(struct writing *w, uint64_t stamp, uint32_t pair)
{
	GROW(w->held, w->held_count, w->held_capacity);
	w->held[w->held_count++] = (struct held){ stamp, pair };
}

static void take_end(void *owner, const struct export_block *block)
{
	struct writing *w = owner;
	uint32_t pair = w->pairs[block->number];

	if (!w->last_lives) {
		put_free(w, block->stamp, pair);
	} else if (block->number != w->last) {
		hold(w, block->stamp, pair);
	} else if (block->block->temporary) {
		put_free(w, w->held_count ? w->held[0].stamp : block->stamp,
			 pair);
		put_held(w);
		w->last_lives = false;
	} else {
		hold(w, block->stamp, pair);
		put_held_apart(w);
		w->last_lives = false;
	}
}

/* ---- head and tail ---- */

static void put_head(struct writing *w)
{
	LOCAL_BUFFER text = { 0 };

	compressed_file_byte(&w->out, 'v');
	heaptrack_number(&w->out, WRITER_VERSION);
	heaptrack_number(&w->out, FORMAT_VERSION);
	buffer_string(&text, "\nX ");
	model_command(w->export->model, &text);
	for (size_t i = 1; i < text.size; i++)
		if (text.data[i] == '\n' || text.data[i] == '\r')
			text.data[i] = ' ';
	buffer_string(&text, "\nI");
	compressed_file_bytes(&w->out, text.data, text.size);
	/* the machine's number of pages is unknown */
	heaptrack_number(&w->out, w->page_size);
	heaptrack_number(&w->out, 0);
	compressed_file_byte(&w->out, '\n');
}

static void put_tail(struct writing *w)
{
	const struct model *model = w->export->model;

	put_held_apart(w);
	put_points(w, UINT64_MAX);
	put_ms(w, model_duration_ns(model) / MS_NS);
	compressed_file_bytes(&w->out, "# strings:", 10);
	heaptrack_number(&w->out, w->stacks.strings.count);
	compressed_file_bytes(&w->out, "\n# ips:", 7);
	heaptrack_number(&w->out, w->stacks.ips);
	compressed_file_byte(&w->out, '\n');
}

static int write_heaptrack(struct export *export)
{
	struct writing *w = grow_zeroed(1, sizeof(*w));
	const struct export_follower follower = {
		.owner = w, .alloc = take_alloc, .end = take_end,
	};
	int status;

	w->export = export;
	w->page_size = model_page_size(export->model);
	compressed_file_begin(&w->out, export->out, export->output);
	heaptrack_stacks_init(&w->stacks, export->frames, &w->out);
	put_head(w);
	status = export_follow(export, &follower);
	/* An incomplete trace gets no tail. */
	if (status != EXIT_NOTHING)
		put_tail(w);
	compressed_file_end(&w->out);
	heaptrack_stacks_free(&w->stacks);
	free(w->pairs);
	free(w->held);
	free(w);
	return status;
}

const struct exporter export_heaptrack = {
	.name = "heaptrack",
	.what = "all events: heaptrack_print, heaptrack_gui (name the file "
		"*.zst)",
	.wants_blocks = true,
	.write = write_heaptrack,
};
