/*
 * test_edges.c: random operations of several threads, some of whose events
 * come out of order or are lost, against what is true; and what edges say of
 * events that lack others. What blocks mean is tested with those who keep
 * figures of them (test_model.c, test_block_table.c).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cli/model/core/edges.h"

#define LANES 5
#define PLACES 200
#define STEPS 40000
#define WINDOW 64

static struct edges edges;
static uint64_t allocs, ends[EDGE_LOST + 1], odds[EDGE_REPAIRED + 1], refusals;
static uint64_t chains, lost_chains, odd_ends;

static void alloc(void *owner, struct block *block, uint32_t lane,
		  uint32_t context, uint32_t chain)
{
	assert_ptr_equal(owner, &edges);
	block->thread = lane;
	block->cost = context;
	allocs++;
	chains -= chain != 0;
}

static uint32_t end(void *owner, struct block *block, uint64_t stamp,
		    uint32_t by, enum edge_end how)
{
	(void)stamp;
	(void)by;
	assert_ptr_equal(owner, &edges);
	assert_ptr_equal(blocks_find(&edges.blocks, block->address), block);
	ends[how]++;
	odd_ends += block->odd;
	if (how != EDGE_MOVED)
		return 0;
	chains++;
	return block->cost + 1;
}

static void chain_lost(void *owner, uint32_t chain, uint64_t stamp)
{
	(void)owner;
	(void)stamp;
	lost_chains += chain != 0;
	chains -= chain != 0;
}

static void odd(void *owner, enum edge_odd what, uint64_t stamp)
{
	(void)owner;
	(void)stamp;
	odds[what]++;
}

static void refused(void *owner, uint32_t lane)
{
	(void)owner;
	(void)lane;
	refusals++;
}

static const struct edges_sink sink = { alloc, end, chain_lost, odd, refused };

static void begin(size_t most)
{
	allocs = refusals = chains = lost_chains = odd_ends = 0;
	memset(ends, 0, sizeof(ends));
	memset(odds, 0, sizeof(odds));
	assert_true(edges_init(&edges, &sink, &edges, most));
	edges.waiting.window = WINDOW;
}

static void take(uint32_t lane, const struct trace_event *event)
{
	edges_advance(&edges, event->stamp);
	assert_true(edges_reach(&edges, lane));
	edges_event(&edges, &sink, lane, event);
}

static void happens(uint32_t lane, unsigned kind, uint64_t stamp,
		    uint64_t address)
{
	const struct trace_event event = {
		.stamp = stamp, .address = address, .size = 10,
		.kind = (uint8_t)kind, .context = lane,
	};

	take(lane, &event);
}

static uint64_t all_ends(void)
{
	return ends[EDGE_FREED] + ends[EDGE_MOVED] + ends[EDGE_LOST];
}

/* ---- at random ---- */

static struct trace_event events[2 * STEPS];
static uint32_t lanes[2 * STEPS];
static size_t count;
static bool live[PLACES];

static void say(uint32_t lane, unsigned kind, uint64_t stamp, unsigned place)
{
	events[count] = (struct trace_event){
		.stamp = stamp, .address = 0x1000 + 16 * place, .size = place,
		.kind = (uint8_t)kind, .context = place,
	};
	lanes[count++] = lane;
}

static void make_up(unsigned seed)
{
	uint64_t stamp = 1000;

	srand(seed);
	count = 0;
	memset(live, 0, sizeof(live));
	for (unsigned i = 0; i < STEPS; i++) {
		uint32_t lane = (uint32_t)rand() % LANES;
		unsigned place = (unsigned)rand() % PLACES;
		unsigned to = (unsigned)rand() % PLACES;

		stamp += 2;
		if (!live[place]) {
			say(lane, GT_ALLOC, stamp, place);
			live[place] = true;
			continue;
		}
		if (rand() % 2 || (live[to] && to != place)) {
			say(lane, GT_FREE, stamp, place);
			live[place] = false;
			continue;
		}
		say(lane, GT_REALLOC_BEGIN, stamp, place);
		live[place] = false;
		live[to] = true;
		say(lane, GT_REALLOC_DONE, stamp + 1, to);
	}
}

