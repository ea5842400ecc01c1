/*
 * figures.c: see figures.h. To add a kind, append a row to the table and write
 * a function for its value. Called by any thread: nothing is shared.
 */
#include "cli/model/stats/figures.h"

#include <assert.h>
#include <string.h>

/* ---- values ---- */

/* A measure that is stored directly. */
#define FIELD(name)							\
	static uint64_t name(const struct figures *figures, uint64_t end_ns) \
	{								\
		(void)end_ns;						\
		return figures->name;					\
	}

FIELD(live_bytes)
FIELD(live_blocks)
FIELD(peak_bytes)
FIELD(peak_blocks)
FIELD(own_peak_bytes)
FIELD(own_peak_blocks)
FIELD(own_peak_ns)
FIELD(total_bytes)
FIELD(count)
FIELD(frees)
FIELD(temporary)
FIELD(first_ns)
FIELD(last_ns)

static uint64_t lifetime(const struct figures *figures, uint64_t end_ns)
{
	(void)end_ns;
	return figures_mean_lifetime(figures);
}

static uint64_t age(const struct figures *figures, uint64_t end_ns)
{
	return figures->count > 0 && end_ns > figures->first_ns ?
		end_ns - figures->first_ns : 0;
}

/* Total bytes without those still live: no sum is kept at each free. So it
 * includes blocks that ended without a free (EDGE_LOST). */
static uint64_t freed_bytes(const struct figures *figures, uint64_t end_ns)
{
	uint64_t held = figures->live_bytes + figures->unrecorded_bytes;

	(void)end_ns;
	return figures->total_bytes > held ? figures->total_bytes - held : 0;
}

/* ---- the table ---- */

#define BYTES(place, name, value) { name, place, QUANTITY_BYTES, value }
#define COUNT(place, name, value) { name, place, QUANTITY_COUNT, value }
#define TIME(place, name, value) { name, place, QUANTITY_NS, value }

