/*
 * histograms.h: histograms of block sizes and lifetimes by powers of two, of
 * the whole run and (sparsely) of contexts.
 */
#ifndef GNOMON_HISTOGRAMS_H
#define GNOMON_HISTOGRAMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bucket 0 is for 0; bucket i for 2^(i-1) … 2^i - 1. */
#define HISTOGRAM_BUCKETS 65

enum histogram_kind {
	HISTOGRAM_SIZES,	/* bytes, of all allocations */
	HISTOGRAM_LIFETIMES,	/* ns, of all freed blocks */
	HISTOGRAM_KINDS
};

struct histogram_bucket {
	uint64_t blocks;
	uint64_t bytes;		/* of these blocks, for lifetimes as well */
};

struct histogram {
	struct histogram_bucket bucket[HISTOGRAM_BUCKETS];
};

/* All blocks of a size class, of the whole run. */
struct size_class {
	uint64_t allocations;
	uint64_t bytes;		/* of the allocations */
	uint64_t frees;
	uint64_t temporary;	/* of the frees */
	uint64_t live_blocks;	/* set once everything was read */
	uint64_t live_bytes;
	double lifetime;	/* ticks, sum over the freed blocks */
};

/* A bucket of a context; all buckets of a context form a list. */
struct histogram_cell {
	struct histogram_bucket sum;
	uint32_t next;		/* in cells; 0: none */
	uint8_t kind;		/* enum histogram_kind */
	uint8_t bucket;
};

struct histograms {
	struct size_class sizes[HISTOGRAM_BUCKETS];
	struct histogram_bucket lifetimes[HISTOGRAM_BUCKETS];
	/* With MODEL_WANT_HISTOGRAMS: */
	struct histogram_cell *cells;	/* 0 is not used */
	size_t cell_count, cell_capacity;
	uint32_t *first;	/* by cost, in cells; 0: none */
	size_t first_count;
};

static inline unsigned histogram_bucket(uint64_t value)
{
	return value == 0 ? 0 : 64 - (unsigned)__builtin_clzll(value);
}

/* The smallest value of a bucket. */
static inline uint64_t histogram_low(unsigned bucket)
{
	return bucket == 0 ? 0 : UINT64_C(1) << (bucket - 1);
}

/* The largest value of a bucket. */
static inline uint64_t histogram_high(unsigned bucket)
{
	return bucket == 0 ? 0 : bucket == 64 ? UINT64_MAX :
		histogram_low(bucket + 1) - 1;
}

/* The bucket of a context, made if missing. */
struct histogram_bucket *histograms_cell(struct histograms *histograms,
					 uint32_t cost,
					 enum histogram_kind kind,
					 unsigned bucket);
/* Add the histogram of a context to `sum`; a zeroed one is empty. */
void histograms_add(const struct histograms *histograms, uint32_t cost,
		    enum histogram_kind kind, struct histogram *sum);
void histograms_free(struct histograms *histograms);

/* Buckets of cells are valid, and lists of cells end. With
 * GNOMON_DEBUG_ASSERTS. */
bool histograms_is_valid(const struct histograms *histograms);

#endif
