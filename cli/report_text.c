/*
 * report_text.c: a report for people, within 80 columns. It should need no
 * manual: every section says in a sentence what it shows, every figure has
 * its unit. Called by the main thread.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/grow.h"
#include "cli/base/quantity.h"
#include "cli/model/heap.h"
#include "cli/report.h"
#include "cli/symbol/names.h"

#define WIDTH 79
#define DEFAULT_ROWS 10
#define SITE_STACKS 3		/* shown under a site */
#define SITE_FRAMES 6		/* of each of them */
#define SITE_STACK_MIN 20	/* …th of the site: smaller ones are left out */
#define NAMELESS_MAX 5		/* libraries named */
#define FRAME_INDENT 9
#define FUNCTION_MIN 24

struct printer {
	struct model *model;
	struct frames *frames;
	const struct report_options *options;
	FILE *out;
	struct table shown;	/* context node -> section * 65536 + row */
	bool by_site;
	unsigned section;
};

/* ---- summary ---- */

/* Where the live blocks lie. The main arena is where nearly all programs have
 * nearly all of them: told where that is not so. */
static void put_heap(const struct printer *p)
{
	static const char *const texts[HEAP_UNKNOWN] = {
		"main arena", "other arenas", "mappings of their own"
	};
	struct heap_share shares[HEAP_PARTS];
	const char *gap = "  of it        ";
	char a[QUANTITY_TEXT], b[QUANTITY_TEXT];

	heap_shares(p->model, shares);
	for (unsigned i = 0; i < HEAP_UNKNOWN; i++) {
		if (shares[i].blocks == 0)
			continue;
		fprintf(p->out, "%s%s %s (usable %s)", gap, texts[i],
			quantity_size(a, (int64_t)shares[i].bytes),
			quantity_size(b, (int64_t)shares[i].usable));
		gap = ",\n               ";
	}
	if (gap[0] == ',')
		fprintf(p->out, "\n");
}

static void put_totals(const struct printer *p)
{
	const struct totals *totals = &p->model->totals;
	char a[QUANTITY_TEXT], b[QUANTITY_TEXT], c[QUANTITY_TEXT];

	fprintf(p->out, "  allocations  %s, %s in total\n",
		quantity_count(a, totals->allocations),
		quantity_size(b, (int64_t)totals->total_bytes));
	fprintf(p->out, "  frees        %s\n",
		quantity_count(a, totals->frees));
	fprintf(p->out, "  peak         %s in %s blocks, %s after the start\n",
		quantity_size(a, (int64_t)totals->peak_bytes),
		quantity_count(b, totals->peak_blocks),
		quantity_time(c, totals->peak_bytes == 0 ? 0 :
			      model_since_start_ns(p->model,
						   totals->peak_stamp)));
	fprintf(p->out, "  live         %s in %s blocks%s\n",
		quantity_size(a, (int64_t)totals->live_bytes),
		quantity_count(b, totals->live_blocks),
		p->model->report.being_written ? " now" :
		" at the end: leaked, or in use to the last");
	put_heap(p);
	fprintf(p->out, "  temporary    %s (%s of all allocations): freed "
		"before the\n               next allocation of their thread\n",
		quantity_count(a, totals->temporary),
		quantity_percent(b, totals->temporary, totals->allocations));
}

/* What the figures lack. Always told, also when it is nothing. */
/* All of the file could be read, whatever it is that it holds. */
static bool is_whole(const struct reader_report *report)
{
	return report->damage_count == 0 && report->malformed == 0 &&
	       report->lost_bytes == 0;
}