/* Rows with equal values are sorted by the other kinds, in this order. */
const struct measure_kind measure_kinds[] = {
	[MEASURE_LIVE] = {
		.name = "live",
		.help = "bytes live at the end, or at --alive-at",
		.unit = QUANTITY_BYTES,
		.uses = MEASURE_SUMS | MEASURE_OVERVIEW | MEASURE_EXPORTED |
			MEASURE_LINES,
		.value = live_bytes,
		.blocks = live_blocks,
		.members = { BYTES(0, "live_bytes", live_bytes),
			     COUNT(1, "live_blocks", live_blocks) },
		.title = "LIVE",
		.titles = { [MEASURE_AT_END] = "LIVE AT THE END",
			    [MEASURE_THEN] = "LIVE THEN",
			    [MEASURE_NOW] = "LIVE NOW" },
		.meanings = {
			[MEASURE_AT_END] = "blocks that were never freed: "
				"leaked, or in use until the end",
			[MEASURE_THEN] = "blocks that were there at --alive-at",
			[MEASURE_NOW] = "blocks that are not freed yet",
		},
		.row = "{live_bytes} in {live_blocks} block{s}",
		.tree = "live bytes",
		.change = "not freed",
		.amount = { [MEASURE_AT_END] = "live at the end",
			    [MEASURE_NOW] = "live now" },
		.label = "live bytes",
	},
	[MEASURE_PEAK] = {
		.name = "peak",
		.help = "share of the peak",
		.unit = QUANTITY_BYTES,
		.uses = MEASURE_SUMS | MEASURE_OVERVIEW | MEASURE_EXPORTED |
			MEASURE_LINES,
		.value = peak_bytes,
		.blocks = peak_blocks,
		.members = { BYTES(2, "peak_bytes", peak_bytes),
			     COUNT(3, "peak_blocks", peak_blocks) },
		.title = "PEAK",
		.meanings = { "what was live at the moment when the program "
			      "held the most memory" },
		.row = "{peak_bytes} in {peak_blocks} block{s}",
		.tree = "bytes live when the program held most",
		.change = "live when the program held most",
		.amount = { "of the peak" },
		.label = "bytes at the peak",
	},
	[MEASURE_OWN_PEAK] = {
		.name = "own-peak",
		.help = "the most of each at any time",
		.unit = QUANTITY_BYTES,
		.uses = MEASURE_LINES,
		.value = own_peak_bytes,
		.blocks = own_peak_blocks,
		.members = { BYTES(8, "own_peak_bytes", own_peak_bytes),
			     COUNT(9, "own_peak_blocks", own_peak_blocks),
			     TIME(10, "own_peak_time_ns", own_peak_ns) },
		.title = "OWN PEAK",
		.meanings = { "the most that each held at any one time; not "
			      "all at once: no sum" },
		.row = "{own_peak_bytes} in {own_peak_blocks} block{s}",
		.amount = { "at most, each stack at its own time" },
	},
	[MEASURE_TOTAL] = {
		.name = "total",
		.help = "bytes in total",
		.unit = QUANTITY_BYTES,
		.uses = MEASURE_SUMS | MEASURE_OVERVIEW | MEASURE_EXPORTED |
			MEASURE_LINES,
		.value = total_bytes,
		.blocks = count,
		.members = { BYTES(4, "total_bytes", total_bytes) },
		.title = "TOTAL",
		.meanings = { "all bytes ever allocated, whether freed or "
			      "not" },
		.row = "{total_bytes} in {count} allocation{s}",
		.tree = "bytes allocated in all",
		.change = "ever allocated",
		.amount = { "allocated in total" },
		.label = "bytes in total",
	},
	[MEASURE_COUNT] = {
		.name = "count",
		.help = "number of allocations",
		.unit = QUANTITY_COUNT,
		.uses = MEASURE_SUMS | MEASURE_OVERVIEW | MEASURE_EXPORTED |
			MEASURE_LINES,
		.value = count,
		.members = { COUNT(5, "count", count) },
		.title = "COUNT",
		.meanings = { "most allocations: where time goes into malloc "
			      "and free" },
		.row = "{count} allocation{s}, {total_bytes} in total",
		.tree = "allocations",
		.change = "allocations",
		.amount = { "allocations" },
		.label = "allocations",
	},
	[MEASURE_TEMPORARY] = {
		.name = "temporary",
		.help = "number of temporary allocations",
		.unit = QUANTITY_COUNT,
		.uses = MEASURE_SUMS | MEASURE_OVERVIEW | MEASURE_EXPORTED |
			MEASURE_LINES,
		.value = temporary,
		.members = { COUNT(7, "temporary", temporary) },
		.title = "TEMPORARY",
		.meanings = { "freed before their thread's next allocation: "
			      "often avoidable" },
		.row = "{temporary} of {count} allocation{s}",
		.tree = "temporary allocations",
		.change = "freed soon after",
		.amount = { "temporary allocations" },
		.label = "temporary allocations",
	},
	[MEASURE_LIFETIME] = {
		.name = "lifetime",
		.help = "mean lifetime",
		.unit = QUANTITY_NS,
		.value = lifetime,
		.members = { COUNT(6, "frees", frees),
			     TIME(11, "lifetime_ns", lifetime) },
		.title = "LIFETIME",
		.meanings = { "how long freed blocks lived, on average" },
		.row = "[{lifetime_ns}] on average over {frees} free{s}",
	},
	[MEASURE_AGE] = {
		.name = "age",
		.help = "time since the first allocation",
		.unit = QUANTITY_NS,
		.value = age,
		.members = { TIME(12, "age_ns", age),
			     TIME(13, "first_ns", first_ns),
			     TIME(14, "last_ns", last_ns) },
		.title = "AGE",
		.meanings = { "time since the first allocation, to the end of "
			      "the recording" },
		.row = "[{age_ns}]: first at {first_ns}, last at {last_ns}; "
			"{live_bytes} live",
	},
	/* Kinds without a constant in enum figure. */
	{
		.name = "freed",
		.help = "bytes that were freed",
		.unit = QUANTITY_BYTES,
		.uses = MEASURE_SUMS | MEASURE_LINES,
		.value = freed_bytes,
		.blocks = frees,
		.members = { BYTES(15, "freed_bytes", freed_bytes) },
		.title = "FREED",
		.meanings = { "bytes of blocks that are gone: freed, or moved "
			      "by realloc" },
		.row = "{freed_bytes} in {frees} free{s}",
		.tree = "bytes freed",
		.change = "freed, or moved by realloc",
		.amount = { "freed" },
	},
};

