/*
 * test_sampler.c: distances are distributed as they have to be, and what a
 * reader makes of a sample is right on average: counts, bytes, what is live,
 * in all and by context, for 10 000 runs of a known program. And that this
 * would be seen if it were not so.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "preload/ring/sampler.h"
#include "tests/unit/model_feed.h"

#define DRAWS 400000

/* ---- distances ---- */

static void distances_are_exponential(void **state)
{
	static const uint64_t means[] = { 100, 4096, 512 << 10, 1u << 31 };

	(void)state;
	for (unsigned m = 0; m < 4; m++) {
		double mean = (double)means[m], sum = 0, square = 0;
		unsigned above[4] = { 0 };
		struct sampler sampler;

		sampler_begin(&sampler, 7, means[m]);
		for (unsigned i = 0; i < DRAWS; i++) {
			int64_t n = sampler_draw(&sampler, means[m]);

			assert_true(n >= 1 && n <= 45 * (int64_t)means[m]);
			sum += (double)n;
			square += (double)n * (double)n;
			for (unsigned k = 0; k < 4; k++)
				above[k] += (double)n > mean * (k + 1) / 2;
		}
		/* whole numbers: rounded up, half of one on average */
		assert_true(fabs(sum / DRAWS - mean - 0.5) <
			    4 * mean / sqrt(DRAWS));
		assert_true(fabs(sqrt(square / DRAWS) / mean - sqrt(2)) < 0.02);
		for (unsigned k = 0; k < 4; k++) {
			double part = exp(-((double)k + 1) / 2);

			assert_true(fabs((double)above[k] / DRAWS - part) <
				    4 * sqrt(part / DRAWS) + 1 / mean);
		}
	}
}

static void blocks_are_sampled_by_their_size(void **state)
{
	static const uint64_t sizes[] = { 0, 1, 16, 500, 1000, 3000, 20000 };
	const uint64_t mean = 1000;
	struct sampler sampler;

	(void)state;
	for (unsigned s = 0; s < 7; s++) {
		double size = sizes[s] ? (double)sizes[s] : 1;
		double part = -expm1(-size / (double)mean);
		unsigned taken = 0;

		sampler_begin(&sampler, 100 + s, mean);
		for (unsigned i = 0; i < DRAWS; i++)
			taken += sampler_take(&sampler, sizes[s], mean);
		assert_true(fabs((double)taken / DRAWS - part) <
			    4 * sqrt(part * (1 - part) / DRAWS) + 1e-9);
	}
}

static void seeds_give_different_lines(void **state)
{
	struct sampler a, b;
	unsigned same = 0;

	(void)state;
	for (uint64_t seed = 0; seed < 1000; seed++) {
		sampler_begin(&a, seed, 1u << 30);
		sampler_begin(&b, seed + 1, 1u << 30);
		same += a.until == b.until;
	}
	assert_int_equal(same, 0);
}

/* ---- runs ---- */

#define MEAN 4096
#define RUNS 10000
#define THREADS 2
#define PARTS 6
#define BLOCKS_MAX 2000

/* What the program does: the first part before all others, these in turn. */
static const struct site {
	unsigned blocks;	/* of each thread */
	uint64_t size;
	unsigned live;		/* each so many-th is never freed */
} parts[PARTS] = {
	{ 8, 100, 2 },		/* at the beginning only */
	{ 300, 24, 4 },
	{ 40, 1000, 2 },
	{ 8, 10000, 8 },
	{ 1, 100000, 1 },
	{ 30, 0, 3 },
};

enum { COUNT, BYTES, LIVE_COUNT, LIVE_BYTES, FIGURES };

/* How a run may go wrong. */
enum mistake { RIGHT, FIRST_FIXED, FIRST_TAKEN, WEIGHT_NAIVE, WEIGHT_NONE };

static double truth[PARTS + 1][FIGURES];	/* the last: of all */
static double got[PARTS + 1][FIGURES];
#define CELLS ((PARTS + 1) * FIGURES)
static double sum[CELLS], square[CELLS];

static struct trace_event events[BLOCKS_MAX * 2];
static size_t event_count;
static struct sampler lines[THREADS];

static void put(double to[PARTS + 1][FIGURES], unsigned part, bool live,
		double blocks, double bytes)
{
	unsigned rows[] = { part, PARTS };

	for (unsigned i = 0; i < 2; i++) {
		to[rows[i]][COUNT] += blocks;
		to[rows[i]][BYTES] += bytes;
		to[rows[i]][LIVE_COUNT] += live ? blocks : 0;
		to[rows[i]][LIVE_BYTES] += live ? bytes : 0;
	}
}

static void record(unsigned part, unsigned kind, uint64_t number)
{
	struct trace_event *event = &events[event_count++];

	*event = (struct trace_event){
		.stamp = event_count * 1000,
		.address = 0x1000 + number * 16,
		.size = kind == GT_ALLOC ? parts[part].size : 0,
		.context = kind == GT_ALLOC ? GT_STOP_COUNT + part : 0,
		.kind = (uint8_t)kind,
	};
}

