/*
 * report_summary.c: the first paragraph of a report: what ran, how much it
 * allocated, and what data is missing. Called by the main thread.
 */
#include <inttypes.h>

#include "cli/base/text/fit.h"
#include "cli/base/text/quantity.h"
#include "cli/model/core/controls.h"
#include "cli/model/heap.h"
#include "cli/command/print/report_parts.h"
#include "cli/model/omitted.h"

#define COLUMN 15		/* where values begin */
#define VALUE_WIDTH (report_width() - COLUMN)

const char *report_plural(uint64_t count)
{
	return count == 1 ? "" : "s";
}

/* Prints a text after a label of the summary, on as many lines as needed. */
static void put_lines(const struct report *r, const char *text)
{
	struct buffer plain = { 0 }, lines = { 0 };

	buffer_string(&plain, text);
	buffer_printable(&plain);
	buffer_wrap(&lines, plain.data, COLUMN, report_width());
	fputs(lines.size > COLUMN ? lines.data + COLUMN : "\n", r->out);
	buffer_free(&plain);
	buffer_free(&lines);
}

/* Where the live blocks lie; nearly all blocks of nearly all programs lie in
 * the main arena. */
static void put_heap(const struct report *r)
{
	static const char *const texts[HEAP_UNKNOWN] = {
		"in malloc's heap", "in heaps of further threads",
		"in mappings of their own"
	};
	struct heap_share shares[HEAP_PARTS];
	const char *gap = "               ";

	report_heap(r, shares);
	for (unsigned i = 0; i < HEAP_UNKNOWN; i++) {
		if (shares[i].blocks == 0)
			continue;
		fprintf(r->out, "%s%s %s, %s including rounding", gap,
			SIZE_TEXT(shares[i].bytes), texts[i],
			SIZE_TEXT(shares[i].usable));
		gap = ";\n               ";
	}
	if (gap[0] == ';')
		fprintf(r->out, "\n");
}

static void put_temporary(const struct report *r)
{
	const struct figures *sum = &r->about.sum;
	uint64_t between = r->options->query->temporary;

	if (r->about.coverage.sample_mean > 0) {
		fprintf(r->out, "  temporary    unknown: a sample lacks the "
			"allocations in between\n");
		return;
	}
	fprintf(r->out, "  temporary    %s (%s of all %sallocations): freed ",
		COUNT_TEXT(sum->temporary),
		PERCENT_TEXT(sum->temporary,
			     sum->count - r->about.unrecorded_in_sum),
		r->about.unrecorded_in_sum > 0 ? "recorded " : "");
	if (between == 0)
		fprintf(r->out, "before the\n               next allocation "
			"of their thread\n");
	else
		fprintf(r->out, "after no\n               more than %s of "
			"their thread\n", COUNTED(between, "other allocation"));
}

/* Blocks that are only in the trace's totals, and the effect on the
 * measures. */
static void put_left_out(const struct report *r)
{
	const struct coverage_amount *left_out = &r->about.coverage.left_out;
	const uint64_t *run = model_leftout(r->model)->run.value;

	if (left_out->allocations == 0)
		return;
	fprintf(r->out, "  left out     %s (%s) of which the trace has only "
		"the totals:\n               %s\n",
		COUNTED(left_out->allocations, "block"),
		SIZE_TEXT(left_out->bytes),
		model_is_selected(r->model) ?
		"the filters cannot be applied to them: not counted" :
		r->keep != NULL ?
		"counted where the filters keep their stacks, not in --by size" :
		"counted above and in --sizes, not in --by size");
	if (run[GT_RUN_PEAK_KEPT] == 0 &&
	    run[GT_RUN_PEAK_BYTES] > r->about.sum.peak_bytes &&
	    model_number(r->model, GT_INFO, "part", 0) == 0)
		fprintf(r->out, "               the peak is without them; with "
			"them it was %s\n",
			SIZE_TEXT(run[GT_RUN_PEAK_BYTES]));
}

/* `end`: the words for the end of a finished recording. */
static void put_live(const struct report *r, const char *end)
{
	const struct figures *sum = &r->about.sum;

	fprintf(r->out, "  live         %s in %s%s\n",
		SIZE_TEXT(sum->live_bytes), COUNTED(sum->live_blocks, "block"),
		query_is_of_moment(r->options->query) ?
		" at the requested moment" :
		r->about.being_written ? " now" :
		model_controls(r->model)->off ? " when recording stopped" :
		end);
}

/* With filters it is not their own peak, and may be less than live. */
static void put_peak(const struct report *r)
{
	const char *filters = filter_text(r->options->query->filter);
	const struct figures *sum = &r->about.sum;
	struct buffer text = { 0 };

	fprintf(r->out, filters[0] == 0 ? "  peak         " :
		"  at the peak  ");
	buffer_printf(&text, "%s in %s%s, after %s: %s",
		      SIZE_TEXT(sum->peak_bytes),
		      COUNTED(sum->peak_blocks, "block"),
		      filters[0] == 0 ? "" : " of these",
		      TIME_TEXT(r->about.peak_time_ns),
		      filters[0] != 0 ? "the peak of all blocks" :
		      model_number(r->model, GT_INFO, "part", 0) != 0 ?
		      "the most in this part" : "the most at any time");
	put_lines(r, text.data);
	buffer_free(&text);
}

