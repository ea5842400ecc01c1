/*
 * report_pages_text.c: --pages as text. See report_pages.h. Called by the main
 * thread.
 */
#include "cli/report/report_pages.h"

#include <inttypes.h>
#include <stdlib.h>

#include "cli/base/grow.h"
#include "cli/base/sort.h"
#include "cli/base/text/quantity.h"
#include "cli/model/core/blocks.h"
#include "cli/model/core/pools.h"
#include "cli/model/filters.h"
#include "cli/model/heap.h"
#include "cli/model/stats/footprint.h"

#define SHOWN 8			/* mappings, and heaps, largest first */
#define TOPS 3			/* heaps whose highest block is shown */
#define PATH_WIDTH 42
#define FRAME_INDENT 9
#define PART 12			/* width of a part's name */

/* ---- rows ---- */

static uint64_t bytes_of(const struct pages *pages, uint64_t count)
{
	return count * pages->page_size;
}

void report_pages_row(const struct report *r, const struct report_pages *found,
		      size_t row)
{
	const struct pages *pages = found->pages;
	const struct pages_group *group = found->groups[row];

	fprintf(r->out, "%s%6s%s  %s%s%s of pages for %s in %s", r->style->share,
		PERCENT_TEXT(group->shared_bytes,
			     bytes_of(pages, pages->sum.pages)),
		r->style->off, r->style->share, SIZE_TEXT(group->shared_bytes),
		r->style->off, SIZE_TEXT(group->live_bytes),
		COUNTED(group->blocks, "block"));
	fprintf(r->out, "; %s alone", SIZE_TEXT(group->alone_bytes));
	if (group->resident_bytes < group->shared_bytes &&
	    pages->snapshot != NULL)
		fprintf(r->out, "\n%*sof that %s at most resident",
			FRAME_INDENT, "", SIZE_TEXT(group->resident_bytes));
}

/* ---- tables ---- */

static void put_head(const struct report *r, const char *what)
{
	fprintf(r->out, "\n  %13s %6s %10s   %s\n", "pages", "share", "live",
		what);
}

static void put_sum(const struct report *r, const struct pages *pages,
		    const struct pages_sum *sum)
{
	fprintf(r->out, "  %13s %s%6s%s %10s   ", COUNT_TEXT(sum->pages),
		r->style->share, PERCENT_TEXT(sum->pages, pages->sum.pages),
		r->style->off, SIZE_TEXT(sum->live_bytes));
}

static void put_uses(const struct report *r, const struct pages *pages)
{
	put_head(r, "how much of a page is live");
	for (unsigned i = 0; i < PAGES_USES; i++) {
		if (pages->use[i].pages == 0)
			continue;
		put_sum(r, pages, &pages->use[i]);
		if (i == 0)
			fprintf(r->out, "up to %u%%\n", pages_use_percent[i]);
		else
			fprintf(r->out, "%u%% - %u%%\n",
				pages_use_percent[i - 1],
				pages_use_percent[i]);
	}
}

static void put_more(const struct report *r, const struct pages *pages,
		     const struct pages_sum *sum, size_t count)
{
	if (count == 0)
		return;
	put_sum(r, pages, sum);
	fprintf(r->out, "%zu more\n", count);
}

static void add(struct pages_sum *sum, const struct pages_sum *more)
{
	sum->pages += more->pages;
	sum->live_bytes += more->live_bytes;
}

/* ---- heaps ---- */

/* Most pages first. */
static int by_pages(const void *a, const void *b)
{
	const struct pages_heap *x = *(const struct pages_heap *const *)a;
	const struct pages_heap *y = *(const struct pages_heap *const *)b;

	return sort_down(x->sum.pages, y->sum.pages) ?:
	       sort_up(x->begin, y->begin);
}

static void put_heap(const struct report *r, const struct pages_heap *heap)
{
	static const char *const names[HEAP_PARTS] = {
		[HEAP_MAIN] = "the main arena", [HEAP_OTHER] = "another arena",
		[HEAP_MMAPPED] = "blocks in mappings of their own",
		[HEAP_UNKNOWN] = "another allocator's, or unknown",
	};

	fputs(names[heap->part], r->out);
	if (heap->has_top)
		fprintf(r->out, ", 0x%" PRIx64 ", %s", heap->begin,
			SIZE_TEXT(heap->end - heap->begin));
	putc('\n', r->out);
}

