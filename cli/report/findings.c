/*
 * findings.c: detects findings, and decides which of them matter. The sentences
 * are in findings_write.c. Called by the main thread.
 *
 * Thresholds and their reasons:
 *
 *	leak		a site with a twentieth of the peak at the end: a
 *			smaller one does not explain the process's size. Or very
 *			many blocks and a hundredth of the peak: a frequent leak
 *			grows with the running time. Neither a few small blocks,
 *			such as stream buffers, nor blocks that run-time
 *			libraries keep for themselves.
 *	growth		in seven of ten steps, by a twentieth of the peak, in a
 *			run of at least a second: all programs grow at first.
 *	fragmentation	a quarter of resident memory, and a megabyte.
 *	churn		a fifth of all allocations, and ten thousand, which cost
 *			a millisecond.
 *	peak		always, unless the leak finding says the same.
 */
#include "cli/report/findings.h"

#include <stdlib.h>
#include <string.h>

#include "cli/base/grow.h"
#include "cli/base/sort.h"
#include "cli/model/core/contexts.h"
#include "cli/model/pages/pages.h"
#include "cli/model/stats/footprint.h"
#include "cli/report/findings_write.h"

#define STEPS 16		/* of the growth test */
#define STEADY 0.7		/* share of steps that must grow */
#define FALLS 8			/* one step of this many may shrink */
#define GROWERS 12		/* sites that are tested */
#define GROWTH_MIN_NS UINT64_C(1000000000)
#define LEAK_SHARE 0.05		/* of the peak */
#define LEAK_MIN (UINT64_C(16) << 10)
#define LEAK_MIN_BLOCKS 10
#define OTHERS 2		/* sites besides the largest */
#define OTHERS_SHARE 0.01	/* of live memory */
#define OFTEN 1000		/* blocks */
#define OFTEN_SHARE 0.01
#define CHURN_SHARE 0.2		/* of allocations */
#define CHURN_MIN 10000
#define WASTE_SHARE 0.25	/* of resident memory */
#define WASTE_MIN (UINT64_C(1) << 20)
#define PAGES_BLOCKS_MAX 4000000	/* sorting more takes over a second */

static double share(uint64_t part, uint64_t whole)
{
	return whole > 0 ? (double)part / (double)whole : 0;
}

/* Appends a finding of this kind about that site. */
static struct finding *add(struct findings *findings, enum finding_kind kind,
			   const struct finding_site *site)
{
	struct finding *f = &findings->list[findings->count++];

	*f = (struct finding){ .kind = kind };
	if (site != NULL && site->known) {
		f->has_site = true;
		f->site = site->frame;
	}
	return f;
}

/* ---- rows ---- */

/* By site, whatever groups the report has. */
static void collect(struct report *r, enum measure order, uint64_t limit,
		    struct query_rows *rows)
{
	report_source(r, order, limit);
	*r->query.keys = query_key_site();
	r->query.key_count = 1;
	r->query.all_figures = false;
	r->query.spares |= QUERY_SPARES_OWN_PEAKS;
	report_collect_query(r, rows);
}

static struct finding_site site_of(struct report *r,
				   const struct query_row *row)
{
	struct finding_site site = { .figures = row->figures };

	report_load(r, row->node);
	site.known = r->stack.count > 0;
	if (site.known)
		site.frame = r->stack.list[r->stack.site];
	return site;
}

/* The site with the most of a measure. False: all have 0. */
static bool find_top(struct report *r, enum measure order,
		     struct finding_site *site)
{
	struct query_rows rows;
	bool any;

	collect(r, order, 1, &rows);
	any = rows.nonzero > 0 && rows.count > 0;
	if (any)
		*site = site_of(r, rows.list);
	query_rows_free(&rows);
	return any;
}

/* ---- growth ---- */

uint64_t findings_growth(const struct series_step *steps, size_t count)
{
	size_t from = 0, rises = 0, falls = 0, moves;

	while (from < count && steps[from].allocations == 0)
		from++;
	if (count - from < STEPS / 2 || count - from < 2)
		return 0;
	moves = count - from - 1;
	for (size_t i = from + 1; i < count; i++) {
		rises += steps[i].live_bytes > steps[i - 1].live_bytes;
		falls += steps[i].live_bytes < steps[i - 1].live_bytes;
	}
	if ((double)rises < STEADY * (double)moves ||
	    falls > (count - from) / FALLS ||
	    steps[count - 1].live_bytes <= steps[from].live_bytes)
		return 0;
	return steps[count - 1].live_bytes - steps[from].live_bytes;
}

