/*
 * clock.c: interpolates linearly between the two nearest pairs. Beyond the last
 * pairs it uses their slope, or the recorder's first estimate if the pairs are
 * too close together. A recording of days has millions of pairs; if there are
 * too many, every second one is dropped. That costs precision only if the
 * counter's rate changes.
 */
#include "cli/trace/read/clock.h"

#include <stdlib.h>
#include <string.h>

#include "cli/base/grow.h"
#include "cli/base/search.h"
#include "unwind/base/assertion.h"

#define SLOPE_NS_MIN 20000000	/* of pairs that give a slope */

static void downsample(struct clock *clock)
{
	size_t kept = 0;

	for (size_t i = 0; i < clock->count; i += 2)
		clock->pairs[kept++] = clock->pairs[i];
	clock->count = kept;
}

void clock_add(struct clock *clock, uint64_t ticks, uint64_t ns)
{
	const struct clock_pair *last = clock->count == 0 ? NULL :
		&clock->pairs[clock->count - 1];

	if (last != NULL && (ticks <= last->ticks || ns < last->ns))
		return;
	if (clock->count == CLOCK_PAIRS_MAX)
		downsample(clock);
	GROW(clock->pairs, clock->count, clock->capacity);
	clock->pairs[clock->count++] = (struct clock_pair){ ticks, ns };
}

/* Rounded down on both sides of the base. Times that do not fit in 64 bits are
 * clamped. */
static uint64_t add(uint64_t base, double ns)
{
	uint64_t back;

	if (ns < 0) {
		if ((double)base + ns <= 0)
			return 0;
		back = (uint64_t)-ns;
		return base - back - ((double)back < -ns);
	}
	if (ns >= 18446744073709551615.0 - (double)base)
		return UINT64_MAX;
	return base + (uint64_t)ns;
}

/* Extrapolate from one pair with the recorder's estimate. */
static uint64_t extrapolate(const struct clock *clock,
			    const struct clock_pair *from, uint64_t ticks)
{
	double ns = ((double)ticks - (double)from->ticks) *
		(double)clock->tick_ps / 1000;

	return add(from->ns, ns);
}

static bool ticks_later(const void *list, size_t i, uint64_t ticks)
{
	return ((const struct clock_pair *)list)[i].ticks > ticks;
}

static bool is_between(const struct clock *clock, size_t later, uint64_t ticks)
{
	return clock->pairs[later - 1].ticks <= ticks &&
		ticks < clock->pairs[later].ticks;
}

/* The pair after these ticks, never the first pair. Ticks after the last pair
 * get the last. Pairs are mostly evenly spaced, so the expected index is tried
 * first. */
static size_t pair_later(const struct clock *clock, uint64_t ticks)
{
	const struct clock_pair *first = clock->pairs;
	double span = (double)(first[clock->count - 1].ticks - first->ticks);
	size_t later;

	if (ticks > first->ticks && ticks < first[clock->count - 1].ticks) {
		later = 1 + (size_t)((double)(ticks - first->ticks) / span *
				     (double)(clock->count - 2));
		if (is_between(clock, later, ticks))
			return later;
		if (later + 1 < clock->count &&
		    is_between(clock, later + 1, ticks))
			return later + 1;
	}
	return 1 + search_first(first + 1, clock->count - 2, ticks_later,
				ticks);
}

uint64_t clock_ns(const struct clock *clock, uint64_t ticks)
{
	const struct clock_pair *a, *b;
	size_t later;
	double ns;

	if (clock->count == 0)
		return 0;
	if (clock->count == 1)
		return extrapolate(clock, &clock->pairs[0], ticks);
	later = pair_later(clock, ticks);
	DEBUG_ASSERT(later < clock->count);
	a = &clock->pairs[later - 1];
	b = &clock->pairs[later];
	if (clock->tick_ps != 0 && ticks > b->ticks &&
	    b->ns - a->ns < SLOPE_NS_MIN)
		return extrapolate(clock, b, ticks);
	DEBUG_ASSERT(a->ticks < b->ticks && a->ns <= b->ns);
	ns = ((double)ticks - (double)a->ticks) *
		((double)(b->ns - a->ns) / (double)(b->ticks - a->ticks));
	return add(a->ns, ns);
}

double clock_rate(const struct clock *clock)
{
	const struct clock_pair *first = clock->pairs, *last;

	if (clock->count < 2)
		return (double)clock->tick_ps / 1000;
	last = &clock->pairs[clock->count - 1];
	DEBUG_ASSERT(first->ticks < last->ticks);
	return (double)(last->ns - first->ns) /
		(double)(last->ticks - first->ticks);
}

void clock_free(struct clock *clock)
{
	free(clock->pairs);
	memset(clock, 0, sizeof(*clock));
}