/* The highest block of a heap, which keeps the heap from shrinking. */
static void put_top(struct report *r, const struct pages_heap *heap)
{
	fprintf(r->out, "     heap at 0x%" PRIx64 ": %s at 0x%" PRIx64
		", %s above the next block\n", heap->begin,
		SIZE_TEXT(heap->top->size), pools_address(heap->top->address),
		SIZE_TEXT(heap->top_bytes));
	report_load_context(r, model_node_of(r->model, heap->top));
	if (r->stack.count > 0)
		report_frame(r, &r->stack.list[r->stack.site], FRAME_INDENT);
}

static void put_tops(struct report *r, const struct pages_heap *const *heaps,
		     size_t count)
{
	size_t reported = 0;

	for (size_t i = 0; i < count && reported < TOPS; i++) {
		if (!heaps[i]->has_top)
			continue;
		if (reported++ == 0)
			fprintf(r->out, "\n  highest blocks, each keeping its "
				"heap from shrinking:\n");
		put_top(r, heaps[i]);
	}
}

static void put_heaps(struct report *r, const struct pages *pages)
{
	const struct pages_heap **heaps =
		grow_alloc(pages->heap_count * sizeof(*heaps));
	size_t shown = pages->heap_count < SHOWN ? pages->heap_count : SHOWN;
	struct pages_sum rest = { 0 };

	for (size_t i = 0; i < pages->heap_count; i++)
		heaps[i] = &pages->heaps[i];
	SORT(heaps, pages->heap_count, by_pages);
	put_head(r, "heap: where, from first to last block");
	for (size_t i = 0; i < shown; i++) {
		put_sum(r, pages, &heaps[i]->sum);
		put_heap(r, heaps[i]);
	}
	for (size_t i = shown; i < pages->heap_count; i++)
		add(&rest, &heaps[i]->sum);
	put_more(r, pages, &rest, pages->heap_count - shown);
	put_tops(r, heaps, pages->heap_count);
	free(heaps);
}

/* ---- mappings ---- */

static int by_mapping_pages(const void *a, const void *b)
{
	const struct pages_mapping *x = *(const struct pages_mapping *const *)a;
	const struct pages_mapping *y = *(const struct pages_mapping *const *)b;

	return sort_down(x->sum.pages, y->sum.pages) ?:
	       sort_up((uintptr_t)x, (uintptr_t)y);
}

static void put_path(const struct report *r, const char *path)
{
	if (path == NULL)
		fprintf(r->out, "unknown");
	else if (path[0] == 0)
		fprintf(r->out, "memory of no file");
	else
		report_put_path(r->out, path, PATH_WIDTH,
				r->options->full_names);
	putc('\n', r->out);
}

static void put_mappings(const struct report *r, const struct pages *pages)
{
	const struct pages_mapping **mappings =
		grow_alloc(pages->mapping_count * sizeof(*mappings));
	struct pages_sum rest = { 0 };
	size_t count = 0, shown;

	for (size_t i = 0; i < pages->mapping_count; i++)
		if (pages->mappings[i].sum.pages > 0)
			mappings[count++] = &pages->mappings[i];
	SORT(mappings, count, by_mapping_pages);
	shown = count < SHOWN ? count : SHOWN;
	put_head(r, "in which mapping");
	for (size_t i = 0; i < shown; i++) {
		put_sum(r, pages, &mappings[i]->sum);
		put_path(r, mappings[i]->path);
	}
	for (size_t i = shown; i < count; i++)
		add(&rest, &mappings[i]->sum);
	put_more(r, pages, &rest, count - shown);
	free(mappings);
}

/* ---- the whole ---- */

static uint64_t distance(uint64_t a, uint64_t b)
{
	return a > b ? a - b : b - a;
}

static void put_name(const struct report *r,
		     const struct footprint_snapshot *snapshot)
{
	putc('"', r->out);
	report_put_text(r->out, snapshot->name, GT_NAME_MAX);
	putc('"', r->out);
}

static void put_resident(const struct report *r, const struct pages *pages)
{
	const struct pages_resident *resident = &pages->resident;

	if (pages->snapshot == NULL) {
		fprintf(r->out, "  How much of it is resident is unknown: "
			"there is no snapshot.\n");
		return;
	}
	if (resident->min_bytes == resident->max_bytes)
		fprintf(r->out, "  Resident is %s of it",
			SIZE_TEXT(resident->max_bytes));
	else
		fprintf(r->out, "  Resident is %s of it at most, %s at least",
			SIZE_TEXT(resident->max_bytes),
			SIZE_TEXT(resident->min_bytes));
	fprintf(r->out, ": by snapshot ");
	put_name(r, pages->snapshot);
	fprintf(r->out, ",\n  taken after %s, %s from then.\n",
		TIME_TEXT(pages->snapshot_ns),
		TIME_TEXT(distance(pages->snapshot_ns, pages->moment_ns)));
}

