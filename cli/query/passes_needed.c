/*
 * passes_needed.c: see passes_needed.h. Called by the main thread.
 */
#include "cli/query/passes_needed.h"

/* Contexts have own peaks. Groups of several, by exclusive keys, do not. */
static bool needs_peaks(const struct query *query)
{
	return query->key_count > 0 && !query_has(query, QUERY_OF_STACK) &&
	       query_inclusive(query) == NULL &&
	       (query->order == MEASURE_OWN_PEAK ||
		(query->all_figures &&
		 !(query->spares & QUERY_SPARES_OWN_PEAKS)));
}

bool query_needs_pass(const struct query *query, enum query_pass pass)
{
	const struct model_options options = query_model_options(query);
	struct block_keys keys;

	query_block_keys(query, &keys);
	switch (pass) {
	case QUERY_PASS_OUTLINE:
		return model_needs_outline(&options, &keys);
	case QUERY_PASS_ENDS:
		return model_needs_ends(&options, &keys);
	case QUERY_PASS_FIGURES:
		return true;
	case QUERY_PASS_PEAKS:
		return needs_peaks(query);
	case QUERY_PASS_SERIES:
		return query->over_time;
	case QUERY_PASS_LOOKS:
		return query->at_snapshots;
	case QUERY_PASSES:
		break;
	}
	return false;
}

/* Where own peaks cannot be computed, they are sums. */
static const char *from_where(const struct query *query)
{
	if (query_needs_pass(query, QUERY_PASS_OUTLINE) ||
	    query_needs_pass(query, QUERY_PASS_ENDS) ||
	    query_needs_pass(query, QUERY_PASS_SERIES) ||
	    query_needs_pass(query, QUERY_PASS_LOOKS))
		return "from a file, not from a pipe";
	return query_needs_pass(query, QUERY_PASS_PEAKS) ?
		"from a file; from a pipe once, with own peaks as sums" :
		"also from a pipe";
}

void query_explain(const struct query *query, struct buffer *out)
{
	static const char *const texts[QUERY_PASSES] = {
		[QUERY_PASS_OUTLINE] = "all except block events: moments, "
			"threads and other words of filters, mappings",
		[QUERY_PASS_ENDS] = "events: ends of blocks, which decide the "
			"selection or the group",
		[QUERY_PASS_FIGURES] = "events: the measures",
		[QUERY_PASS_PEAKS] = "events: own peaks of groups of several "
			"stacks",
		[QUERY_PASS_SERIES] = "events: rows over time",
		[QUERY_PASS_LOOKS] = "events: live blocks at snapshots",
	};
	unsigned passes = 0, number = 0;
	LOCAL_BUFFER keys = { 0 };

	for (int i = 0; i < QUERY_PASSES; i++)
		passes += query_needs_pass(query, i);
	buffer_printf(out, "read %u time%s: %s\n", passes,
		      passes == 1 ? "" : "s", from_where(query));
	for (int i = 0; i < QUERY_PASSES; i++)
		if (query_needs_pass(query, i))
			buffer_printf(out, "  %u. %s\n", ++number, texts[i]);
	query_key_names(query, &keys);
	if (keys.size > 0)
		buffer_printf(out, "grouped by %s\n", keys.data);
	if (query_has(query, QUERY_OF_BLOCK) && query->groups_max > 0)
		buffer_printf(out, "measures are kept for at most %llu pairs "
			      "of a stack and the block's keys "
			      "(--groups-max)\n",
			      (unsigned long long)query->groups_max);
	else if (query_has(query, QUERY_OF_BLOCK))
		buffer_string(out, "measures are kept for each pair of a stack "
			      "and the block's keys, without limit\n");
}