static void put_totals(const struct report *r)
{
	const struct figures *sum = &r->about.sum;

	fprintf(r->out, "  allocations  %s, %s in total (realloc counts here "
		"and as a free)\n", COUNT_TEXT(sum->count),
		SIZE_TEXT(sum->total_bytes));
	fprintf(r->out, "  frees        %s\n", COUNT_TEXT(sum->frees));
	put_peak(r);
	put_live(r, " at the end: leaked, or in use until then");
	put_heap(r);
	put_temporary(r);
	put_left_out(r);
	report_unrecorded_text(r);
	report_pools_text(r);
	report_lifetimes_line(r);
}

/* Whether all of the file could be read. */
static bool is_whole(const struct report_process *about)
{
	return about->coverage.damaged == 0 && about->coverage.lost_bytes == 0;
}

static void print_damage(const struct report *r, const struct coverage *c)
{
	fprintf(r->out, "  %sdamaged%s      %s of the trace could not be read",
		r->style->warn, r->style->off, COUNTED(c->damaged, "place"));
	/* After the cut of a file, nobody knows. */
	if (c->lost_bytes > 0)
		fprintf(r->out, " (%s of events)", SIZE_TEXT(c->lost_bytes));
	fputc('\n', r->out);
}

static void put_dropped(const struct report *r,
			const struct report_process *about)
{
	const char *what = "";

	if (about->coverage.dropped != 0) {
		fprintf(r->out, "  %sdropped%s      %s event%s lost (ring "
			"full, or no recorder):\n               all measures "
			"are too low\n", r->style->warn, r->style->off,
			COUNT_TEXT(about->coverage.dropped),
			about->coverage.dropped == 1 ? " was" : "s were");
		return;
	}
	if (about->failed)
		what = " until recording stopped: later events are missing";
	else if (!about->ended)
		what = " up to the last event in the trace";
	else if (is_whole(about) &&
		 about->coverage.left_out.allocations == 0)
		what = r->model != NULL && model_has_gap(r->model) ?
			": all selected events are here" :
			": every event is here";
	fprintf(r->out, "  dropped      0%s\n", what);
}

/* Allocations that filters could not judge, unless put_left_out has them. */
static void put_undecided(const struct report *r,
			  const struct coverage *coverage)
{
	struct buffer text = { 0 };

	if (r->model != NULL)
		report_coverage_cut(coverage, &text);
	else
		report_coverage_undecided(coverage, &text);
	if (text.size > 0) {
		fprintf(r->out, "  undecided    ");
		put_lines(r, text.data);
	}
	buffer_free(&text);
}

/* Lines about missing data. Always printed, even if nothing is missing. */
void report_losses(const struct report *r, const struct report_process *about)
{
	if (about->coverage.sample_mean > 0)
		fprintf(r->out, "  %sestimated%s    from a sample: about one "
			"block per %s; sums are right\n               on "
			"average, small sums vary by chance\n", r->style->warn,
			r->style->off, SIZE_TEXT(about->coverage.sample_mean));
	put_dropped(r, about);
	if (about->coverage.unpaired > 0)
		fprintf(r->out, "  unpaired     %s without %s allocation, or "
			"the reverse\n",
			COUNTED(about->coverage.unpaired, "free"),
			about->coverage.unpaired == 1 ? "its" : "their");
	else
		fprintf(r->out, "  unpaired     0: each free has its "
			"allocation\n");
	if (about->coverage.foreign_frees > 0)
		fprintf(r->out, "  foreign      %s of blocks from before%s, or "
			"that were not recorded\n",
			COUNTED(about->coverage.foreign_frees, "free"),
			about->forked ? " a fork" : "");
	if (!is_whole(about))
		print_damage(r, &about->coverage);
	else
		fprintf(r->out, "  damaged      0: the whole trace could be "
			"read\n");
	if (r->model == NULL && about->coverage.left_out.allocations > 0)
		fprintf(r->out, "  left out     %s (%s) of which there are only "
			"the totals\n",
			COUNTED(about->coverage.left_out.allocations, "block"),
			SIZE_TEXT(about->coverage.left_out.bytes));
	put_undecided(r, &about->coverage);
}

/* Prints `text` without its control characters, in at most `width` columns. */
void report_put_text(FILE *out, const char *text, size_t width)
{
	LOCAL_BUFFER line = { 0 };

	fit_start(&line, text, width);
	buffer_printable(&line);
	fputs(line.data, out);
}

void report_put_path(FILE *out, const char *path, size_t width, bool full)
{
	LOCAL_BUFFER line = { 0 };

	fit_path(&line, path, full ? SIZE_MAX : width);
	buffer_printable(&line);
	fputs(line.data, out);
}