static void put_missing(const struct report *r, const struct pages *pages)
{
	uint64_t sums = r->about.coverage.left_out.live_blocks;

	if (sums > 0)
		fprintf(r->out, "  Of %s (%s) only sums are known: they are on "
			"no page here.\n", COUNTED(sums, "more block"),
			SIZE_TEXT(r->about.coverage.left_out.live_bytes));
	if (filter_text(r->options->query->filter)[0] != 0)
		fprintf(r->out, "  Blocks that the filters leave out are "
			"treated as free.\n");
	if (pages->cut > 0)
		fprintf(r->out, "  Of %s that overlap many others, only the "
			"first pages are counted.\n",
			COUNTED(pages->cut, "block"));
}

void report_pages_text(struct report *r, const struct report_pages *found)
{
	const struct pages *pages = found->pages;
	uint64_t bytes = bytes_of(pages, pages->sum.pages);

	fprintf(r->out, "\n%sPAGES%s: pages with blocks live %s\n\n",
		r->style->title, r->style->off,
		query_is_of_moment(r->options->query) ? "at that moment" :
		r->about.being_written ? "now" : "at the end");
	if (pages->sum.pages == 0) {
		fprintf(r->out, "      none\n");
		put_missing(r, pages);
		return;
	}
	fprintf(r->out, "  %s in %s on %s of %s (%s),\n",
		SIZE_TEXT(pages->sum.live_bytes),
		COUNTED(pages->blocks, "block"),
		COUNTED(pages->sum.pages, "page"), SIZE_TEXT(pages->page_size),
		SIZE_TEXT(bytes));
	fprintf(r->out, "  of which %s is live; %s with only one block.\n",
		PERCENT_TEXT(pages->sum.live_bytes, bytes),
		COUNTED(pages->single, "page"));
	put_resident(r, pages);
	put_missing(r, pages);
	put_uses(r, pages);
	put_heaps(r, pages);
	put_mappings(r, pages);
}

/* ---- resident memory ---- */

static void put_part(const struct report *r, const struct residency *residency,
		     unsigned part)
{
	fprintf(r->out, "  %-*s", PART, residency_names[part]);
	for (size_t i = 0; i < residency->count; i++)
		fprintf(r->out, "%9s",
			SIZE_TEXT(residency->list[i].part_bytes[part]));
	fprintf(r->out, "  %s\n", residency_meanings[part]);
}

static void put_points(const struct report *r,
		       const struct residency *residency)
{
	fprintf(r->out, "  %-*s", PART, "after");
	for (size_t i = 0; i < residency->count; i++)
		fprintf(r->out, "%9s", TIME_TEXT(residency->list[i].ns));
	fprintf(r->out, "\n  %-*s%s", PART, "resident", r->style->share);
	for (size_t i = 0; i < residency->count; i++)
		fprintf(r->out, "%9s", SIZE_TEXT(residency->list[i].rss_bytes));
	fprintf(r->out, "%s  all of it\n", r->style->off);
	for (unsigned part = 0; part < RESIDENCY_PARTS; part++)
		put_part(r, residency, part);
	fprintf(r->out, "  %-*s", PART, "uncertain");
	for (size_t i = 0; i < residency->count; i++)
		fprintf(r->out, "%9s",
			SIZE_TEXT(residency->list[i].bound_bytes));
	fprintf(r->out, "  of live and fragmented\n");
}

/* Whether the allocator gave out blocks that the trace lacks. */
static bool lacks_blocks(const struct coverage *coverage)
{
	return coverage->left_out.allocations > 0 ||
	       coverage->unrecorded.allocations > 0 ||
	       coverage->foreign_frees > 0 || coverage->dropped > 0;
}

void report_residency_text(const struct report *r,
			   const struct report_pages *found)
{
	const struct residency *residency = &found->residency;

	fprintf(r->out, "\n%sRESIDENT MEMORY%s: its parts at snapshots\n\n",
		r->style->title, r->style->off);
	if (residency->count == 0)
		fprintf(r->out, "      none: take some with gnomon snapshot, "
			"or gnomon run --snapshot-every\n");
	else
		put_points(r, residency);
	if (lacks_blocks(&r->about.coverage) && residency->count > 0)
		fprintf(r->out, "\n      blocks that are not in the trace "
			"count as free\n");
	if (residency->left_out > 0)
		fprintf(r->out, "\n      and %s: --json\n",
			COUNTED(residency->left_out, "more snapshot"));
}
