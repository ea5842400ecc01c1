/*
 * diff_text.c: prints differences as text, within 80 columns, and as JSON.
 */
#include "cli/diff/diff.h"

#include <inttypes.h>
#include <stdlib.h>

#include "cli/base/terminal/style.h"
#include "cli/base/text/quantity.h"
#include "cli/command/print/profile_stack.h"
#include "cli/command/print/report_parts.h"

#define STACK_LINES 12		/* from the site outward */
#define NAME_WIDTH 70
#define LABEL_COLUMN 8

bool diff_shows(const struct diff *diff, enum measure cost)
{
	return diff->one_cost ? diff->query->order == cost :
		figures_have(cost, MEASURE_SUMS | MEASURE_OVERVIEW);
}

/* "+1.5M", "-3", "0 B" */
static const char *change(char *text, enum measure cost, uint64_t before,
			  uint64_t after)
{
	text[0] = after > before ? '+' : '-';
	quantity_of(text + (after != before), measure_kinds[cost].unit,
		    after > before ? after - before : before - after);
	return text;
}

/* ---- text ---- */

static void put_total(const struct diff *diff, enum measure cost, FILE *out)
{
	uint64_t before = profile_value(diff->profile, &diff->sides[0].sum,
					cost);
	uint64_t after = profile_value(diff->profile, &diff->sides[1].sum,
				       cost);
	enum quantity_unit unit = measure_kinds[cost].unit;
	char more[QUANTITY_TEXT + 1];

	fprintf(out, "  %-12s %13s %13s %14s", measure_kinds[cost].name,
		UNIT_TEXT(unit, before), UNIT_TEXT(unit, after),
		change(more, cost, before, after));
	if (before > 0 && before != after)
		fprintf(out, "  %+.1f%%", ((double)after - (double)before) *
			100 / (double)before);
	fputc('\n', out);
}

static void put_undecided(const struct coverage *coverage, FILE *out)
{
	struct buffer text = { 0 }, lines = { 0 };

	report_coverage_undecided(coverage, &text);
	if (text.size > 0) {
		buffer_wrap(&lines, text.data, LABEL_COLUMN, report_width());
		fputs(lines.data, out);
	}
	buffer_free(&text);
	buffer_free(&lines);
}

static void put_summary(const struct diff *diff, FILE *out)
{
	static const char *const names[2] = { "before", "after" };

	for (unsigned side = 0; side < 2; side++) {
		const struct compared_side *one = &diff->sides[side];

		fprintf(out, "%-7s %s\n", names[side], one->label);
		if (one->traces > 1)
			fprintf(out, "        the sum of %s traces\n",
				COUNT_TEXT(one->traces));
		if (one->running)
			fprintf(out, "        still running: compared as it is "
				     "now\n");
		if (one->coverage.sample_mean > 0)
			fprintf(out, "        estimated from a sample\n");
		if (one->coverage.dropped > 0)
			fprintf(out, "        %s event%s of it lost\n",
				COUNT_TEXT(one->coverage.dropped),
				one->coverage.dropped == 1 ? " was" : "s were");
		put_undecided(&one->coverage, out);
	}
	fprintf(out, "\n  %-12s %13s %13s %14s\n", "", "before", "after",
		"difference");
	for (unsigned i = 0; i < measure_count; i++)
		if (diff_shows(diff, (enum measure)i) ||
		    figures_have((enum measure)i, MEASURE_OVERVIEW))
			put_total(diff, (enum measure)i, out);
	fprintf(out, "  %-12s %13s %13s\n", "ran",
		TIME_TEXT(diff->sides[0].duration_ns),
		TIME_TEXT(diff->sides[1].duration_ns));
}