/* Whether steps can show that the row grew steadily, and whether that would
 * matter. */
static bool may_grow(const struct report *r, const struct query_row *row)
{
	const struct figures *f = &row->figures;

	return f->count >= STEPS &&
		share(f->live_bytes, r->about.sum.peak_bytes) >= LEAK_SHARE &&
		f->first_ns <= r->end_ns / 2 &&
		f->last_ns >= r->end_ns - r->end_ns / 4;
}

static bool has_growth(const struct report *r, const struct query_rows *rows)
{
	if (r->end_ns < GROWTH_MIN_NS || query_is_of_moment(r->options->query) ||
	    !model_can_be_read_again(r->about.trace, NULL))
		return false;
	for (size_t i = 0; i < rows->count && i < GROWERS; i++)
		if (may_grow(r, &rows->list[i]))
			return true;
	return false;
}

/* Of the rows, which are those with most live bytes, the one that grew most;
 * GROWERS: none grew. */
static size_t find_grower(const struct report *r, struct query_rows *rows,
			  uint64_t *gained)
{
	const struct series_axis axis = { .end_ns = r->end_ns, .steps = STEPS };
	size_t shown = rows->count < GROWERS ? rows->count : GROWERS;
	size_t grower = GROWERS;
	struct series series;

	*gained = 0;
	if (!has_growth(r, rows))
		return GROWERS;
	series_follow(rows, shown, &axis, &series);
	for (size_t i = 0; i < series.shown; i++) {
		uint64_t gain = may_grow(r, &rows->list[i]) ?
			findings_growth(series_of(&series, i), STEPS) : 0;

		if (gain > *gained) {
			*gained = gain;
			grower = i;
		}
	}
	series_free(&series);
	return grower;
}

static void add_growth(struct report *r, struct findings *findings,
		       const struct finding_site *site, uint64_t gained)
{
	struct finding *f = add(findings, FINDING_GROWTH, site);
	double s = share(gained, r->about.sum.peak_bytes);

	f->matters = s >= LEAK_SHARE;
	f->weight = .4 + .6 * (s < 1 ? s : 1);
	findings_write_growth(r, f, site, gained);
}

/* ---- leaks ---- */

/* Whether run-time libraries keep this for themselves: not a leak of the
 * program. */
static bool is_of_runtime(const struct finding_site *site)
{
	return !site->known || site->frame.glue;
}

/* The first row of the program's own code; 0: none is. */
static size_t first_own(struct report *r, const struct query_rows *rows)
{
	for (size_t i = 0; i < rows->count; i++) {
		const struct finding_site site = site_of(r, &rows->list[i]);

		if (!is_of_runtime(&site))
			return i;
	}
	return 0;
}

static void add_leak(struct report *r, struct findings *findings,
		     const struct finding_site *site)
{
	struct finding *f = add(findings, FINDING_LEAK, site);
	double s = share(site->figures.live_bytes, r->about.sum.peak_bytes);
	bool often = site->figures.live_blocks >= OFTEN && s >= OFTEN_SHARE;
	bool worth = site->figures.live_bytes >= LEAK_MIN ||
		site->figures.live_blocks >= LEAK_MIN_BLOCKS;

	f->matters = !is_of_runtime(site) &&
		((s >= LEAK_SHARE && worth) || often);
	f->weight = often && s < .3 ? .3 : s < 1 ? s : 1;
	findings_write_leak(r, f, site);
}

/* Adds the next rows of the program's own code, unless they are tiny. */
static void add_others(struct report *r, const struct query_rows *rows,
		       size_t first, struct finding *f)
{
	unsigned others = 0;

	for (size_t i = first + 1; i < rows->count && others < OTHERS; i++) {
		const struct query_row *row = &rows->list[i];
		const struct finding_site site = site_of(r, row);

		if (is_of_runtime(&site) ||
		    share(row->figures.live_bytes, r->about.sum.live_bytes) <
		    OTHERS_SHARE)
			continue;
		findings_write_also(r, f, &site, row->contexts == 1);
		others++;
	}
}

