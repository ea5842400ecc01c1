/*
 * massif.c: the format of Valgrind's Massif, for ms_print and
 * massif-visualizer: snapshots of live bytes from start to end. Two of them
 * have a tree of who allocated: one exactly at the peak, and the end.
 *
 *	snapshots ─ the timeline's buckets, several merged into one
 *		  ─ with filters on stacks, which the timeline lacks:
 *		    a second pass over the trace
 *		  ─ the allocator's overhead of live blocks, its headers and
 *		    rounding: from the second pass, too
 *	tree	  ─ bottom-up from the sites, as in `report --tree`; nodes
 *		    below Massif's threshold or deeper than DEPTH_MAX
 *		    are summed
 *
 * With --alive-at nothing is freed: there is one tree, at the end, and the
 * curve shows when the blocks were allocated. With other filters, more may have
 * been live than at the peak, which is the program's. Then a snapshot is marked
 * as the peak only if it is the largest (I1).
 *
 * Cumulative costs (--cost total, count) have their own curve, whose peak is
 * the end. Temporary blocks have only the end.
 */
#include "cli/export/exporters.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/grow.h"
#include "cli/base/status.h"
#include "cli/export/valgrind.h"
#include "cli/model/heap.h"
#include "cli/model/stats/timeline.h"
#include "cli/stack/profile_walk.h"
#include "unwind/base/assertion.h"

#define SNAPSHOTS 100u		/* on the curve: Massif's own limit */
#define THRESHOLD 100u		/* …th of the snapshot: Massif's 1 % */
#define THRESHOLD_TEXT "1.00%"
#define DEPTH_MAX 200		/* readers recurse and indent each level */
#define TICK_NS 1000000		/* a millisecond: ms_print's resolution */
/* ms_print treats text after COMMENT as a comment. COMMENT_SHOWN is the
 * look-alike "fullwidth number sign". */
#define COMMENT '#'
#define COMMENT_SHOWN "\xef\xbc\x83"

/* A branch of the tree above the threshold. */
struct branch {
	uint32_t shown, small;	/* number of children shown, and not shown */
	uint64_t small_bytes;
};

struct massif {
	struct export *export;
	const struct profile *profile;
	struct buffer text;
	unsigned number;	/* number of the next snapshot */
	/* The curve: live bytes at the end of each of `rows` spans, and the
	 * allocator's overhead. */
	uint64_t values[SNAPSHOTS], extras[SNAPSHOTS];
	size_t rows, step;	/* buckets in a span */
	/* The second pass. */
	uint64_t now, extra;
	size_t row;		/* next row to fill */
	/* Of the allocations at the peak's stamp, the one with most live
	 * bytes. */
	uint64_t peak_now, peak_extra;
	bool peak_met, peak_over;
	/* The tree: counted first, then written. */
	enum measure key;
	uint64_t min;
	bool counting;
	struct branch *branches;	/* in walk order; the first */
	size_t branch_count, branch_capacity;
	size_t *path;		/* enclosing branches, by depth + 1 */
	size_t path_capacity;
};

static bool grows(const struct massif *m)
{
	return m->key != MEASURE_LIVE && m->key != MEASURE_PEAK;
}

/* Write a text and end the line. */
static void put_text(struct massif *m, const char *text)
{
	for (; *text != 0; text++)
		if (*text == COMMENT)
			fputs(COMMENT_SHOWN, m->export->out);
		else
			fputc(*text, m->export->out);
	fputc('\n', m->export->out);
}

/* ---- the curve ---- */

static void from_timeline(struct massif *m)
{
	const struct timeline *timeline = model_timeline(m->export->model);
	uint64_t sum = 0;

	for (size_t i = 0; i < timeline->count; i++) {
		const struct timeline_bucket *bucket = &timeline->buckets[i];

		sum += m->key == MEASURE_COUNT ? bucket->allocations :
			bucket->allocated_bytes;
		m->values[i / m->step] = grows(m) ? sum : bucket->live_bytes;
	}
}

/* Write the rows that end before this stamp. */
static void advance(struct massif *m, uint64_t stamp)
{
	const struct model *model = m->export->model;

	while (m->row < m->rows &&
	       timeline_stamp(model_timeline(model), (m->row + 1) * m->step) <=
			stamp) {
		DEBUG_ASSERT(m->row < SNAPSHOTS);
		m->extras[m->row] = m->extra;
		m->values[m->row++] = m->now;
	}
	if (m->peak_over || stamp <= model_peak_stamp(model))
		return;
	m->peak_over = true;
	if (!m->peak_met)
		m->peak_extra = m->extra;
}

static void take_alloc(void *owner, const struct export_block *block)
{
	struct massif *m = owner;

	advance(m, block->stamp);
	m->now += m->key == MEASURE_COUNT ? 1 : block->block->size;
	m->extra += heap_extra(block->block);
	if (block->stamp != model_peak_stamp(m->export->model) ||
	    m->now < m->peak_now)
		return;
	m->peak_met = true;
	m->peak_now = m->now;
	m->peak_extra = m->extra;
}