/* Prints a row's frame; if there is none, the reason. */
static void put_frame(const struct diff *diff,
		      const struct profile_group *group, FILE *out)
{
	struct query_value value = { .full = diff->full_names,
				     .width = NAME_WIDTH };
	LOCAL_BUFFER name = { 0 };

	query_value_frame(diff->profile, group, &value);
	if (value.known)
		diff->query->keys[0]->text(&value, &name, &name);
	else
		buffer_string(&name, group->frame == PROFILE_NONE ?
			      "?? in no file" :
			      diff->profile->frames[group->frame].function);
	buffer_printable(&name);
	fprintf(out, "      %s\n", name.data);
	if (diff->query->keys[0]->by == PROFILE_BY_FUNCTION && value.frame.library &&
	    !value.frame.nameless)
		fprintf(out, "      in %s\n", value.frame.library);
}

/* Prints a row's frame or stack. */
static void put_what(const struct diff *diff, uint32_t number,
		     struct profile_stack *stack, FILE *out)
{
	const struct profile_group *group = &diff->groups.list[number];

	if (diff->query->keys[0]->of == QUERY_OF_FRAME) {
		put_frame(diff, group, out);
		return;
	}
	profile_stack_of_node(stack, diff->profile, group->node,
			      diff->full_names);
	if (query_is(diff->query, QUERY_OF_SITE) &&
	    stack->count > stack->site + 1)
		stack->count = stack->site + 1;
	profile_stack_print(stack, query_is(diff->query, QUERY_OF_STACK),
			    STACK_LINES, 6, diff->full_names, out);
}

static void put_row(const struct diff *diff, const struct difference *row,
		    enum measure cost, struct profile_stack *stack, FILE *out)
{
	const struct style *style = style_of(out);
	enum quantity_unit unit = measure_kinds[cost].unit;
	char more[QUANTITY_TEXT + 1];

	fprintf(out, "\n  %-7s %s%s%s", difference_names[row->state],
		style->share, change(more, cost, row->before, row->after),
		style->off);
	if (row->state == DIFFERENCE_GROWN || row->state == DIFFERENCE_SHRUNK)
		fprintf(out, "  from %s to %s", UNIT_TEXT(unit, row->before),
			UNIT_TEXT(unit, row->after));
	fputc('\n', out);
	put_what(diff, row->group, stack, out);
}

static void put_cost(const struct diff *diff, enum measure cost, FILE *out)
{
	const struct differences *found = &diff->found[cost];
	const struct style *style = style_of(out);
	struct profile_stack stack = {
		.runtime_frames = diff->runtime_frames
	};
	uint64_t top = diff->query->limit;
	size_t shown = top != 0 && top < found->count ? top : found->count;
	size_t moved = diff_moved(diff, cost);

	fprintf(out, "\n%s%s%s (%s): ", style->title,
		measure_kinds[cost].title, style->off,
		measure_kinds[cost].change);
	if (found->count == 0)
		fprintf(out, "no difference");
	for (unsigned state = 0, n = 0; state < DIFFERENCE_STATES; state++)
		if (found->states[state] > 0)
			fprintf(out, "%s%s %s", n++ ? ", " : "",
				COUNT_TEXT(found->states[state]),
				difference_names[state]);
	if (found->below > 0)
		fprintf(out, "; %s within the threshold",
			COUNT_TEXT(found->below));
	fputc('\n', out);
	for (size_t row = 0; row < shown; row++)
		put_row(diff, &found->list[row], cost, &stack, out);
	if (shown < found->count)
		fprintf(out, "\n  and %s more: --cost %s --top 0\n",
			COUNT_TEXT(found->count - shown),
			measure_kinds[cost].name);
	if (moved > 0)
		fprintf(out, "\n  %s of the new differ%s from a gone one only "
			"in lines: --by function\n", COUNT_TEXT(moved),
			moved == 1 ? "s" : "");
	profile_stack_free(&stack);
}

void diff_text(const struct diff *diff, FILE *out)
{
	put_summary(diff, out);
	for (unsigned i = 0; i < measure_count; i++)
		if (diff_shows(diff, (enum measure)i))
			put_cost(diff, (enum measure)i, out);
}

/* ---- JSON ---- */

static void json_figures(struct json *json, const char *key,
			 const struct diff *diff,
			 const struct figures *figures)
{
	json_object(json, key);
	report_json_figures(json, figures, diff->profile->end_ns, true);
	json_end_object(json);
}

