/*
 * report_sizes.h: histograms of block sizes and lifetimes, by powers of two.
 */
#ifndef GNOMON_REPORT_SIZES_H
#define GNOMON_REPORT_SIZES_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/base/text/json.h"
#include "cli/model/stats/histograms.h"

struct report;

struct report_size {
	uint64_t allocations;
	uint64_t bytes;
	/* not with stack filters */
	uint64_t frees;
	uint64_t temporary;
	uint64_t live_blocks;
	uint64_t live_bytes;
	double lifetime_ns;	/* sum over the freed blocks */
};

struct report_sizes {
	struct report_size size[HISTOGRAM_BUCKETS];
	struct histogram_bucket lifetime[HISTOGRAM_BUCKETS];	/* ns */
	bool coarse;		/* each size has only the first two members */
	bool unknown;		/* no values: there are stack filters, and the
				 * model has no histograms of contexts */
};

/* Adds the histograms of the report's model. */
void report_sizes_add(struct report *report);
/* A line of the summary: shares of blocks by lifetime. */
void report_lifetimes_line(const struct report *report);
/* The sections, and the members, of --sizes. */
void report_sizes_text(const struct report *report);
void report_sizes_json(struct json *json, const struct report *report);
/* The same members for a part of a report, with less detail. */
void report_histograms_json(struct json *json, const struct histogram *sizes,
			    const struct histogram *lifetimes);

#endif
