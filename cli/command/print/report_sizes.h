/*
 * report_sizes.h: how large blocks were and how long they lived, by powers
 * of two.
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
	/* not with filters of stacks */
	uint64_t frees;
	uint64_t temporary;
	uint64_t live_blocks;
	uint64_t live_bytes;
	double lifetime_ns;	/* sum over the freed blocks */
};

struct report_sizes {
	struct report_size size[HISTOGRAM_BUCKETS];
	struct histogram_bucket lifetime[HISTOGRAM_BUCKETS];	/* ns */
	bool coarse;		/* only the first two of each size are known */
	bool unknown;		/* nothing is: there are filters of stacks, and
				 * the model has no histograms of contexts */
};

/* Put those of the report's model to what is there. */
void report_sizes_add(struct report *report);
/* A line of the summary: what share of the blocks lived how long. */
void report_lifetimes_line(const struct report *report);
/* The sections, the members of --sizes. */
void report_sizes_text(const struct report *report);
void report_sizes_json(struct json *json, const struct report *report);
/* The same members of a part of a report, of which less is known. */
void report_histograms_json(struct json *json, const struct histogram *sizes,
			    const struct histogram *lifetimes);

#endif