static void json_side(struct json *json, const char *key,
		      const struct compared_side *side)
{
	const struct figures *sum = &side->sum;

	json_object(json, key);
	json_string(json, "trace", side->label);
	json_uint(json, "traces", side->traces);
	json_uint(json, "duration_ns", side->duration_ns);
	json_uint(json, "dropped", side->coverage.dropped);
	json_bool(json, "estimated", side->coverage.sample_mean > 0);
	/* As in a report's summary. Own peaks cannot be added up. */
	json_uint(json, "allocations", sum->count);
	json_uint(json, "frees", sum->frees);
	json_uint(json, "total_bytes", sum->total_bytes);
	json_uint(json, "live_bytes", sum->live_bytes);
	json_uint(json, "live_blocks", sum->live_blocks);
	json_uint(json, "peak_bytes", sum->peak_bytes);
	json_uint(json, "peak_blocks", sum->peak_blocks);
	json_uint(json, "temporary", sum->temporary);
	json_uint(json, "lifetime_ns", figures_mean_lifetime(sum));
	report_coverage_json(json, &side->coverage);
	json_end_object(json);
}

static void json_row(struct json *json, const struct diff *diff,
		     const struct difference *row, enum measure cost,
		     struct profile_stack *stack)
{
	const struct profile_group *group = &diff->groups.list[row->group];
	const struct query_key *key = diff->query->keys[0];

	json_object(json, NULL);
	json_string(json, "cost", measure_kinds[cost].name);
	json_string(json, "state", difference_names[row->state]);
	json_uint(json, "before_value", row->before);
	json_uint(json, "after_value", row->after);
	json_int(json, "difference", (int64_t)(row->after - row->before));
	json_figures(json, "before", diff,
		     profile_group_self(diff->profile, &diff->groups,
					row->group, 0));
	json_figures(json, "after", diff,
		     profile_group_self(diff->profile, &diff->groups,
					row->group, 1));
	if (key->of != QUERY_OF_STACK) {
		struct query_value value = { .with_library = true,
					     .with_file = true };
		const struct members to = members_of_json(json);

		query_value_frame(diff->profile, group, &value);
		json_uint(json, "stacks", group->contexts);
		if (key->members != NULL)
			key->members(&value, &to);
		else
			json_string(json, "library", value.frame.library);
	}
	/* The most expensive stack of the row. */
	profile_stack_of_node(stack, diff->profile, group->node,
			      diff->full_names);
	profile_stack_json(stack, key->of != QUERY_OF_SITE, json);
	json_end_object(json);
}

void diff_json(const struct diff *diff, FILE *out)
{
	struct json json = { .out = out };
	struct profile_stack stack = { 0 };
	uint64_t top = diff->query->limit;

	json_object(&json, NULL);
	json_uint(&json, "schema", 1);
	json_object(&json, "summary");
	json_bool(&json, "differs", diff->differs);
	json_side(&json, "before", &diff->sides[0]);
	json_side(&json, "after", &diff->sides[1]);
	for (unsigned i = 0; i < measure_count; i++) {
		const struct differences *found = &diff->found[i];

		if (!diff_shows(diff, (enum measure)i))
			continue;
		json_object(&json, measure_kinds[i].name);
		for (unsigned state = 0; state < DIFFERENCE_STATES; state++)
			json_uint(&json, difference_names[state],
				  found->states[state]);
		json_uint(&json, "equal", found->equal);
		json_uint(&json, "below_threshold", found->below);
		json_end_object(&json);
	}
	json_end_object(&json);
	json_array(&json, "rows");
	for (unsigned i = 0; i < measure_count; i++)
		for (size_t row = 0; row < diff->found[i].count &&
		     (top == 0 || row < top); row++)
			json_row(&json, diff, &diff->found[i].list[row],
				 (enum measure)i, &stack);
	json_end_array(&json);
	json_end_object(&json);
	profile_stack_free(&stack);
}