static void take_end(void *owner, const struct export_block *block)
{
	struct massif *m = owner;

	advance(m, block->stamp);
	m->now -= block->block->size;
	m->extra -= heap_extra(block->block);
}

/* Not possible for a pipe, which is read once, nor for a sample, where a block
 * stands for others. */
static bool follow(struct massif *m)
{
	const struct export_follower follower = {
		.owner = m, .alloc = take_alloc,
		.end = grows(m) ? NULL : take_end,
	};

	if (model_is_sampled(m->export->model) ||
	    !model_can_be_read_again(m->export->trace, NULL) ||
	    export_follow(m->export, &follower) == EXIT_NOTHING)
		return false;
	advance(m, UINT64_MAX);
	return true;
}

static void find_curve(struct massif *m)
{
	const struct timeline *timeline = model_timeline(m->export->model);
	bool followed, again;

	if (timeline->count == 0 || m->key == MEASURE_TEMPORARY)
		return;
	m->step = (timeline->count + SNAPSHOTS - 1) / SNAPSHOTS;
	m->rows = (timeline->count + m->step - 1) / m->step;
	assert(m->rows <= SNAPSHOTS);
	/* The timeline has neither stacks nor moments. Cumulative costs have no
	 * allocator overhead. */
	again = m->export->keep != NULL ||
		(model_is_of_moment(m->export->model) && !grows(m));
	followed = (again || !grows(m)) && follow(m);
	if (!again)
		from_timeline(m);
	else if (!followed)
		m->rows = 0;	/* peak and end remain */
}

/* ---- a tree ---- */

static uint64_t value_of(const struct massif *m,
			 const struct figures *figures)
{
	return profile_value(m->profile, figures, m->key);
}

static void put_line(struct massif *m, unsigned depth, size_t below,
		     uint64_t bytes, const char *text)
{
	fprintf(m->export->out, "%*sn%zu: %" PRIu64 " ", (int)depth, "",
		below, bytes);
	put_text(m, text);
}

static void put_small(struct massif *m, unsigned depth,
		      const struct branch *branch)
{
	if (branch->small == 0)
		return;
	fprintf(m->export->out, "%*sn0: %" PRIu64 " in %" PRIu32 " place%s "
		"below massif's threshold (%s)\n", (int)depth, "",
		branch->small_bytes, branch->small,
		branch->small == 1 ? "," : "s, all", THRESHOLD_TEXT);
}

static size_t lines_below(const struct branch *branch)
{
	return (size_t)branch->shown + (branch->small > 0);
}

static size_t new_branch(struct massif *m)
{
	if (m->counting) {
		GROW(m->branches, m->branch_count, m->branch_capacity);
		m->branches[m->branch_count] = (struct branch){ 0 };
	}
	return m->branch_count++;
}

static bool enter(void *owner, const struct profile_branch *branch)
{
	struct massif *m = owner;
	struct branch *around = &m->branches[m->path[branch->depth]];
	uint64_t value = value_of(m, branch->inclusive);
	size_t number;

	if (value < m->min) {
		around->small += m->counting;
		around->small_bytes += m->counting ? value : 0;
		return false;
	}
	around->shown += m->counting;
	number = new_branch(m);
	DEBUG_ASSERT(number < m->branch_count);
	GROW_TO(m->path, m->path_capacity, branch->depth + 1);
	m->path[branch->depth + 1] = number;
	if (!m->counting)
		put_line(m, branch->depth + 1,
			 lines_below(&m->branches[number]), value,
			 valgrind_frame(&m->text,
				&m->profile->frames[branch->frame]));
	return true;
}

static void leave(void *owner, const struct profile_branch *branch)
{
	struct massif *m = owner;

	if (!m->counting && value_of(m, branch->inclusive) >= m->min)
		put_small(m, branch->depth + 2,
			  &m->branches[m->path[branch->depth + 1]]);
}

static void walk_tree(struct massif *m, bool counting)
{
	const struct profile_walk walk = {
		.bottom_up = true,
		.from_site = true,
		.key = m->key,
		.min = 1,
		.depth_max = DEPTH_MAX,
		.enter = enter,
		.leave = leave,
		.owner = m,
	};

	m->counting = counting;
	m->branch_count = 0;
	GROW_TO(m->path, m->path_capacity, 0);
	m->path[0] = new_branch(m);
	if (counting || m->branches[0].shown + m->branches[0].small > 0)
		profile_walk(m->profile, &walk);
}

static void write_tree(struct massif *m, uint64_t whole)
{
	m->min = whole / THRESHOLD + (whole % THRESHOLD > 0);
	if (m->min == 0)
		m->min = 1;
	walk_tree(m, true);
	put_line(m, 0, lines_below(&m->branches[0]), whole,
		 "(heap allocation functions) malloc/new/new[], "
		 "--alloc-fns, etc.");
	walk_tree(m, false);
	put_small(m, 1, &m->branches[0]);
}