static void find_leaks(struct report *r, struct findings *findings)
{
	struct finding_site leak, grown = { .known = false };
	struct query_rows rows;
	size_t grower, own;
	uint64_t gained;

	collect(r, MEASURE_LIVE, GROWERS, &rows);
	if (rows.nonzero == 0 || rows.count == 0) {
		query_rows_free(&rows);
		return;
	}
	own = first_own(r, &rows);
	leak = site_of(r, &rows.list[own]);
	grower = find_grower(r, &rows, &gained);
	if (grower < GROWERS)
		grown = site_of(r, &rows.list[grower]);
	if (gained > 0)
		add_growth(r, findings, &grown, gained);
	add_leak(r, findings, &leak);
	add_others(r, &rows, own, &findings->list[findings->count - 1]);
	query_rows_free(&rows);
	/* One sentence for one site. */
	if (gained > 0 && grower == own)
		findings_join(findings, gained);
}

/* ---- the peak, temporary blocks ---- */

static bool is_same_site(const struct finding *f,
			 const struct finding_site *site)
{
	return f->has_site && site->known &&
		f->site.function == site->frame.function &&
		f->site.file == site->frame.file &&
		f->site.line == site->frame.line;
}

/* Whether another finding covers this site: it leaks nearly all that it had at
 * the peak. */
static bool is_said(const struct findings *findings,
		    const struct finding_site *site)
{
	for (unsigned i = 0; i < findings->count; i++)
		if (findings->list[i].matters &&
		    findings->list[i].kind != FINDING_CHURN &&
		    is_same_site(&findings->list[i], site) &&
		    site->figures.peak_bytes <= site->figures.live_bytes +
						site->figures.live_bytes / 4)
			return true;
	return false;
}

static void find_peak(struct report *r, struct findings *findings)
{
	struct finding_site site;
	struct finding *f;
	bool said;

	if (!find_top(r, MEASURE_PEAK, &site))
		return;
	said = is_said(findings, &site);
	f = add(findings, FINDING_PEAK, &site);
	f->matters = !said && !is_of_runtime(&site);
	f->weight = .25 * share(site.figures.peak_bytes,
				r->about.sum.peak_bytes);
	findings_write_peak(r, f, &site);
}

static void find_churn(struct report *r, struct findings *findings)
{
	const struct figures *sum = &r->about.sum;
	uint64_t recorded = sum->count - r->about.unrecorded_in_sum;
	double part = share(sum->temporary, recorded);
	struct finding_site site;
	struct finding *f;

	/* a sample lacks the allocations in between */
	if (r->about.coverage.sample_mean > 0 ||
	    !find_top(r, MEASURE_TEMPORARY, &site))
		return;
	f = add(findings, FINDING_CHURN, &site);
	f->matters = part >= CHURN_SHARE && sum->temporary >= CHURN_MIN;
	f->weight = .6 * part;
	findings_write_churn(r, f, &site, recorded);
}

/* ---- fragmentation ---- */

/* Whether all live blocks are known, so that pages can be computed. */
static bool has_pages(const struct report *r)
{
	const struct coverage *coverage = &r->about.coverage;

	return r->keep == NULL && !model_is_selected(r->model) &&
		!model_is_sampled(r->model) &&
		coverage->left_out.allocations == 0 &&
		coverage->unrecorded.allocations == 0 &&
		r->about.sum.live_blocks > 0 &&
		r->about.sum.live_blocks <= PAGES_BLOCKS_MAX;
}

/* The site of each cost; *count: the number of sites. */
static uint32_t *sites_of_costs(const struct report *r, size_t *count)
{
	const struct contexts *contexts = model_contexts(r->model);
	uint32_t *sites = grow_alloc((contexts->cost_count + 1) *
				     sizeof(*sites));

	*count = 0;
	for (size_t i = 0; i < contexts->cost_count; i++) {
		uint64_t key = frames_site_key(r->frames,
					       contexts->costs[i].node);

		sites[i] = key < UINT32_MAX ? (uint32_t)key : PAGES_NO_GROUP;
		if (key < UINT32_MAX && key >= *count)
			*count = (size_t)key + 1;
	}
	return sites;
}