static void put_losses(const struct printer *p)
{
	const struct reader_report *report = &p->model->report;
	uint64_t dropped = model_dropped(p->model);
	uint64_t unpaired = p->model->totals.unpaired;
	char a[QUANTITY_TEXT], b[QUANTITY_TEXT];

	if (dropped == 0 && report->failed)
		fprintf(p->out, "  dropped      0 until recording stopped: what "
			"came later is missing\n");
	else if (dropped == 0 && !report->ended)
		fprintf(p->out, "  dropped      0 until the last event that "
			"is here\n");
	else if (dropped == 0)
		fprintf(p->out, "  dropped      0%s\n",
			is_whole(report) ? ": every event is here" :
						  "");
	else
		fprintf(p->out, "  dropped      %s events were lost (ring "
			"full, or no writer):\n               "
			"all figures are too low\n",
			quantity_count(a, dropped));
	if (unpaired > 0)
		fprintf(p->out, "  unpaired     %s frees without their "
			"allocation or the reverse\n",
			quantity_count(a, unpaired));
	else
		fprintf(p->out, "  unpaired     0\n");
	if (!is_whole(report))
		fprintf(p->out, "  damaged      %s places of the trace could "
			"not be read (%s of events)\n",
			quantity_count(a, report->damage_count +
				       report->malformed),
			quantity_size(b, (int64_t)report->lost_bytes));
	else
		fprintf(p->out, "  damaged      0\n");
}

static void put_summary(const struct printer *p)
{
	const struct model *model = p->model;
	const char *program = model_fact(model, GT_INFO, "exe");
	const char *command = model_fact(model, GT_INFO, "command");
	struct buffer end = { 0 }, line = { 0 };
	char a[QUANTITY_TEXT];

	model_exit_text(model, &end);
	fprintf(p->out, "%s\n\n", p->options->trace);
	fprintf(p->out, "  program      %s (pid %" PRIu64 ")\n",
		program ? program : "?",
		model_number(model, GT_INFO, "pid", 0));
	if (command != NULL && command[0] != 0) {
		buffer_string(&line, command);
		buffer_printable(&line);
		fprintf(p->out, "  command      %.*s%s\n", WIDTH - 18,
			line.data, line.size > WIDTH - 18 ? "..." : "");
	}
	fprintf(p->out, "  ran          %s, %" PRIu64 " thread%s; %s\n",
		quantity_time(a, model_duration_ns(model)),
		model_thread_count(model),
		model_thread_count(model) == 1 ? "" : "s", end.data);
	put_totals(p);
	report_memory_text(model, p->out);
	put_losses(p);
	buffer_free(&end);
	buffer_free(&line);
}

/* ---- stacks ---- */

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* "file:line:column  library" */
static void add_place(struct buffer *out, const struct frame *frame, bool full)
{
	if (frame->file != NULL) {
		buffer_printf(out, "%s", full ? frame->file :
			      base_name(frame->file));
		if (frame->line > 0)
			buffer_printf(out, ":%u", frame->line);
		if (frame->column > 0)
			buffer_printf(out, ":%u", frame->column);
	} else if (frame->library != NULL && frame->function == NULL) {
		buffer_printf(out, "at 0x%" PRIx64, frame->module_offset);
	}
	if (out->size > 0)
		buffer_string(out, "  ");
	if (frame->inlined)
		buffer_string(out, "(inlined)");
	else if (frame->library != NULL)
		buffer_string(out, frame->library);
}

static void put_frame(const struct printer *p, const struct frame *frame,
		      int indent)
{
	bool full = p->options->full_names;
	struct buffer place = { 0 }, name = { 0 };
	size_t width = WIDTH - (size_t)indent - 2;

	add_place(&place, frame, full);
	width = place.size + FUNCTION_MIN < width ? width - place.size :
		FUNCTION_MIN;
	if (frame->function == NULL)
		buffer_printf(&name, frame->library ? "??" : "0x%" PRIx64
			      " in no file", frame->address);
	else if (full)
		buffer_string(&name, frame->function);
	else
		names_brief(&name, frame->function, width);
	buffer_printable(&name);
	buffer_printable(&place);
	fprintf(p->out, "%*s%s%s%s\n", indent, "", name.data,
		place.size > 0 ? "  " : "", place.size > 0 ? place.data : "");
	buffer_free(&place);
	buffer_free(&name);
}

