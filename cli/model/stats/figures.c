/*
 * figures.c: see figures.h. Called by any thread: nothing is shared.
 */
#include "cli/model/stats/figures.h"

#include <stddef.h>

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

void figures_each(const struct figures *figures, uint64_t end_ns,
		  void (*each)(void *owner, const char *name, uint64_t value),
		  void *owner)
{
	const struct { const char *name; uint64_t value; } all[] = {
		{ "live_bytes", figures->live_bytes },
		{ "live_blocks", figures->live_blocks },
		{ "peak_bytes", figures->peak_bytes },
		{ "peak_blocks", figures->peak_blocks },
		{ "total_bytes", figures->total_bytes },
		{ "count", figures->count },
		{ "frees", figures->frees },
		{ "temporary", figures->temporary },
		{ "own_peak_bytes", figures->own_peak_bytes },
		{ "own_peak_blocks", figures->own_peak_blocks },
		{ "own_peak_time_ns", figures->own_peak_ns },
		{ "lifetime_ns", figures_mean_lifetime(figures) },
		{ "age_ns", figures_value(figures, FIGURE_AGE, end_ns) },
		{ "first_ns", figures->first_ns },
		{ "last_ns", figures->last_ns },
	};

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		each(owner, all[i].name, all[i].value);
}