static void sort_some(void)
{
	uint64_t last[LANES] = { 0 };

	for (size_t i = 0; i < count; i++) {
		events[i].stamp += (uint64_t)rand() % (WINDOW / 2);
		if (events[i].stamp < last[lanes[i]])
			events[i].stamp = last[lanes[i]];
		last[lanes[i]] = events[i].stamp;
	}
	for (size_t i = 1; i < count; i++) {
		struct trace_event event = events[i];
		uint32_t lane = lanes[i];
		size_t k = i;

		for (; k > 0 && events[k - 1].stamp > event.stamp; k--) {
			events[k] = events[k - 1];
			lanes[k] = lanes[k - 1];
		}
		events[k] = event;
		lanes[k] = lane;
	}
}

static void same(void)
{
	uint64_t there = 0;

	for (unsigned i = 0; i < PLACES; i++) {
		const struct block *block = blocks_find(&edges.blocks,
							0x1000 + 16 * i);

		assert_int_equal(block != NULL, live[i]);
		there += live[i];
		if (block != NULL)
			assert_int_equal(block->size, i);
	}
	assert_int_equal(allocs - all_ends(), there);
	assert_int_equal(edges.blocks.count, there);
}

static void in_order(void **state)
{
	(void)state;
	for (unsigned seed = 0; seed < 4; seed++) {
		make_up(seed);
		begin(0);
		for (size_t i = 0; i < count; i++)
			take(lanes[i], &events[i]);
		same();
		assert_int_equal(odds[EDGE_UNPAIRED] + odds[EDGE_UNKNOWN] +
				 odds[EDGE_REPAIRED] + odd_ends, 0);
		assert_int_equal(chains + lost_chains, 0);
		assert_true(ends[EDGE_MOVED] > 1000);
		edges_free(&edges);
	}
}

/* Whatever comes: each allocation has one end, or the block is there. */
static void out_of_order(void **state)
{
	(void)state;
	for (unsigned seed = 0; seed < 8; seed++) {
		make_up(seed);
		sort_some();
		begin(0);
		edges.gap = seed % 2;
		for (size_t i = 0; i < count; i++)
			take(lanes[i], &events[i]);
		edges_finish(&edges, UINT64_MAX);
		assert_true(odds[EDGE_REPAIRED] > 100);
		assert_true(odd_ends > 100);
		assert_int_equal(allocs - all_ends(), edges.blocks.count);
		assert_int_equal(chains, 0);
		edges_free(&edges);
	}
}

/* ---- one by one ---- */

static void a_free_that_is_early(void **state)
{
	(void)state;
	begin(0);
	happens(0, GT_FREE, 100, 16);
	assert_int_equal(edges.waiting.count, 1);
	happens(1, GT_ALLOC, 101, 16);
	assert_int_equal(edges.blocks.count, 0);
	assert_int_equal(odds[EDGE_REPAIRED], 1);
	assert_int_equal(odd_ends, 1);
	happens(0, GT_FREE, 110, 16);
	happens(0, GT_ALLOC, 110 + WINDOW + 1, 32);
	assert_int_equal(odds[EDGE_UNKNOWN], 1);
	edges_free(&edges);
}

/* Where blocks began unseen, a free that comes before an allocation is of
 * another block, unless it is younger; and of one that is known it is not. */
