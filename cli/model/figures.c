/*
 * figures.c: see figures.h. Called by any thread: nothing is shared.
 */
#include "cli/model/figures.h"

const char *const figure_names[FIGURE_KEYS] = {
	[FIGURE_LIVE] = "live",
	[FIGURE_PEAK] = "peak",
	[FIGURE_OWN_PEAK] = "own-peak",
	[FIGURE_TOTAL] = "total",
	[FIGURE_COUNT] = "count",
	[FIGURE_TEMPORARY] = "temporary",
	[FIGURE_LIFETIME] = "lifetime",
	[FIGURE_AGE] = "age",
};

uint64_t figures_mean_lifetime(const struct figures *figures)
{
	return figures->frees == 0 ? 0 :
		(uint64_t)(figures->lifetime_ns / (double)figures->frees);
}

uint64_t figures_value(const struct figures *figures, enum figure key,
		       uint64_t end_ns)
{
	switch (key) {
	case FIGURE_LIVE:
		return figures->live_bytes;
	case FIGURE_PEAK:
		return figures->peak_bytes;
	case FIGURE_OWN_PEAK:
		return figures->own_peak_bytes;
	case FIGURE_TOTAL:
		return figures->total_bytes;
	case FIGURE_COUNT:
		return figures->count;
	case FIGURE_TEMPORARY:
		return figures->temporary;
	case FIGURE_LIFETIME:
		return figures_mean_lifetime(figures);
	case FIGURE_AGE:
		return figures->count > 0 && end_ns > figures->first_ns ?
			end_ns - figures->first_ns : 0;
	case FIGURE_KEYS:
		break;
	}
	return 0;
}

uint64_t figures_blocks(const struct figures *figures, enum figure key)
{
	switch ((int)key) {
	case FIGURE_LIVE:
		return figures->live_blocks;
	case FIGURE_PEAK:
		return figures->peak_blocks;
	case FIGURE_OWN_PEAK:
		return figures->own_peak_blocks;
	case FIGURE_TOTAL:
		return figures->count;
	default:
		return 0;
	}
}

bool figures_any(const struct figures *figures, enum figure key,
		 uint64_t end_ns)
{
	return figures_value(figures, key, end_ns) > 0 ||
		figures_blocks(figures, key) > 0;
}

void figures_add(struct figures *sum, const struct figures *more)
{
	if (more->count > 0) {
		if (sum->count == 0 || more->first_ns < sum->first_ns)
			sum->first_ns = more->first_ns;
		if (sum->count == 0 || more->last_ns > sum->last_ns)
			sum->last_ns = more->last_ns;
	}
	sum->count += more->count;
	sum->total_bytes += more->total_bytes;
	sum->frees += more->frees;
	sum->temporary += more->temporary;
	sum->live_blocks += more->live_blocks;
	sum->live_bytes += more->live_bytes;
	sum->peak_blocks += more->peak_blocks;
	sum->peak_bytes += more->peak_bytes;
	if (more->own_peak_bytes > sum->own_peak_bytes)
		sum->own_peak_ns = more->own_peak_ns;
	sum->own_peak_blocks += more->own_peak_blocks;
	sum->own_peak_bytes += more->own_peak_bytes;
	sum->lifetime_ns += more->lifetime_ns;
}
