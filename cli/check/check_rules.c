/*
 * check_rules.c: applies rules to the values of a trace.
 */
#include <string.h>

#include "cli/check/check.h"

/* Measures with one value for a trace, in the order of their output. */
static bool is_judged(enum measure cost)
{
	return figures_have(cost, MEASURE_SUMS | MEASURE_OVERVIEW);
}

void check_values(const struct model *model, const struct leaks *leaks,
		  struct check_values *values)
{
	const struct totals *totals = model_totals(model);
	const struct figures figures = {
		.count = totals->allocations,
		.total_bytes = totals->total_bytes,
		.frees = totals->frees,
		.temporary = totals->temporary,
		.live_blocks = leaks->live_blocks,
		.live_bytes = leaks->live_bytes,
		.peak_blocks = totals->peak_blocks,
		.peak_bytes = totals->peak_bytes,
	};

	memset(values, 0, sizeof(*values));
	values->live_blocks = leaks->live_blocks;
	for (unsigned i = 0; i < measure_count; i++)
		if (is_judged((enum measure)i))
			values->of[i] = figures_value(&figures, (enum measure)i,
						      0);
}

/* The largest value within the allowed growth; exact if no growth is
 * allowed. */
static uint64_t grown(uint64_t before, double percent)
{
	double more = (double)before * percent / 100;

	if (more >= (double)(UINT64_MAX - before))
		return UINT64_MAX;
	return before + (uint64_t)more;
}

/*
 * If the limit is 0 bytes, leaked blocks of size 0 count, too: malloc(0) makes
 * one each time, and LeakSanitizer reports it.
 */
static bool is_kept(enum measure cost, const struct check_values *values,
		    uint64_t limit, uint64_t blocks_limit)
{
	if (cost == MEASURE_LIVE && limit == 0 &&
	    values->live_blocks > blocks_limit)
		return false;
	return values->of[cost] <= limit;
}

static struct check_verdict *add(struct check_result *result,
				 const char *prefix, enum measure cost,
				 const struct check_values *values,
				 uint64_t limit, uint64_t blocks_limit)
{
	struct check_verdict *verdict = &result->verdicts[result->count++];

	memset(verdict, 0, sizeof(*verdict));
	snprintf(verdict->name, sizeof(verdict->name), "%s-%s", prefix,
		 measure_kinds[cost].name);
	verdict->cost = cost;
	verdict->value = values->of[cost];
	verdict->blocks = values->live_blocks;
	verdict->limit = limit;
	verdict->passed = is_kept(cost, values, limit, blocks_limit);
	result->failed += !verdict->passed;
	return verdict;
}

void check_evaluate(const struct check_rules *rules,
		    const struct check_values *values,
		    const struct check_values *baseline,
		    struct check_result *result)
{
	result->count = 0;
	result->failed = 0;
	for (unsigned i = 0; i < measure_count; i++)
		if (rules->limited[i])
			add(result, "max", (enum measure)i, values,
			    rules->limit[i], 0);
	for (unsigned i = 0; i < measure_count && baseline != NULL; i++) {
		uint64_t before = baseline->of[i];
		struct check_verdict *verdict;

		if (!is_judged((enum measure)i))
			continue;
		verdict = add(result, "growth", (enum measure)i, values,
			      grown(before, rules->growth),
			      grown(baseline->live_blocks, rules->growth));
		verdict->is_growth = true;
		verdict->before = before;
	}
}
