/*
 * report_sizes.c: see report_sizes.h. Called by the main thread.
 */
#include "cli/command/print/report_sizes.h"

#include <inttypes.h>
#include <stdio.h>

#include "cli/base/text/quantity.h"
#include "cli/command/print/report_parts.h"
#include "cli/model/core/contexts.h"
#include "cli/trace/read/clock.h"

static void add_whole(const struct model *model, struct report_sizes *sizes)
{
	const struct histograms *from = model_histograms(model);

	for (unsigned i = 0; i < HISTOGRAM_BUCKETS; i++) {
		const struct size_class *class = &from->sizes[i];
		struct report_size *size = &sizes->size[i];

		size->allocations += class->allocations;
		size->bytes += class->bytes;
		size->frees += class->frees;
		size->temporary += class->temporary;
		size->live_blocks += class->live_blocks;
		size->live_bytes += class->live_bytes;
		size->lifetime_ns += class->lifetime *
			clock_rate(model_clock(model));
		sizes->lifetime[i].blocks += from->lifetimes[i].blocks;
		sizes->lifetime[i].bytes += from->lifetimes[i].bytes;
	}
}

static void add_kept(const struct report *r, struct report_sizes *sizes)
{
	const struct contexts *contexts = model_contexts(r->model);
	struct histogram sum = { 0 }, lifetimes = { 0 };

	for (size_t i = 0; i < contexts->cost_count; i++) {
		struct figures figures;

		if (!report_keeps(r, i, &figures))
			continue;
		histograms_add(model_histograms(r->model), (uint32_t)i,
			       HISTOGRAM_SIZES, &sum);
		histograms_add(model_histograms(r->model), (uint32_t)i,
			       HISTOGRAM_LIFETIMES, &lifetimes);
	}
	for (unsigned i = 0; i < HISTOGRAM_BUCKETS; i++) {
		sizes->size[i].allocations += sum.bucket[i].blocks;
		sizes->size[i].bytes += sum.bucket[i].bytes;
		sizes->lifetime[i].blocks += lifetimes.bucket[i].blocks;
		sizes->lifetime[i].bytes += lifetimes.bucket[i].bytes;
	}
}

void report_sizes_add(struct report *r)
{
	struct report_sizes *sizes = &r->sizes;

	if (r->keep == NULL) {
		add_whole(r->model, sizes);
	} else if (r->options->query->wants & MODEL_WANT_HISTOGRAMS) {
		sizes->coarse = true;
		add_kept(r, sizes);
	} else {
		sizes->unknown = true;
	}
}

/* ---- text ---- */

/* Powers of two near powers of ten: lifetimes below 2^i ns are below the time
 * in `text`, within a tenth. */
static const struct {
	unsigned bucket;	/* the first bucket that is not below */
	const char *text;
} steps[] = {
	{ 11, "1us" }, { 21, "1ms" }, { 31, "1s" }, { 37, "1min" },
};

/* Allocations whose fate is known. */
static uint64_t recorded(const struct report_process *about)
{
	return about->sum.count - about->unrecorded_in_sum;
}

void report_lifetimes_line(const struct report *r)
{
	uint64_t all = recorded(&r->about), below = 0, freed = 0;
	unsigned bucket = 0;

	if (r->sizes.unknown || all == 0)
		return;
	for (unsigned i = 0; i < HISTOGRAM_BUCKETS; i++)
		freed += r->sizes.lifetime[i].blocks;
	if (freed == 0)
		return;
	fprintf(r->out, "  lifetimes    below ");
	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		uint64_t before = below;

		for (; bucket < steps[i].bucket; bucket++)
			below += r->sizes.lifetime[bucket].blocks;
		if (below > before)
			fprintf(r->out, "%s%s %s", before > 0 ? ", " : "",
				steps[i].text, PERCENT_TEXT(below, all));
	}
	fprintf(r->out, "%s not freed %s\n", below > 0 ? ";" : "1min 0.0%;",
		PERCENT_TEXT(all - freed, all));
}

/* "16 - 31 B": the sizes of a bucket. */
static void put_range(FILE *out, unsigned bucket)
{
	char range[2 * QUANTITY_TEXT];

	if (bucket < 2)
		snprintf(range, sizeof(range), "%u B", bucket);
	else if (bucket < 11)
		snprintf(range, sizeof(range), "%" PRIu64 " - %" PRIu64 " B",
			 histogram_low(bucket),
			 histogram_low(bucket) * 2 - 1);
	else
		snprintf(range, sizeof(range), "%s - %s",
			 SIZE_TEXT(histogram_low(bucket)),
			 bucket < 63 ? SIZE_TEXT(histogram_low(bucket + 1)) :
			 "");
	fprintf(out, "  %-14s", range);
}

