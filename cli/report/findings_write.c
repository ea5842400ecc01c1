/*
 * findings_write.c: see findings_write.h. Uses the same words as the tables;
 * the page of `gnomon serve` prints the same sentences.
 */
#include "cli/report/findings_write.h"

#include <inttypes.h>
#include <string.h>

#include "cli/base/text/fit.h"
#include "cli/base/text/base_name.h"
#include "cli/base/text/quantity.h"
#include "cli/model/core/controls.h"
#include "cli/model/pages/pages.h"

#define NAME_WIDTH 48		/* of a function */
#define SHOWN 3			/* findings in a text report */
#define INDENT 4

static const char *const kinds[FINDING_KINDS] = {
	[FINDING_MISSING] = "missing",
	[FINDING_LEAK] = "leak",
	[FINDING_GROWTH] = "growth",
	[FINDING_FRAGMENTATION] = "fragmentation",
	[FINDING_CHURN] = "churn",
	[FINDING_PEAK] = "peak",
};

/* ---- parts ---- */

static void number(struct finding *f, const char *name, uint64_t value)
{
	f->numbers[f->number_count++] = (struct finding_number){ name, value };
}

static void word(struct finding *f, const char *name, const char *value)
{
	f->words[f->word_count++] = (struct finding_word){ name, value };
}

static void put_name(const struct frame *frame, struct buffer *out)
{
	LOCAL_BUFFER name = { 0 };

	if (frame->function == NULL)
		buffer_printf(&name, "0x%" PRIx64, frame->address);
	else
		frames_function(frame, NAME_WIDTH, &name);
	buffer_printf(out, "`%s`", name.data);
}

/* "`parse` json.c:12". */
static void put_place(const struct frame *site, struct buffer *out)
{
	put_name(site, out);
	if (site->file != NULL && site->line > 0)
		buffer_printf(out, " %s:%u", base_name(site->file),
			      site->line);
	else if (site->library != NULL && !site->nameless)
		buffer_printf(out, " of %s", site->library);
}

static void add_site(struct finding *f)
{
	if (f->has_site)
		put_place(&f->site, &f->text);
	else
		buffer_string(&f->text, "code without a stack");
}

/* Adds an expression that matches only this text. */
static void add_exactly(struct buffer *out, const char *text)
{
	buffer_string(out, "^");
	for (; *text != 0; text++) {
		if (strchr("\\^$.*+?()[]{}|/", *text) != NULL)
			buffer_string(out, "\\");
		buffer_add(out, text, 1);
	}
	buffer_string(out, "$");
}

/* The query for the stacks of its site, sorted by this measure. */
static void show_stacks(struct finding *f, const char *sort)
{
	word(f, "sort", sort);
	word(f, "by", "stack");
	if (!f->has_site || f->site.nameless || f->site.function == NULL)
		return;
	add_exactly(&f->pattern, f->site.function);
	word(f, "function", f->pattern.data);
}

/* ---- sentences ---- */

static bool has_exited(const struct report *r)
{
	return strncmp(r->about.exit, "exited", strlen("exited")) == 0 &&
		!model_controls(r->model)->off;
}

void findings_write_leak(const struct report *r, struct finding *f,
			 const struct finding_site *site)
{
	const struct figures *sum = &r->about.sum, *own = &site->figures;
	bool then = query_is_of_moment(r->options->query);

	buffer_printf(&f->lead, "%s in %s", SIZE_TEXT(own->live_bytes),
		      COUNTED(own->live_blocks, "block"));
	buffer_string(&f->text, then ? " live at that moment, allocated by " :
		      r->about.being_written ? " live now, allocated by " :
		      has_exited(r) ? " leaked by " :
		      " live at the end, allocated by ");
	add_site(f);
	if (own->live_bytes < sum->live_bytes)
		buffer_printf(&f->text, ": %s of the %s %s",
			      PERCENT_TEXT(own->live_bytes, sum->live_bytes),
			      SIZE_TEXT(sum->live_bytes),
			      then || r->about.being_written ? "live" :
			      "never freed");
	number(f, "live_bytes", own->live_bytes);
	number(f, "live_blocks", own->live_blocks);
	number(f, "all_live_bytes", sum->live_bytes);
	show_stacks(f, "live");
}