void report_made_up_text(const struct model *model, FILE *out)
{
	if (model_made_up(model) != MODEL_GENUINE)
		fprintf(out, "  anonymized   function names were removed; "
			"other names are made up\n");
}

static void put_program(const struct report *r)
{
	const struct report_process *about = &r->about;
	LOCAL_BUFFER ran = { 0 };
	int size = snprintf(NULL, 0, " (pid %" PRIu64 ")", about->pid);

	fprintf(r->out, "  program      ");
	report_put_path(r->out, about->program[0] ? about->program : "?",
			VALUE_WIDTH - (size_t)size, r->options->full_names);
	fprintf(r->out, " (pid %" PRIu64 ")\n", about->pid);
	if (about->command[0] != 0) {
		fprintf(r->out, "  command      ");
		report_put_text(r->out, about->command,
				r->options->full_names ? SIZE_MAX :
				VALUE_WIDTH);
		putc('\n', r->out);
	}
	buffer_printf(&ran, "%s, %" PRIu64 " thread%s; %s",
		      TIME_TEXT(about->duration_ns), about->threads,
		      report_plural(about->threads), about->exit);
	fprintf(r->out, "  ran          ");
	put_lines(r, ran.data);
	report_made_up_text(r->model, r->out);
	report_process_tree_text(r);
}

void report_filters(const struct report *r)
{
	const char *filters = filter_text(r->options->query->filter);
	LOCAL_BUFFER text = { 0 }, wrapped = { 0 };

	if (filters[0] == 0)
		return;
	buffer_printf(&text, "only blocks with%s", filters);
	buffer_wrap(&wrapped, text.data, 0, report_width());
	fputs(wrapped.data, r->out);
}

void report_title(const struct report *r)
{
	fputs(r->style->title, r->out);
	report_put_path(r->out, r->options->trace, report_width(),
			r->options->full_names);
	fprintf(r->out, "%s\n", r->style->off);
	report_filters(r);
}

void report_summary(const struct report *r)
{
	report_title(r);
	fputc('\n', r->out);
	put_program(r);
	report_view_text(r);
	put_totals(r);
	report_memory_text(r->model, r->out);
	report_losses(r, &r->about);
	report_slow_text(r->model, r->out);
}

/* ---- in brief ---- */

/* Command and process, as far as known. */
static void put_ran(const struct report *r)
{
	const struct report_process *about = &r->about;
	LOCAL_BUFFER ran = { 0 };
	const char *ran_what = about->command[0] ? about->command :
		about->program[0] ? about->program : "?";

	fprintf(r->out, "  %-11s  ", about->command[0] ? "command" : "program");
	report_put_text(r->out, ran_what, r->options->full_names ? SIZE_MAX :
			VALUE_WIDTH);
	putc('\n', r->out);
	buffer_printf(&ran, "%s, %" PRIu64 " thread%s, pid %" PRIu64 "; %s",
		      TIME_TEXT(about->duration_ns), about->threads,
		      report_plural(about->threads), about->pid, about->exit);
	fprintf(r->out, "  ran          ");
	put_lines(r, ran.data);
	report_made_up_text(r->model, r->out);
	report_process_tree_text(r);
}

static void put_sums(const struct report *r)
{
	const struct figures *sum = &r->about.sum;
	uint64_t recorded = sum->count - r->about.unrecorded_in_sum;

	fprintf(r->out, "  allocations  %s, %s in total", COUNT_TEXT(sum->count),
		SIZE_TEXT(sum->total_bytes));
	if (r->about.coverage.sample_mean == 0)
		fprintf(r->out, "; %s temporary", PERCENT_TEXT(sum->temporary,
							       recorded));
	fprintf(r->out, "\n  %s %s in %s, after %s\n",
		filter_text(r->options->query->filter)[0] == 0 ?
		"peak        " : "at the peak ", SIZE_TEXT(sum->peak_bytes),
		COUNTED(sum->peak_blocks, "block"),
		TIME_TEXT(r->about.peak_time_ns));
	put_live(r, " at the end");
}

/* Lines about missing data; at least one. */
static void put_lacks(const struct report *r)
{
	const struct coverage *coverage = &r->about.coverage;

	if (coverage->sample_mean > 0 || !is_whole(&r->about)) {
		report_losses(r, &r->about);
		return;
	}
	put_dropped(r, &r->about);
	if (coverage->unpaired > 0)
		fprintf(r->out, "  unpaired     %s without %s allocation, or "
			"the reverse\n", COUNTED(coverage->unpaired, "free"),
			coverage->unpaired == 1 ? "its" : "their");
	put_undecided(r, coverage);
}

void report_summary_brief(const struct report *r)
{
	put_ran(r);
	report_view_text(r);
	put_sums(r);
	put_left_out(r);
	report_unrecorded_text(r);
	report_memory_brief(r->model, r->out);
	put_lacks(r);
	report_slow_text(r->model, r->out);
}