static void put_size(const struct report *r, unsigned bucket, uint64_t all)
{
	const struct report_size *size = &r->sizes.size[bucket];

	put_range(r->out, bucket);
	fprintf(r->out, " %13s %s%6s%s %9s", COUNT_TEXT(size->allocations),
		r->style->share, PERCENT_TEXT(size->allocations, all),
		r->style->off, SIZE_TEXT(size->bytes));
	if (!r->sizes.coarse) {
		fprintf(r->out, " %9s %9s", SIZE_TEXT(size->live_bytes),
			PERCENT_TEXT(size->temporary, size->allocations));
		fprintf(r->out, " %9s", size->frees == 0 ? "-" :
			TIME_TEXT((uint64_t)(size->lifetime_ns /
					     (double)size->frees)));
	}
	putc('\n', r->out);
}

static void put_lifetimes(const struct report *r)
{
	uint64_t all = recorded(&r->about), below = 0;

	fprintf(r->out, "\n%sLIFETIMES%s: how long freed blocks lived\n\n  "
		"%-14s %13s %6s %9s %9s\n", r->style->title,
		r->style->off, "less than", "blocks", "share", "so far",
		"bytes");
	for (unsigned i = 0; i < HISTOGRAM_BUCKETS; i++) {
		const struct histogram_bucket *sum = &r->sizes.lifetime[i];

		below += sum->blocks;
		if (sum->blocks == 0)
			continue;
		fprintf(r->out, "  %-14s %13s %s%6s%s ",
			i >= 64 ? "for ever" : i == 0 ? "a clock's step" :
			TIME_TEXT(histogram_low(i + 1)),
			COUNT_TEXT(sum->blocks), r->style->share,
			PERCENT_TEXT(sum->blocks, all), r->style->off);
		fprintf(r->out, "%9s %9s\n", PERCENT_TEXT(below, all),
			SIZE_TEXT(sum->bytes));
	}
	if (below < all)
		fprintf(r->out, "  %-14s %13s %6s\n", "not freed",
			COUNT_TEXT(all - below),
			PERCENT_TEXT(all - below, all));
}

void report_sizes_text(const struct report *r)
{
	uint64_t all = 0;

	for (unsigned i = 0; i < HISTOGRAM_BUCKETS; i++)
		all += r->sizes.size[i].allocations;
	fprintf(r->out, "\n%sSIZES%s: sizes of allocated blocks\n\n",
		r->style->title, r->style->off);
	if (all == 0) {
		fprintf(r->out, "      none\n");
		return;
	}
	fprintf(r->out, "  %-14s %13s %6s %9s%s\n", "size", "allocations",
		"share", "bytes", r->sizes.coarse ? "" :
		"      live temporary mean life");
	for (unsigned i = 0; i < HISTOGRAM_BUCKETS; i++)
		if (r->sizes.size[i].allocations > 0)
			put_size(r, i, all);
	put_lifetimes(r);
}

/* ---- JSON ---- */

static void json_range(struct json *json, const char *min, const char *max,
		       unsigned bucket)
{
	json_uint(json, min, histogram_low(bucket));
	json_uint(json, max, histogram_high(bucket));
}

static void put_lifetimes_json(struct json *json,
			       const struct histogram_bucket *lifetimes)
{
	json_array(json, "lifetimes");
	for (unsigned i = 0; i < HISTOGRAM_BUCKETS; i++) {
		if (lifetimes[i].blocks == 0)
			continue;
		json_object(json, NULL);
		json_range(json, "min_ns", "max_ns", i);
		json_uint(json, "blocks", lifetimes[i].blocks);
		json_uint(json, "bytes", lifetimes[i].bytes);
		json_end_object(json);
	}
	json_end_array(json);
}

void report_sizes_json(struct json *json, const struct report *r)
{
	json_array(json, "sizes");
	for (unsigned i = 0; i < HISTOGRAM_BUCKETS; i++) {
		const struct report_size *size = &r->sizes.size[i];

		if (size->allocations == 0)
			continue;
		json_object(json, NULL);
		json_range(json, "min", "max", i);
		json_uint(json, "count", size->allocations);
		json_uint(json, "total_bytes", size->bytes);
		if (!r->sizes.coarse) {
			json_uint(json, "frees", size->frees);
			json_uint(json, "temporary", size->temporary);
			json_uint(json, "live_blocks", size->live_blocks);
			json_uint(json, "live_bytes", size->live_bytes);
			json_uint(json, "lifetime_ns", size->frees == 0 ? 0 :
				  (uint64_t)(size->lifetime_ns /
					     (double)size->frees));
		}
		json_end_object(json);
	}
	json_end_array(json);
	put_lifetimes_json(json, r->sizes.lifetime);
}

void report_histograms_json(struct json *json, const struct histogram *sizes,
			    const struct histogram *lifetimes)
{
	json_array(json, "sizes");
	for (unsigned i = 0; i < HISTOGRAM_BUCKETS; i++) {
		if (sizes->bucket[i].blocks == 0)
			continue;
		json_object(json, NULL);
		json_range(json, "min", "max", i);
		json_uint(json, "count", sizes->bucket[i].blocks);
		json_uint(json, "total_bytes", sizes->bucket[i].bytes);
		json_end_object(json);
	}
	json_end_array(json);
	put_lifetimes_json(json, lifetimes->bucket);
}