static void a_gap(void **state)
{
	(void)state;
	begin(0);
	edges.gap = true;
	happens(0, GT_FREE, 100, 16);
	assert_int_equal(odds[EDGE_UNKNOWN], 1);
	edges.settled = 90;
	happens(0, GT_FREE, 100, 16);
	happens(0, GT_ALLOC, 100, 16);
	assert_int_equal(odds[EDGE_UNKNOWN], 2);
	assert_int_equal(edges.blocks.count, 1);
	happens(0, GT_FREE, 105, 32);
	happens(1, GT_ALLOC, 104, 32);
	assert_int_equal(edges.blocks.count, 1);
	assert_int_equal(odds[EDGE_REPAIRED], 1);
	/* the first is under way to somewhere else, so the free is of another */
	happens(0, GT_REALLOC_BEGIN, 106, 16);
	happens(1, GT_FREE, 107, 16);
	happens(2, GT_ALLOC, 108, 16);
	assert_int_equal(ends[EDGE_MOVED], 1);
	assert_int_equal(edges.blocks.count, 0);
	happens(0, GT_REALLOC_DONE, 109, 48);
	assert_int_equal(edges.blocks.count, 1);
	assert_int_equal(chains, 0);
	edges_free(&edges);
}

/* A realloc that was left by a jump, or whose thread is gone. */
static void a_realloc_without_end(void **state)
{
	(void)state;
	begin(0);
	happens(0, GT_ALLOC, 100, 16);
	happens(0, GT_REALLOC_BEGIN, 101, 16);
	happens(0, GT_REALLOC_BEGIN, 102, 16);
	assert_int_equal(odds[EDGE_UNPAIRED], 1);
	edges_lane_ends(&edges, 0, 103);
	assert_false(edges_pending_of(&edges, 0)->active);
	assert_false(edges_pending_of(&edges, 1000)->active);
	happens(1, GT_FREE, 104, 16);
	assert_int_equal(ends[EDGE_FREED], 1);
	/* its beginning does not wait either */
	happens(0, GT_REALLOC_BEGIN, 105, 32);
	edges_lane_ends(&edges, 0, 106);
	assert_int_equal(edges.waiting.count, 0);
	edges_free(&edges);
}

static void forgotten(void **state)
{
	(void)state;
	begin(0);
	happens(0, GT_ALLOC, 100, 16);
	happens(0, GT_ALLOC, 100, 32);
	happens(0, GT_REALLOC_BEGIN, 101, 16);
	happens(1, GT_ALLOC, 102, 32);
	edges_forget(&edges);
	assert_int_equal(edges.waiting.count, 0);
	assert_int_equal(all_ends(), 0);
	happens(0, GT_REALLOC_DONE, 103, 48);
	assert_int_equal(odds[EDGE_UNKNOWN], 1);
	happens(0, GT_REALLOC_BEGIN, 104, 48);
	happens(1, GT_ALLOC, 105, 48);
	assert_int_equal(ends[EDGE_MOVED], 1);
	edges_forget_chains(&edges);
	happens(0, GT_REALLOC_DONE, 106, 64);
	assert_int_equal(chains, 1);	/* nobody was told of it any more */
	edges_free(&edges);
}

/* Nor of one whose new block waits for the end of another. */
static void forgotten_while_it_waits(void **state)
{
	(void)state;
	begin(0);
	happens(0, GT_ALLOC, 100, 16);
	happens(0, GT_ALLOC, 100, 32);
	happens(0, GT_REALLOC_BEGIN, 101, 16);
	happens(1, GT_ALLOC, 102, 16);
	assert_int_equal(ends[EDGE_MOVED], 1);
	happens(0, GT_REALLOC_DONE, 103, 32);
	assert_int_equal(edges.waiting.count, 1);
	edges_forget_chains(&edges);
	happens(1, GT_FREE, 103, 32);
	assert_int_equal(edges.waiting.count, 0);
	assert_int_equal(chains, 1);	/* as above */
	edges_free(&edges);
}