/* How many frames from `i` on are the same as frame `i`: recursion. */
static size_t same_frames(const struct frames *frames, size_t i, size_t end)
{
	const struct frame *a = &frames->list[i];
	size_t n = 1;

	for (; i + n < end; n++) {
		const struct frame *b = &frames->list[i + n];

		if (a->address != b->address || a->function != b->function ||
		    a->inlined || b->inlined)
			break;
	}
	return n;
}

static void put_stack(const struct printer *p, size_t first, size_t limit,
		      int indent)
{
	const struct frames *frames = p->frames;
	const char *stop = frames_stop_text(frames->stop);
	size_t end = frames->count, lines = 0, i;

	for (i = first; i < end && (limit == 0 || lines < limit ||
				    end - i == 1); lines++) {
		size_t same = same_frames(frames, i, end);

		put_frame(p, &frames->list[i], indent);
		if (same > 2)
			fprintf(p->out, "%*s(the same %zu times more)\n",
				indent, "", same - 1);
		i += same > 2 ? same : 1;
	}
	if (i < end) {
		fprintf(p->out, "%*s... %zu more up to\n", indent, "",
			end - 1 - i);
		put_frame(p, &frames->list[end - 1], indent);
	}
	if (stop != NULL)
		fprintf(p->out, "%*s[the stack ends here: %s]\n", indent, "",
			stop);
}

/* ---- sections ---- */

static const struct {
	const char *title;
	const char *meaning;
} sections[FIGURE_KEYS] = {
	[FIGURE_LIVE] = { "LIVE AT THE END", "blocks that were never freed: "
		"leaked, or in use until the end" },
	[FIGURE_PEAK] = { "PEAK", "what was live at the moment when the program "
		"held the most memory" },
	[FIGURE_TOTAL] = { "TOTAL", "all bytes ever allocated, whether freed or "
		"not" },
	[FIGURE_COUNT] = { "COUNT", "most allocations: where time goes into "
		"malloc and free" },
	[FIGURE_OWN_PEAK] = { "OWN PEAK", "the most that each held at any "
		"time, not all at once" },
	[FIGURE_LIFETIME] = { "LIFETIME", "how long freed blocks lived, on "
		"the average" },
	[FIGURE_AGE] = { "AGE", "time since the first allocation" },
	[FIGURE_TEMPORARY] = { "TEMPORARY", "freed before their thread's next "
		"allocation: often avoidable" },
};

/* The sections of a report that was not asked for one. */
static const enum figure overview[] = {
	FIGURE_LIVE, FIGURE_PEAK, FIGURE_TOTAL, FIGURE_COUNT, FIGURE_TEMPORARY
};

static uint64_t whole_of(const struct model *model, enum figure key)
{
	switch (key) {
	case FIGURE_LIVE:
		return model->totals.live_bytes;
	case FIGURE_PEAK:
		return model->totals.peak_bytes;
	case FIGURE_TOTAL:
		return model->totals.total_bytes;
	case FIGURE_COUNT:
		return model->totals.allocations;
	case FIGURE_TEMPORARY:
		return model->totals.temporary;
	default:
		return 0;	/* no sum means anything */
	}
}

static uint64_t value_of(const struct printer *p, const struct row *row,
			 enum figure key)
{
	return figures_value(&row->figures, key, model_duration_ns(p->model));
}

static void put_figures(const struct printer *p, const struct row *row,
			enum figure key)
{
	char a[QUANTITY_TEXT], b[QUANTITY_TEXT], share[QUANTITY_TEXT];
	const struct figures *figures = &row->figures;
	bool held = key == FIGURE_LIVE || key == FIGURE_PEAK;
	uint64_t value = value_of(p, row, key), blocks = figures->count;
	const char *unit = held ? "block" : "allocation", *plural;