void findings_write_also(const struct report *r, struct finding *f,
			 const struct finding_site *site, bool alone)
{
	const struct report_stack *stack = &r->stack;
	size_t caller = stack->site + 1;

	buffer_printf(&f->also, "%s%s in %s by ",
		      f->also.size > 0 ? ", " : "also ",
		      SIZE_TEXT(site->figures.live_bytes),
		      COUNTED(site->figures.live_blocks, "block"));
	put_place(&site->frame, &f->also);
	if (caller >= stack->count || stack->list[caller].glue)
		return;
	buffer_string(&f->also, alone ? ", called by " :
		      ", its largest call stack from ");
	put_name(&stack->list[caller], &f->also);
}

static uint64_t a_second(const struct report *r, uint64_t gained,
			 uint64_t first_ns)
{
	uint64_t ns = r->end_ns - first_ns;

	return ns == 0 ? gained : (uint64_t)((double)gained / (double)ns * 1e9);
}

void findings_write_growth(const struct report *r, struct finding *f,
			   const struct finding_site *site, uint64_t gained)
{
	uint64_t rate = a_second(r, gained, site->figures.first_ns);

	buffer_printf(&f->lead, "%s of steady growth", SIZE_TEXT(gained));
	buffer_string(&f->text, " by ");
	add_site(f);
	buffer_printf(&f->text, ": %s a second", SIZE_TEXT(rate));
	number(f, "grown_bytes", gained);
	number(f, "bytes_per_second", rate);
	number(f, "live_bytes", site->figures.live_bytes);
	word(f, "timeline", NULL);
	word(f, "by", "site");
	word(f, "sort", "live");
}

void findings_join(struct findings *findings, uint64_t gained)
{
	struct finding *growth = &findings->list[findings->count - 2];
	struct finding *leak = &findings->list[findings->count - 1];

	buffer_printf(&leak->text, "; it grew steadily, by %s a second",
		      SIZE_TEXT(growth->numbers[1].value));
	number(leak, "grown_bytes", gained);
	leak->matters |= growth->matters;
	if (growth->weight > leak->weight)
		leak->weight = growth->weight;
	growth->matters = false;
}

void findings_write_peak(const struct report *r, struct finding *f,
			 const struct finding_site *site)
{
	const struct figures *sum = &r->about.sum;
	uint64_t own = site->figures.peak_bytes;

	buffer_printf(&f->lead, "%s live at the peak",
		      SIZE_TEXT(sum->peak_bytes));
	buffer_printf(&f->text, ", after %s: %s (%s) of it allocated by ",
		      TIME_TEXT(r->about.peak_time_ns), SIZE_TEXT(own),
		      PERCENT_TEXT(own, sum->peak_bytes));
	add_site(f);
	number(f, "peak_bytes", own);
	number(f, "all_peak_bytes", sum->peak_bytes);
	number(f, "peak_time_ns", r->about.peak_time_ns);
	show_stacks(f, "peak");
}

void findings_write_churn(const struct report *r, struct finding *f,
			  const struct finding_site *site, uint64_t recorded)
{
	const struct figures *sum = &r->about.sum;
	uint64_t between = r->options->query->temporary;

	buffer_printf(&f->lead, "%s of %s",
		      PERCENT_TEXT(sum->temporary, recorded),
		      COUNTED(recorded, "allocation"));
	buffer_string(&f->text, recorded == 1 ? " is temporary, freed " :
		      " are temporary, freed ");
	if (between == 0)
		buffer_string(&f->text, "before their thread's next one: ");
	else
		buffer_printf(&f->text, "after at most %s of their thread: ",
			      COUNTED(between, "other"));
	buffer_printf(&f->text, "%s of them made by ",
		      COUNT_TEXT(site->figures.temporary));
	add_site(f);
	number(f, "temporary", site->figures.temporary);
	number(f, "all_temporary", sum->temporary);
	number(f, "allocations", recorded);
	show_stacks(f, "temporary");
}

void findings_write_fragmentation(struct finding *f, const struct pages *pages,
				  const struct pages_group *keeper)
{
	uint64_t kept = pages->sum.pages * pages->page_size;

	buffer_printf(&f->lead, "%s of pages", SIZE_TEXT(kept));
	buffer_printf(&f->text, " kept by live blocks of %s: %s of them by %s "
		      "of ", SIZE_TEXT(pages->sum.live_bytes),
		      SIZE_TEXT(keeper->shared_bytes),
		      SIZE_TEXT(keeper->live_bytes));
	add_site(f);
	number(f, "kept_bytes", keeper->shared_bytes);
	number(f, "live_bytes", keeper->live_bytes);
	number(f, "all_kept_bytes", kept);
	number(f, "all_live_bytes", pages->sum.live_bytes);
	word(f, "pages", NULL);
}