/* A move that began before, whose block goes afterwards: its chain is of now. */
static void moved_across_a_forgetting(void **state)
{
	(void)state;
	begin(0);
	happens(0, GT_ALLOC, 100, 16);
	happens(0, GT_REALLOC_BEGIN, 101, 16);
	edges_forget_chains(&edges);
	happens(1, GT_ALLOC, 102, 16);
	assert_int_equal(ends[EDGE_MOVED], 1);
	assert_int_equal(chains, 1);
	happens(0, GT_REALLOC_DONE, 103, 32);
	assert_int_equal(chains, 0);
	happens(1, GT_REALLOC_BEGIN, 104, 32);
	edges_forget_chains(&edges);
	happens(0, GT_ALLOC, 105, 32);
	assert_int_equal(chains, 1);
	edges_finish(&edges, 106);
	assert_int_equal(lost_chains, 1);
	assert_int_equal(chains, 0);
	edges_free(&edges);
}

static void too_many(void **state)
{
	(void)state;
	begin(600);
	for (unsigned i = 1; i <= 1000; i++)
		happens(0, GT_ALLOC, 100 + i, 16 * i);
	assert_int_equal(allocs, 599);
	assert_int_equal(refusals, 401);
	/* frees of those are no news */
	assert_true(edges.gap);
	for (unsigned i = 1; i <= 1000; i++)
		happens(0, GT_FREE, 2000 + i, 16 * i);
	assert_int_equal(ends[EDGE_FREED], 599);
	assert_int_equal(odds[EDGE_UNKNOWN], 401);
	assert_int_equal(edges.waiting.count, 0);
	edges_free(&edges);
}

/* A realloc leaves an address for which an allocation waits: a block that comes
 * there first, and ends, lets it begin. Without both it would wait in vain. */
static void another_waits(void **state)
{
	(void)state;
	begin(0);
	happens(0, GT_ALLOC, 100, 16);
	happens(1, GT_ALLOC, 200, 16);
	happens(0, GT_REALLOC_BEGIN, 201, 16);
	happens(0, GT_REALLOC_DONE, 202, 32);
	assert_int_equal(odd_ends, 1);
	happens(0, GT_ALLOC, 203, 16);
	assert_int_equal(allocs, 3);
	happens(0, GT_FREE, 204, 16);
	assert_int_equal(allocs, 4);
	assert_int_equal(odd_ends, 2);
	happens(1, GT_FREE, 205, 16);
	assert_int_equal(odd_ends, 3);
	happens(0, GT_FREE, 206, 32);
	assert_int_equal(odd_ends, 3);
	assert_int_equal(odds[EDGE_REPAIRED], 1);
	edges_free(&edges);
}

static void what_is_broken_is_seen(void **state)
{
	struct block *block;

	(void)state;
	begin(0);
	happens(0, GT_ALLOC, 100, 16);
	happens(0, GT_ALLOC, 101, 32);
	happens(3, GT_REALLOC_BEGIN, 102, 16);
	assert_true(edges_is_valid(&edges));
	block = blocks_find(&edges.blocks, 32);
	block->pending = 1;			/* and no lane moves it */
	assert_false(edges_is_valid(&edges));
	block->pending = 0;
	edges.pending[3].address = 32;
	assert_false(edges_is_valid(&edges));
	edges.pending[3].address = 16;
	pending_reallocs_remove(&edges.by_block, 3);
	assert_false(edges_is_valid(&edges));
	pending_reallocs_add(&edges.by_block, 3, 16);
	edges.pending[3].released = true;
	assert_false(edges_is_valid(&edges));
	edges.pending[3].released = false;
	assert_true(edges_is_valid(&edges));
	edges.waiting.count++;
	assert_false(edges_is_valid(&edges));
	edges.waiting.count--;
	edges_free(&edges);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(in_order),
		cmocka_unit_test(out_of_order),
		cmocka_unit_test(a_free_that_is_early),
		cmocka_unit_test(a_gap),
		cmocka_unit_test(a_realloc_without_end),
		cmocka_unit_test(forgotten),
		cmocka_unit_test(forgotten_while_it_waits),
		cmocka_unit_test(moved_across_a_forgetting),
		cmocka_unit_test(too_many),
		cmocka_unit_test(another_waits),
		cmocka_unit_test(what_is_broken_is_seen),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
