/*
 * passes_needed.c: see passes_needed.h. Called by the main thread.
 */
#include "cli/query/passes_needed.h"

/* Own peaks of sets that are told apart by stacks alone are sums of no use:
 * each context has its own, groups of several have none. */
static bool needs_peaks(const struct query *query)
{
	return query->key_count > 0 && !query_is(query, QUERY_OF_STACK) &&
	       query_inclusive(query) == NULL &&
	       (query->order == FIGURE_OWN_PEAK || query->all_figures);
}

bool query_needs_pass(const struct query *query,
		      const struct model_options *options,
		      enum query_pass pass)
{
	switch (pass) {
	case QUERY_PASS_OUTLINE:
		return filter_has_blocks(options->filter) ||
		       query_has_block_key(query, BLOCK_KEY_MAPPING) ||
		       options->until_ns != 0 || options->begin_ns != 0;
	case QUERY_PASS_ENDS:
		return filter_needs_ends(options->filter) ||
		       query_has_block_key(query, BLOCK_KEY_LIFETIME);
	case QUERY_PASS_FIGURES:
		return true;
	case QUERY_PASS_PEAKS:
		return needs_peaks(query);
	case QUERY_PASS_SERIES:
		return query->over_time;
	case QUERY_PASSES:
		break;
	}
	return false;
}

void query_explain(const struct query *query,
		   const struct model_options *options, struct buffer *out)
{
	static const char *const texts[QUERY_PASSES] = {
		[QUERY_PASS_OUTLINE] = "all but the events of blocks: what the "
			"moments, threads and other words of filters mean, what "
			"was mapped",
		[QUERY_PASS_ENDS] = "events: how blocks end, which decides "
			"which are selected, or in which group",
		[QUERY_PASS_FIGURES] = "events: the figures",
		[QUERY_PASS_PEAKS] = "events: the peak of each group by itself "
			"(of groups of several stacks)",
		[QUERY_PASS_SERIES] = "events: rows over time",
	};
	unsigned passes = 0, number = 0;
	struct buffer keys = { 0 };

	for (int i = 0; i < QUERY_PASSES; i++)
		passes += query_needs_pass(query, options, i);
	buffer_printf(out, "read %u time%s%s\n", passes, passes == 1 ? "" : "s",
		      passes == 1 ? ": also from a pipe" :
		      ": from a file, not from a pipe");
	for (int i = 0; i < QUERY_PASSES; i++)
		if (query_needs_pass(query, options, i))
			buffer_printf(out, "  %u. %s\n", ++number, texts[i]);
	query_key_names(query, &keys);
	if (keys.size > 0)
		buffer_printf(out, "grouped by %s\n", keys.data);
	if (query_has(query, QUERY_OF_BLOCK))
		buffer_printf(out, "figures are kept by stack and the block's "
			      "keys: %llu of them at most%s\n",
			      (unsigned long long)options->groups_max,
			      options->groups_max ? " (--groups-max)" :
			      ", 0 meaning no end");
	buffer_free(&keys);
}