/* ---- snapshots ---- */

static void put_snapshot(struct massif *m, uint64_t ns, uint64_t value,
			 uint64_t extra, const char *tree)
{
	/* Massif writes whole milliseconds; readers accept fractions. */
	fprintf(m->export->out, "#-----------\nsnapshot=%u\n#-----------\n"
		"time=%" PRIu64 ".%06" PRIu64 "\nmem_heap_B=%" PRIu64 "\n"
		"mem_heap_extra_B=%" PRIu64 "\nmem_stacks_B=0\n"
		"heap_tree=%s\n", m->number++, ns / TICK_NS, ns % TICK_NS,
		value, grows(m) ? 0 : extra, tree);
}

static void put_detailed(struct massif *m, uint64_t ns, enum measure key,
			 uint64_t value, uint64_t extra, const char *tree)
{
	m->key = key;
	put_snapshot(m, ns, value, extra, tree);
	write_tree(m, value);
}

/* Write the curve's snapshots before a moment. */
static void put_curve(struct massif *m, size_t *row, uint64_t until_ns)
{
	const struct model *model = m->export->model;

	for (; *row < m->rows; ++*row) {
		uint64_t ns = model_since_start_ns(model, timeline_stamp(
			model_timeline(model), (*row + 1) * m->step));

		if (ns >= until_ns)
			break;
		put_snapshot(m, ns, m->values[*row], m->extras[*row], "empty");
	}
}

static uint64_t max_of_curve(const struct massif *m)
{
	uint64_t max = 0;

	for (size_t i = 0; i < m->rows; i++)
		if (m->values[i] > max)
			max = m->values[i];
	return max;
}

/* I1: whether a peak of so many bytes is the maximum with the filters. */
static bool is_max(const struct massif *m, uint64_t bytes, uint64_t other)
{
	const struct export *export = m->export;

	if (!model_is_selected(export->model) && export->keep == NULL)
		return true;
	return bytes > 0 && bytes >= other && bytes >= max_of_curve(m);
}

/* The whole curve, with the program's peak at its time. */
static void put_live(struct massif *m, const struct figures *whole,
		     uint64_t peak_ns, uint64_t end_ns)
{
	bool at_peak = !model_is_of_moment(m->export->model) &&
		is_max(m, whole->peak_bytes, whole->live_bytes);
	bool at_end = !at_peak && is_max(m, whole->live_bytes, 0);
	size_t row = 0;

	if (!model_is_of_moment(m->export->model) && whole->peak_bytes > 0) {
		put_curve(m, &row, peak_ns);
		put_detailed(m, peak_ns, MEASURE_PEAK, whole->peak_bytes,
			     m->peak_extra, at_peak ? "peak" : "detailed");
	}
	put_curve(m, &row, end_ns);
	put_detailed(m, end_ns, MEASURE_LIVE, whole->live_bytes, m->extra,
		     at_end ? "peak" : "detailed");
}

static void put_snapshots(struct massif *m)
{
	const struct model *model = m->export->model;
	uint64_t end_ns = model_duration_ns(model);
	uint64_t peak_ns = model_since_start_ns(model,
						model_peak_stamp(model));
	struct figures whole = { 0 };
	size_t row = 0;

	profile_inclusive(m->profile, PROFILE_ROOT, 0, &whole);
	put_snapshot(m, 0, 0, 0, "empty");
	if (grows(m)) {
		put_curve(m, &row, end_ns);
		put_detailed(m, end_ns, m->key, value_of(m, &whole), 0, "peak");
		return;
	}
	put_live(m, &whole, peak_ns > end_ns ? end_ns : peak_ns, end_ns);
}

/* What the numbers are, if not bytes that are live. */
static const char *other_than_live(const struct massif *m)
{
	switch (m->key) {
	case MEASURE_TOTAL:
		return ", bytes allocated so far";
	case MEASURE_COUNT:
		return ", number of allocations so far";
	case MEASURE_TEMPORARY:
		return ", number of temporary allocations";
	default:
		return "";
	}
}

static void put_head(struct massif *m)
{
	valgrind_about(&m->text, m->export);
	buffer_string(&m->text, other_than_live(m));
	fputs("desc: ", m->export->out);
	put_text(m, m->text.data);
	valgrind_command(&m->text, m->export);
	fputs("cmd: ", m->export->out);
	put_text(m, m->text.data);
	fputs("time_unit: ms\n", m->export->out);
}

static int write_massif(struct export *export)
{
	struct massif m = { .export = export, .profile = export->profile,
			    .key = export->cost };

	find_curve(&m);
	put_head(&m);
	put_snapshots(&m);
	buffer_free(&m.text);
	free(m.branches);
	free(m.path);
	return EXIT_COMPLETE;
}

const struct exporter export_massif = {
	.name = "massif",
	.what = "Massif's snapshots: ms_print, massif-visualizer",
	.wants_profile = true,
	.wants = MODEL_WANT_TIMELINE,
	.write = write_massif,
};