/* One block of each thread. */
static void make(unsigned part, unsigned nth, bool exact)
{
	static uint64_t number;
	bool live = nth % parts[part].live == 0;

	for (unsigned t = 0; t < THREADS; t++) {
		if (exact)
			put(truth, part, live, 1, (double)parts[part].size);
		else if (sampler_take(&lines[t], parts[part].size, MEAN)) {
			record(part, GT_ALLOC, ++number);
			if (!live)
				record(part, GT_FREE, number);
		}
	}
}

static void program(bool exact)
{
	for (unsigned nth = 0; nth < parts[0].blocks; nth++)
		make(0, nth, exact);
	for (unsigned nth = 0; nth < 300; nth++)
		for (unsigned part = 1; part < PARTS; part++)
			if (nth < parts[part].blocks)
				make(part, nth, exact);
}

/* What the reader says. */
static void read_sample(void)
{
	struct trace_image image = { .what = GT_IMAGE_MAPPED, .path = "a",
				     .path_size = 1, .segment_count = 1 };
	struct model *model = model_new(NULL, NULL);
	char mean[16];

	snprintf(mean, sizeof(mean), "%d", MEAN);
	feed_info(model, "sample", mean);
	image.segments[0].size = 10000;
	feed_image(model, &image);
	feed_thread(model, 0, 0);
	for (uint32_t i = 0; i < PARTS; i++)
		feed_node(model, GT_STOP_COUNT + i, 0, 1000 + i);
	model_events(model, model_lane(1, false), events, event_count);
	model_finish(model);
	for (unsigned part = 0; part < PARTS; part++) {
		const struct context_cost *cost =
			fed_cost(model, GT_STOP_COUNT + part);

		got[part][COUNT] = (double)cost->allocations;
		got[part][BYTES] = (double)cost->total_bytes;
		got[part][LIVE_COUNT] = (double)cost->live_blocks;
		got[part][LIVE_BYTES] = (double)cost->live_bytes;
	}
	got[PARTS][COUNT] = (double)model_totals(model)->allocations;
	got[PARTS][BYTES] = (double)model_totals(model)->total_bytes;
	got[PARTS][LIVE_COUNT] = (double)model_totals(model)->live_blocks;
	got[PARTS][LIVE_BYTES] = (double)model_totals(model)->live_bytes;
	model_free(model);
}

/* What one with wrong weights would. */
static void weigh(enum mistake fault)
{
	for (size_t i = 0; i < event_count; i++) {
		const struct trace_event *event = &events[i];
		bool live = i + 1 == event_count ||
			events[i + 1].kind != GT_FREE;
		double size = (double)event->size, weight = 1;

		if (event->kind != GT_ALLOC)
			continue;
		if (fault == WEIGHT_NAIVE && size < MEAN)
			weight = MEAN / (size > 0 ? size : 1);
		put(got, event->context - GT_STOP_COUNT, live, weight,
		    weight * size);
	}
}

static void run(uint64_t seed, enum mistake fault)
{
	for (unsigned t = 0; t < THREADS; t++) {
		sampler_begin(&lines[t], seed * THREADS + t, MEAN);
		if (fault == FIRST_FIXED)
			lines[t].until = MEAN;
		if (fault == FIRST_TAKEN)
			lines[t].until = 1;
	}
	event_count = 0;
	memset(got, 0, sizeof(got));
	program(false);
	if (fault == WEIGHT_NAIVE || fault == WEIGHT_NONE)
		weigh(fault);
	else
		read_sample();
}

/* By how many standard errors the mean of all runs is wrong, at most. */
static double worst(unsigned runs, enum mistake fault)
{
	double most = 0;

	memset(truth, 0, sizeof(truth));
	memset(sum, 0, sizeof(sum));
	memset(square, 0, sizeof(square));
	program(true);
	for (unsigned r = 0; r < runs; r++) {
		run(r, fault);
		for (unsigned i = 0; i < CELLS; i++) {
			double now = got[i / FIGURES][i % FIGURES];

			sum[i] += now;
			square[i] += now * now;
		}
	}
	for (unsigned i = 0; i < CELLS; i++) {
		double mean = sum[i] / runs;
		double error = sqrt((square[i] / runs - mean * mean) /
				    (runs - 1));
		double off = fabs(mean - truth[i / FIGURES][i % FIGURES]);

		/* whole numbers: half a block or byte is nothing */
		if (off > 0.5)
			most = fmax(most, error > 0 ? off / error : INFINITY);
	}
	return most;
}

static void estimates_are_right_on_average(void **state)
{
	double most;

	(void)state;
	most = worst(RUNS, RIGHT);
	print_message("largest error: %.2f standard errors\n", most);
	assert_true(most < 3);
}

static void estimates_detect_planted_mistakes(void **state)
{
	(void)state;
	for (enum mistake fault = FIRST_FIXED; fault <= WEIGHT_NONE; fault++) {
		double most = worst(RUNS / 4, fault);

		print_message("fault %d: %.2f standard errors\n", (int)fault,
			      most);
		assert_true(most > 6);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(distances_are_exponential),
		cmocka_unit_test(blocks_are_sampled_by_their_size),
		cmocka_unit_test(seeds_give_different_lines),
		cmocka_unit_test(estimates_are_right_on_average),
		cmocka_unit_test(estimates_detect_planted_mistakes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