bool findings_write_missing(const struct report *r, struct finding *f)
{
	const struct coverage *c = &r->about.coverage;

	if (c->dropped > 0) {
		buffer_printf(&f->lead, "%s lost",
			      COUNTED(c->dropped, "event"));
		buffer_string(&f->text, ", because a ring was full or the "
			      "recorder was gone: all measures are too low");
	} else if (c->damaged > 0 || c->lost_bytes > 0) {
		buffer_printf(&f->lead, "%s damaged",
			      COUNTED(c->damaged, "place"));
		buffer_string(&f->text, " in the trace");
		if (c->lost_bytes > 0)
			buffer_printf(&f->text, ", and %s of events missing",
				      SIZE_TEXT(c->lost_bytes));
		buffer_string(&f->text, ": measures do not count what was "
			      "there");
	} else if (r->about.failed) {
		buffer_string(&f->lead, "Recording stopped early");
		buffer_string(&f->text, ": later events are missing");
	} else if (c->undecidable.allocations > 0) {
		buffer_printf(&f->lead, "%s not counted",
			      COUNTED(c->undecidable.allocations,
				      "allocation"));
		buffer_string(&f->text, ": the filters cannot be applied to "
			      "them");
	} else {
		return false;
	}
	number(f, "dropped", c->dropped);
	number(f, "damaged", c->damaged);
	number(f, "lost_bytes", c->lost_bytes);
	number(f, "undecidable", c->undecidable.allocations);
	word(f, "all", NULL);
	return true;
}

/* ---- printing ---- */

void findings_free_one(struct finding *f)
{
	buffer_free(&f->lead);
	buffer_free(&f->text);
	buffer_free(&f->also);
	buffer_free(&f->pattern);
}

static void put_sentence(const struct report *r, const struct finding *f)
{
	bool warns = f->kind == FINDING_MISSING;
	LOCAL_BUFFER plain = { 0 }, lines = { 0 };
	size_t lead = f->lead.size;

	buffer_printf(&plain, "%s%s", f->lead.data, f->text.data);
	buffer_printable(&plain);
	buffer_wrap(&lines, plain.data, INDENT, (int)report_width());
	/* the first words are on the first line */
	fprintf(r->out, "  %s %s%.*s%s%s", warns ? "!" : "*",
		warns ? r->style->warn : r->style->share, (int)lead,
		lines.data + INDENT, r->style->off,
		lines.data + INDENT + lead);
}

void findings_text(const struct report *r, const struct findings *findings)
{
	unsigned shown = 0;

	for (unsigned i = 0; i < findings->count; i++) {
		const struct finding *f = &findings->list[i];

		if (f->matters && shown < SHOWN) {
			put_sentence(r, f);
			shown++;
		}
	}
	if (shown == 0)
		fprintf(r->out, "  * nothing %s\n",
			r->about.sum.count > 0 ? "stands out" :
			filter_text(r->options->query->filter)[0] != 0 ?
			"passes the filters" : "was allocated");
}

static void put_site(struct json *json, const struct frame *site)
{
	json_string(json, "function", site->function);
	json_string(json, "file", site->file);
	json_uint(json, "line", site->line);
	json_string(json, "library", site->library);
}

static void put_finding(struct json *json, const struct finding *f)
{
	LOCAL_BUFFER sentence = { 0 };

	buffer_printf(&sentence, "%s%s", f->lead.data, f->text.data);
	json_object(json, NULL);
	json_string(json, "kind", kinds[f->kind]);
	json_bool(json, "matters", f->matters);
	json_string(json, "lead", f->lead.data);
	json_string(json, "sentence", sentence.data);
	if (f->also.size > 0)
		json_string(json, "also", f->also.data);
	json_object(json, "numbers");
	for (unsigned i = 0; i < f->number_count; i++)
		json_uint(json, f->numbers[i].name, f->numbers[i].value);
	json_end_object(json);
	if (f->has_site)
		put_site(json, &f->site);
	json_object(json, "query");
	for (unsigned i = 0; i < f->word_count; i++)
		json_string(json, f->words[i].name, f->words[i].value ?: "");
	json_end_object(json);
	json_end_object(json);
}

void findings_json(struct json *json, const struct findings *findings)
{
	json_array(json, "findings");
	for (unsigned i = 0; i < findings->count; i++)
		put_finding(json, &findings->list[i]);
	json_end_array(json);
}
