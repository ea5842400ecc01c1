/*
 * check_text.c: verdicts as text, a line each, and as rows of JSON.
 */
#include <inttypes.h>
#include <string.h>

#include "cli/base/terminal/style.h"
#include "cli/base/text/quantity.h"
#include "cli/check/check.h"

/* The baseline's value, for a growth rule. */
static void put_before(const struct check_verdict *verdict, FILE *out)
{
	double more = (double)verdict->value - (double)verdict->before;

	fprintf(out, "  was %s", UNIT_TEXT(measure_kinds[verdict->cost].unit,
					   verdict->before));
	if (verdict->before > 0)
		fprintf(out, " (%+.1f%%)", more * 100 /
			(double)verdict->before);
}

static void put_dropped(const struct coverage *coverage, FILE *out)
{
	char a[QUANTITY_TEXT];

	if (coverage->dropped > 0)
		fprintf(out, "  dropped        %s event%s lost: all measures "
			"are too low\n", quantity_count(a, coverage->dropped),
			coverage->dropped == 1 ? " was" : "s were");
}

static void put_suppressed(const struct check_result *result, FILE *out)
{
	const struct leaks *leaks = result->leaks;

	if (leaks->suppressed_stacks == 0) {
		fprintf(out, "  suppressed     nothing\n");
		return;
	}
	fprintf(out, "  suppressed     %s live in %s of %s\n",
		SIZE_TEXT(leaks->suppressed_bytes),
		COUNTED(leaks->suppressed_blocks, "block"),
		COUNTED(leaks->suppressed_stacks, "stack"));
}

void check_text(const struct check_result *result, FILE *out)
{
	const struct style *style = style_of(out);

	fprintf(out, "%s%s\n", result->trace, result->coverage.sample_mean ?
		": estimated from a sample" : "");
	for (size_t i = 0; i < result->count; i++) {
		const struct check_verdict *verdict = &result->verdicts[i];
		enum quantity_unit unit = measure_kinds[verdict->cost].unit;

		fprintf(out, "  %-17s limit %10s  value %10s  %s%s%s",
			verdict->name, UNIT_TEXT(unit, verdict->limit),
			UNIT_TEXT(unit, verdict->value),
			verdict->passed ? "" : style->warn,
			verdict->passed ? "pass" : "fail", style->off);
		if (verdict->is_growth)
			put_before(verdict, out);
		/* With a baseline value, the line is full. */
		if (verdict->cost == MEASURE_LIVE && verdict->blocks > 0 &&
		    (!verdict->is_growth || verdict->limit == 0))
			fprintf(out, "  in %s",
				COUNTED(verdict->blocks, "block"));
		fputc('\n', out);
	}
	put_suppressed(result, out);
	put_dropped(&result->coverage, out);
	for (size_t i = 0; i < result->count; i++)
		if (result->stacks[i].size > 0)
			fprintf(out, "\n  %s: the largest stacks that caused "
				     "it\n%s",
				result->verdicts[i].name,
				result->stacks[i].data);
}

void check_json(const struct check_result *result, struct json *json)
{
	for (size_t i = 0; i < result->count; i++) {
		const struct check_verdict *verdict = &result->verdicts[i];

		json_object(json, NULL);
		json_string(json, "trace", result->trace);
		json_string(json, "name", verdict->name);
		json_uint(json, "limit", verdict->limit);
		json_uint(json, "value", verdict->value);
		if (verdict->cost == MEASURE_LIVE)
			json_uint(json, "blocks", verdict->blocks);
		json_bool(json, "pass", verdict->passed);
		json_bool(json, "estimated",
			  result->coverage.sample_mean != 0);
		if (verdict->is_growth)
			json_uint(json, "baseline", verdict->before);
		json_uint(json, "suppressed_bytes",
			  result->leaks->suppressed_bytes);
		json_uint(json, "suppressed_blocks",
			  result->leaks->suppressed_blocks);
		json_uint(json, "suppressed_stacks",
			  result->leaks->suppressed_stacks);
		json_end_object(json);
	}
}