/* The site that keeps most page memory besides its blocks. */
static struct finding_site find_keeper(struct report *r,
				       const struct pages *pages,
				       const uint32_t *sites,
				       const struct pages_group **keeper)
{
	const struct contexts *contexts = model_contexts(r->model);
	struct finding_site site = { .known = false };
	size_t best = 0;

	for (size_t i = 1; i < pages->group_count; i++)
		if (pages->groups[i].shared_bytes >
		    pages->groups[best].shared_bytes)
			best = i;
	*keeper = &pages->groups[best];
	for (size_t i = 0; i < contexts->cost_count; i++) {
		if (sites[i] != best)
			continue;
		report_load(r, contexts->costs[i].node);
		site.known = r->stack.count > 0;
		if (site.known)
			site.frame = r->stack.list[r->stack.site];
		break;
	}
	return site;
}

static void add_fragmentation(struct report *r, struct findings *findings,
			      const struct pages *pages, const uint32_t *sites)
{
	uint64_t kept = pages->sum.pages * pages->page_size;
	uint64_t waste = kept - pages->sum.live_bytes;
	uint64_t resident = footprint_last(model_footprint(r->model),
					   GT_USAGE_RSS);
	const struct pages_group *keeper;
	struct finding_site site = find_keeper(r, pages, sites, &keeper);
	struct finding *f = add(findings, FINDING_FRAGMENTATION, &site);
	double s = share(waste, resident > kept ? resident : kept);

	f->matters = s >= WASTE_SHARE && waste >= WASTE_MIN;
	f->weight = s;
	findings_write_fragmentation(f, pages, keeper);
}

static void find_fragmentation(struct report *r, struct findings *findings)
{
	struct pages_options options = { .moment_ns = r->end_ns };
	struct pages *pages;
	uint32_t *sites;

	if (!has_pages(r) || query_is_of_moment(r->options->query))
		return;
	sites = sites_of_costs(r, &options.group_count);
	options.group_of_cost = sites;
	pages = pages_new(r->model, &options);
	if (pages != NULL && options.group_count > 0 && pages->sum.pages > 0)
		add_fragmentation(r, findings, pages, sites);
	pages_free(pages);
	free(sites);
}

/* ---- all findings ---- */

static void find_missing(const struct report *r, struct findings *findings)
{
	struct finding *f = add(findings, FINDING_MISSING, NULL);

	f->weight = 2;	/* before the others, which only cover existing data */
	f->matters = true;
	if (!findings_write_missing(r, f)) {
		findings_free_one(f);
		findings->count--;
	}
}

static int by_weight(const void *a, const void *b)
{
	const struct finding *x = a, *y = b;

	return x->matters != y->matters ? (x->matters ? -1 : 1) :
		x->weight != y->weight ? (x->weight > y->weight ? -1 : 1) :
		sort_up(x->kind, y->kind);
}

void findings_find(struct report *r, struct findings *findings)
{
	findings->count = 0;
	find_missing(r, findings);
	find_leaks(r, findings);
	find_fragmentation(r, findings);
	find_churn(r, findings);
	find_peak(r, findings);
	SORT(findings->list, findings->count, by_weight);
}

void findings_free(struct findings *findings)
{
	for (unsigned i = 0; i < findings->count; i++)
		findings_free_one(&findings->list[i]);
	findings->count = 0;
}

enum measure findings_figure(const struct findings *findings)
{
	static const int figures[FINDING_KINDS] = {
		[FINDING_MISSING] = -1,
		[FINDING_LEAK] = MEASURE_LIVE,
		[FINDING_GROWTH] = MEASURE_LIVE,
		[FINDING_FRAGMENTATION] = -1,
		[FINDING_CHURN] = MEASURE_TEMPORARY,
		[FINDING_PEAK] = MEASURE_PEAK,
	};

	for (unsigned i = 0; i < findings->count; i++)
		if (findings->list[i].matters &&
		    figures[findings->list[i].kind] >= 0)
			return (enum measure)figures[findings->list[i].kind];
	return MEASURE_PEAK;
}