const unsigned measure_count = sizeof(measure_kinds) / sizeof(measure_kinds[0]);
static_assert(sizeof(measure_kinds) / sizeof(measure_kinds[0]) <= MEASURES_MAX,
	      "tables by kind have room for each");

/* ---- kinds ---- */

bool figures_have(enum measure measure, unsigned uses)
{
	return (measure_kinds[measure].uses & uses) == uses;
}

bool figures_find(const char *name, enum measure *measure)
{
	for (unsigned i = 0; i < measure_count; i++)
		if (strcmp(measure_kinds[i].name, name) == 0) {
			*measure = (enum measure)i;
			return true;
		}
	return false;
}

uint64_t figures_value(const struct figures *figures, enum measure measure,
		       uint64_t end_ns)
{
	return measure_kinds[measure].value(figures, end_ns);
}

uint64_t figures_blocks(const struct figures *figures, enum measure measure)
{
	measure_value *blocks = measure_kinds[measure].blocks;

	return blocks != NULL ? blocks(figures, 0) : 0;
}

bool figures_any(const struct figures *figures, enum measure measure,
		 uint64_t end_ns)
{
	return figures_value(figures, measure, end_ns) > 0 ||
		figures_blocks(figures, measure) > 0;
}

/* The text for the moment, or the text for all moments. */
static const char *text_of(const char *const texts[MEASURE_MOMENTS],
			   enum measure_moment moment)
{
	return texts[moment] != NULL ? texts[moment] : texts[MEASURE_AT_END];
}

const char *figures_title(enum measure measure, enum measure_moment moment)
{
	const char *title = text_of(measure_kinds[measure].titles, moment);

	return title != NULL ? title : measure_kinds[measure].title;
}

const char *figures_meaning(enum measure measure, enum measure_moment moment)
{
	return text_of(measure_kinds[measure].meanings, moment);
}

const char *figures_amount(enum measure measure, enum measure_moment moment)
{
	return text_of(measure_kinds[measure].amount, moment);
}

/* ---- members ---- */

static const struct measure_member *member_at(unsigned i)
{
	return &measure_kinds[i / MEASURE_KIND_MEMBERS]
			.members[i % MEASURE_KIND_MEMBERS];
}

const struct measure_member *figures_member(const char *name, size_t size)
{
	for (unsigned i = 0; i < measure_count * MEASURE_KIND_MEMBERS; i++) {
		const struct measure_member *member = member_at(i);

		if (member->name != NULL && strlen(member->name) == size &&
		    memcmp(member->name, name, size) == 0)
			return member;
	}
	return NULL;
}

void figures_each(const struct figures *figures, uint64_t end_ns,
		  void (*each)(void *owner, const char *name, uint64_t value),
		  void *owner)
{
	const struct measure_member *by_place[MEASURE_MEMBERS_MAX + 1] = {
		NULL
	};

	for (unsigned i = 0; i < measure_count * MEASURE_KIND_MEMBERS; i++)
		if (member_at(i)->name != NULL)
			by_place[member_at(i)->place] = member_at(i);
	for (unsigned i = 0; by_place[i] != NULL; i++)
		each(owner, by_place[i]->name,
		     by_place[i]->value(figures, end_ns));
}

/* ---- sums ---- */

uint64_t figures_mean_lifetime(const struct figures *figures)
{
	return figures->frees == 0 ? 0 :
		(uint64_t)(figures->lifetime_ns / (double)figures->frees);
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
	sum->unrecorded_bytes += more->unrecorded_bytes;
}