	if (held)
		blocks = key == FIGURE_LIVE ? figures->live_blocks :
			figures->peak_blocks;
	plural = blocks == 1 ? "" : "s";
	quantity_percent(share, value, whole_of(p->model, key));
	if (key == FIGURE_COUNT)
		fprintf(p->out, "%6s  %s %s%s, %s in total", share,
			quantity_count(a, blocks), unit, plural,
			quantity_size(b, (int64_t)figures->total_bytes));
	else if (key == FIGURE_TEMPORARY)
		fprintf(p->out, "%6s  %s of %s %s%s", share,
			quantity_count(a, value), quantity_count(b, blocks),
			unit, plural);
	else
		fprintf(p->out, "%6s  %s in %s %s%s", share,
			quantity_size(a, (int64_t)value),
			quantity_count(b, blocks), unit, plural);
}

/* The frames of a context from `first` outward, unless shown before. */
static void put_once(struct printer *p, uint32_t node, enum figure key,
		     unsigned number, int indent)
{
	uint32_t before = table_get(&p->shown, node);
	size_t first = 0;

	frames_of(p->frames, node);
	/* Under a site's heading its stacks differ within it, too: in what
	 * the language's library did for it. */
	if (p->by_site)
		first = p->frames->site;
	if (indent > FRAME_INDENT && first > 0)
		first--;
	if (p->frames->count == 0) {
		fprintf(p->out, "%*s[no stack: %s]\n", indent, "",
			p->frames->stop == GT_STOP_BOTTOM ? "no caller" :
			frames_stop_text(p->frames->stop));
	} else if (before != TABLE_NONE) {
		if (indent == FRAME_INDENT)
			put_frame(p, &p->frames->list[p->frames->site],
				  indent);
		fprintf(p->out, "%*s(as in number %u of %s)\n", indent, "",
			before & 0xffff, sections[before >> 16].title);
	} else {
		put_stack(p, first, p->by_site ? SITE_FRAMES : 0, indent);
	}
	if (before == TABLE_NONE && number <= 0xffff)
		table_set(&p->shown, node, (uint32_t)key << 16 | number);
}

/* A site's largest stacks; they are the rows from `stacks`, `count` of them,
 * of which the site has more. */
static void put_site(struct printer *p, const struct row *site,
		     const struct row *const *stacks, unsigned count,
		     enum figure key, unsigned number)
{
	uint64_t least = value_of(p, site, key) / SITE_STACK_MIN;
	char more[QUANTITY_TEXT];

	if (site->contexts == 1) {
		put_once(p, site->node, key, number, FRAME_INDENT);
		return;
	}
	frames_of(p->frames, site->node);
	if (p->frames->count > 0)
		put_frame(p, &p->frames->list[p->frames->site], FRAME_INDENT);
	for (unsigned i = 0; i < count; i++) {
		if (i > 0 && value_of(p, stacks[i], key) <= least) {
			count = i;
			break;
		}
		fprintf(p->out, "%*s- ", FRAME_INDENT - 4, "");
		put_figures(p, stacks[i], key);
		putc('\n', p->out);
		put_once(p, stacks[i]->node, key, number, FRAME_INDENT + 4);
	}
	if (count < site->contexts)
		fprintf(p->out, "%*s- and %s more stack%s\n",
			FRAME_INDENT - 4, "",
			quantity_count(more, site->contexts - count),
			site->contexts - count == 1 ? "" : "s");
}

/* For each of the first `shown` sites, its largest contexts. */
static const struct row **largest_stacks(struct printer *p,
					 const struct rows *sites,
					 size_t shown, struct rows *stacks,
					 enum figure key)
{
	const struct row **largest = grow_zeroed(shown * SITE_STACKS,
						 sizeof(*largest));
	const struct rows_query query = { .key = key };
	struct table at = { 0 };

	rows_collect(p->model, &query, stacks);
	rows_sort(stacks);
	for (size_t i = 0; i < shown; i++)
		table_set(&at, sites->list[i].group, (uint32_t)i);
	for (size_t i = 0; i < stacks->count; i++) {
		uint32_t site = table_get(&at, frames_site_key(p->frames,
						stacks->list[i].node));
		const struct row **place = largest + site * SITE_STACKS;

		for (int k = 0; site != TABLE_NONE && k < SITE_STACKS; k++)
			if (place[k] == NULL) {
				place[k] = &stacks->list[i];
				break;
			}
	}
	table_free(&at);
	return largest;
}

static void put_rows(struct printer *p, const struct rows *rows, size_t shown,
		     enum figure key)
{
	const struct row **largest = NULL;
	struct rows stacks = { 0 };

	if (p->by_site)
		largest = largest_stacks(p, rows, shown, &stacks, key);
	for (size_t i = 0; i < shown; i++) {
		const struct row *row = &rows->list[i];
		unsigned number = (unsigned)i + 1, count = 0;

		fprintf(p->out, "\n%4u. ", number);
		put_figures(p, row, key);
		putc('\n', p->out);
		if (!p->by_site) {
			put_once(p, row->node, key, number, FRAME_INDENT);
			continue;
		}
		while (count < SITE_STACKS &&
		       largest[i * SITE_STACKS + count] != NULL)
			count++;
		put_site(p, row, largest + i * SITE_STACKS, count, key,
			 number);
	}
	free(largest);
	free(stacks.list);
}

static void put_section(struct printer *p, enum figure key)
{
	uint64_t top = p->options->top_given ? p->options->top : DEFAULT_ROWS;
	const char *title = sections[key].title;
	const struct rows_query query = {
		key, p->by_site ? frames_site_key : NULL, NULL, p->frames
	};
	struct rows rows;
	size_t shown, nonzero = 0;

	if (key == FIGURE_LIVE && p->model->report.being_written)
		title = "LIVE NOW";
	rows_collect(p->model, &query, &rows);
	rows_sort(&rows);
	while (nonzero < rows.count && row_value(&rows, &rows.list[nonzero]) > 0)
		nonzero++;
	shown = top != 0 && top < nonzero ? top : nonzero;
	fprintf(p->out, "\n%s: %s\n", title, sections[key].meaning);
	if (nonzero == 0)
		fprintf(p->out, "\n      none\n");
	else
		put_rows(p, &rows, shown, key);
	if (shown < nonzero)
		fprintf(p->out, "\n      and %zu more %s: --sort %s --top 0\n",
			nonzero - shown, p->by_site ? "sites" : "stacks",
			figure_names[key]);
	free(rows.list);
}

/* Why there are ?? in the stacks, and what helps. */
static void put_nameless(const struct printer *p)
{
	size_t count;
	const char *const *names = frames_nameless(p->frames, &count);

	if (count == 0)
		return;
	fputs("\n?? is a function without a name: its file is stripped or "
	      "not here. Install\nits debug symbols, or say where they are "
	      "with -d PATH:", p->out);
	for (size_t i = 0; i < count && i < NAMELESS_MAX; i++)
		fprintf(p->out, "%s %s", i ? "," : "", names[i]);
	fputs(count > NAMELESS_MAX ? ", ...\n" : "\n", p->out);
}

void report_text(struct model *model, struct frames *frames,
		 const struct report_options *options, FILE *out)
{
	struct printer p = {
		.model = model,
		.frames = frames,
		.options = options,
		.out = out,
		.by_site = options->by != REPORT_BY_STACK,
	};

	if (p.by_site)
		frames_find_sites(frames);
	put_summary(&p);
	for (size_t i = 0; i < sizeof(overview) / sizeof(overview[0]) &&
			   !options->one_key; i++)
		put_section(&p, overview[i]);
	if (options->one_key)
		put_section(&p, options->key);
	put_nameless(&p);
	table_free(&p.shown);
}
