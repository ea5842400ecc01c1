/*
 * test_block_table.c: random operations of several threads, as their rings
 * would bring them, against a plain model: a list of what is live.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/recorder/live_blocks/block_table.h"
#include "cli/recorder/live_blocks/block_table_reply.h"
#include "cli/recorder/live_blocks/block_table_rows.h"
#include "library/gnomon/gnomon.h"

#define RINGS 4
#define SLOTS 300		/* addresses */
#define EVENTS 60000
#define CONTEXTS 20
#define WINDOW 64

/* What is true of an address. */
struct place {
	uint64_t size;
	uint32_t context;
	bool live;
};

static struct place places[SLOTS];
static struct trace_event events[EVENTS + RINGS];
static struct block_table_source sources[EVENTS + RINGS];
static size_t count;
static struct block_table_sum all, contexts[CONTEXTS];
static struct block_table table;
static uint64_t now;
static uint32_t seed;

static uint32_t range = SLOTS;	/* addresses in use */

static uint32_t draw(uint32_t below)
{
	seed = seed * 1664525u + 1013904223u;
	return (seed >> 8) % below;
}

static void begin(void)
{
	uint32_t i;

	memset(&table, 0, sizeof(table));
	memset(places, 0, sizeof(places));
	memset(&all, 0, sizeof(all));
	memset(contexts, 0, sizeof(contexts));
	count = 0;
	now = 1000;
	assert_int_equal(block_table_init(&table, UINT64_C(256) << 20, 4096,
					  WINDOW, 0), 0);
	for (i = 0; i < RINGS; i++)
		block_table_thread_new(&table, i, i + 1);
}

static void say(unsigned kind, uint32_t ring, uint32_t place)
{
	now += 1 + draw(8);
	sources[count] = (struct block_table_source){ ring, ring, 0 };
	events[count++] = (struct trace_event){
		.kind = kind, .stamp = now,
		.address = 0x10000 + 16 * place,
		.size = places[place].size,
		.context = places[place].context,
	};
}

static void model_begin(struct place *place)
{
	place->live = true;
	place->size = draw(1000);
	place->context = 16 + draw(CONTEXTS);
	all.blocks++;
	all.bytes += place->size;
	contexts[place->context - 16].blocks++;
	contexts[place->context - 16].bytes += place->size;
	if (all.bytes - all.freed > all.peak_bytes) {
		all.peak_bytes = all.bytes - all.freed;
		all.peak_blocks = all.blocks - all.frees;
	}
}

static void model_end(struct place *place)
{
	place->live = false;
	all.frees++;
	all.freed += place->size;
	contexts[place->context - 16].frees++;
	contexts[place->context - 16].freed += place->size;
}

/* One operation of a thread, as one or two events. */
static void operate(void)
{
	uint32_t ring = draw(RINGS), at = draw(range), to = draw(range);
	struct place *place = &places[at];

	if (!place->live) {
		model_begin(place);
		say(GT_ALLOC, ring, at);
		return;
	}
	switch (draw(6)) {
	case 0:
		say(GT_REALLOC_BEGIN, ring, at);
		say(GT_REALLOC_FAILED, ring, at);
		break;
	case 1:
		say(GT_REALLOC_BEGIN, ring, at);
		model_end(place);
		say(GT_REALLOC_FREED, ring, at);
		break;
	case 2:
		if (places[to].live && to != at)
			break;
		say(GT_REALLOC_BEGIN, ring, at);
		model_end(place);
		model_begin(&places[to]);
		say(GT_REALLOC_DONE, ring, to);
		break;
	default:
		say(GT_FREE, ring, at);
		model_end(place);
	}
}

static void same_sums(const struct block_table_sum *a,
		      const struct block_table_sum *b)
{
	assert_int_equal(a->blocks, b->blocks);
	assert_int_equal(a->bytes, b->bytes);
	assert_int_equal(a->frees, b->frees);
	assert_int_equal(a->freed, b->freed);
}

static void same(void)
{
	static const struct block_table_sum none;
	uint64_t blocks = 0, freed = 0;
	uint32_t i;

	same_sums(&table.all, &all);
	for (i = 0; i < CONTEXTS; i++) {
		const struct block_table_figure *figure =
			block_table_figure_of(&table, 16 + i);

		same_sums(figure ? &figure->sum : &none, &contexts[i]);
	}
	for (i = 0; i < SLOTS; i++) {
		const struct block *block =
			blocks_find(&table.edges.blocks, 0x10000 + 16 * i);

		assert_int_equal(block != NULL, places[i].live);
		if (!block)
			continue;
		assert_int_equal(block->size, places[i].size);
		assert_int_equal(block_table_context_of(&table, block),
				 places[i].context);
	}
	for (i = 0; i < GT_CLASSES; i++) {
		blocks += table.classes[i].blocks;
		freed += table.classes[i].freed;
	}
	assert_int_equal(blocks, all.blocks);
	assert_int_equal(freed, all.freed);
	assert_int_equal(table.refused, 0);
}

static void take(uint32_t ring, struct trace_event event)
{
	const struct block_table_source from = { ring, ring, 0 };

	block_table_event(&table, &from, &event);
}

static void drain(void)
{
	size_t i;

	for (i = 0; i < count; i++) {
		table.edges.settled = events[i].stamp;
		block_table_event(&table, &sources[i], &events[i]);
	}
}

static void in_order(void **state)
{
	int i, round;

	(void)state;
	for (round = 1; round < 4; round++) {
		seed = round;
		begin();
		for (i = 0; i < EVENTS / 2; i++)
			operate();
		drain();
		same();
		assert_int_equal(table.all.peak_bytes, all.peak_bytes);
		assert_int_equal(table.all.peak_blocks, all.peak_blocks);
		assert_int_equal(table.unpaired, 0);
	}
}

/* Stamps of two processors differ a little; a ring's own do not go back. */
static void shuffle(void)
{
	uint64_t last[RINGS] = { 0 };
	size_t i, k;

	for (i = 0; i < count; i++) {
		struct trace_event *event = &events[i];
		uint32_t ring = sources[i].ring;

		event->stamp += draw(WINDOW / 2);
		if (event->stamp < last[ring])
			event->stamp = last[ring];
		last[ring] = event->stamp;
	}
	/* nearly sorted */
	for (i = 1; i < count; i++) {
		struct trace_event event = events[i];
		struct block_table_source from = sources[i];

		for (k = i; k && events[k - 1].stamp > event.stamp; k--) {
			events[k] = events[k - 1];
			sources[k] = sources[k - 1];
		}
		events[k] = event;
		sources[k] = from;
	}
}

static void out_of_order(void **state)
{
	int i, round;

	(void)state;
	for (round = 1; round < 6; round++) {
		seed = round;
		range = 100 + 40 * round;
		begin();
		for (i = 0; i < EVENTS / 2; i++)
			operate();
		shuffle();
		drain();
		block_table_finish(&table);
		same_sums(&table.all, &all);
		/* what nobody could have told */
		assert_true(table.unpaired < count / 100);
	}
	range = SLOTS;
}

/* A ring whose thread held everybody up comes long after the others. */
static void a_ring_late(void **state)
{
	const struct trace_event alloc = {
		.kind = GT_ALLOC, .stamp = 5000, .address = 0x10000,
		.size = 10, .context = 16,
	};
	struct trace_event event = alloc;

	(void)state;
	begin();
	table.edges.settled = 4000;
	event.kind = GT_FREE;
	event.stamp = 6000;
	take(2, event);
	event.kind = GT_ALLOC;
	event.stamp = 7000;
	event.size = 20;
	/* the free of the one is waiting for an allocation */
	take(2, event);
	take(1, alloc);
	table.edges.settled = 20000;
	block_table_catch_up(&table, 20000);
	assert_int_equal(table.all.blocks, 2);
	assert_int_equal(table.all.frees, 1);
}

static void unknown_blocks(void **state)
{
	const struct trace_event free = {
		.kind = GT_FREE, .stamp = 2000, .address = 0x5000,
	};
	struct trace_event alloc = {
		.kind = GT_ALLOC, .stamp = 3000, .address = 0x5000,
		.size = 7, .context = 16,
	};

	(void)state;
	begin();
	table.edges.settled = 10000;
	take(0, free);
	take(0, alloc);
	assert_int_equal(table.all.blocks, 1);
	assert_int_equal(table.all.frees, 0);
	assert_int_equal(table.unpaired, 1);
	/* its free was lost: it cannot be there any more */
	alloc.stamp = 4000;
	take(0, alloc);
	block_table_catch_up(&table, 10000);
	assert_int_equal(table.all.blocks, 2);
	assert_int_equal(table.all.frees, 1);
	assert_int_equal(table.unpaired, 2);
}

/* Blocks of a pool lie in others: they are known, and not counted. */
static void other_heaps(void **state)
{
	const struct trace_event event = {
		.kind = GT_ALLOC, .stamp = 2000, .context = 16, .size = 9,
		.address = UINT64_C(3) << GL_HEADER_SHIFT | 0x10000,
	};

	(void)state;
	begin();
	take(0, event);
	assert_int_equal(table.all.blocks, 0);
	assert_non_null(blocks_find(&table.edges.blocks, event.address));
	assert_null(blocks_find(&table.edges.blocks, 0x10000));
}

static void ask(enum blocks_request_kind what, uint64_t ring, void *answer,
		size_t bytes)
{
	assert_int_equal(block_table_reply(&table, what, ring, answer, bytes),
			 0);
}

/* Of a sample, what is told is what the blocks stand for; and what is freed
 * was all that had been allocated. */
static void a_sample(void **state)
{
	struct trace_event event = { .kind = GT_ALLOC, .context = 16 };
	struct gnomon_summary sum;
	struct gnomon_sizes sizes;
	double blocks = 0, bytes = 0, weight;
	unsigned i, end;

	(void)state;
	begin();
	table.mean = 512;
	for (end = 0; end < 2; end++) {
		event.kind = end ? GT_FREE : GT_ALLOC;
		for (i = 0; i < 1000; i++) {
			event.stamp = 1000 + end * 1000 + i;
			event.address = 0x10000 + 16 * i;
			event.size = i + 1;
			take(0, event);
			weight = -1 / expm1(-(double)event.size / 512);
			blocks += end ? 0 : weight;
			bytes += end ? 0 : weight * (double)event.size;
		}
		memset(&sizes, 0, sizeof(sizes));
		ask(BLOCKS_REQUEST_CLASSES, 0, &sizes, sizeof(sizes));
		assert_true(fabs((double)sizes.total[10] / blocks - 0.147) <
			    0.001);
		assert_int_equal(sizes.live[10], end ? 0 : sizes.total[10]);
		ask(BLOCKS_REQUEST_SUM, 0, &sum, sizeof(sum));
		assert_int_equal(table.edges.blocks.count, end ? 0 : 1000);
		assert_true(fabs((double)sum.allocations - blocks) < 1);
		assert_true(fabs((double)sum.total_bytes - bytes) < 10);
		assert_int_equal(sum.live_blocks, end ? 0 : sum.allocations);
		assert_int_equal(sum.live_bytes, end ? 0 : sum.total_bytes);
		assert_int_equal(sum.peak_bytes, sum.total_bytes);
	}
}

static void answers(void **state)
{
	struct gnomon_summary sum, thread = { 0 }, threads = { 0 };
	struct gnomon_sizes sizes = { { 0 }, { 0 }, { 0 } };
	uint64_t blocks = 0;
	uint32_t i;

	(void)state;
	seed = 9;
	begin();
	for (i = 0; i < 5000; i++)
		operate();
	drain();
	ask(BLOCKS_REQUEST_SUM, 0, &sum, sizeof(sum));
	assert_int_equal(sum.total_bytes, all.bytes);
	assert_int_equal(sum.live_bytes, all.bytes - all.freed);
	assert_int_equal(sum.peak_bytes, all.peak_bytes);
	assert_int_equal(sum.allocations, all.blocks);
	assert_int_equal(sum.frees, all.frees);
	assert_int_equal(sum.live_blocks, all.blocks - all.frees);
	for (i = 0; i < RINGS; i++) {
		ask(BLOCKS_REQUEST_THREAD, i, &thread, sizeof(thread));
		threads.allocations += thread.allocations;
	}
	assert_int_equal(threads.allocations, all.blocks);
	memset(&thread, 0, sizeof(thread));
	ask(BLOCKS_REQUEST_THREAD, UINT64_MAX, &thread, sizeof(thread));
	assert_int_equal(thread.allocations, 0);
	ask(BLOCKS_REQUEST_CLASSES, 0, &sizes, sizeof(sizes));
	for (i = 0; i < GNOMON_CLASSES; i++)
		blocks += sizes.total[i];
	assert_int_equal(blocks, all.blocks);
}

static void no_answer(void **state)
{
	struct gnomon_sizes sizes;

	(void)state;
	begin();
	assert_int_equal(block_table_reply(&table, BLOCKS_REQUEST_CLASSES, 0,
					   &sizes, sizeof(sizes) - 1),
			 -EINVAL);
	assert_int_equal(
		block_table_reply(&table, BLOCKS_REQUEST_SUM, 0, &sizes, 8),
		-EINVAL);
	assert_int_equal(
		block_table_reply(&table, 77, 0, &sizes, sizeof(sizes)),
		-EINVAL);
	table.refused = 1;
	assert_int_equal(block_table_reply(&table, BLOCKS_REQUEST_SUM, 0,
					   &sizes, sizeof(sizes)),
			 -ENOMEM);
}

static void anew(void **state)
{
	(void)state;
	seed = 5;
	begin();
	while (count < 1000)
		operate();
	drain();
	block_table_forget(&table, now);
	memset(places, 0, sizeof(places));
	memset(&all, 0, sizeof(all));
	memset(contexts, 0, sizeof(contexts));
	count = 0;
	while (count < 1000)
		operate();
	drain();
	same();
}

static void happens(unsigned kind, uint32_t ring, uint64_t tick,
		    uint64_t address, uint64_t size)
{
	take(ring, (struct trace_event){
		.kind = kind, .stamp = tick, .address = address,
		.size = size, .context = 16,
	});
}

/* A clear leaves blocks where they are, and does not count their ends. */
static void cleared(void **state)
{
	(void)state;
	begin();
	happens(GT_ALLOC, 0, 1000, 0x10000, 10);
	happens(GT_ALLOC, 0, 1001, 0x20000, 10);
	happens(GT_ALLOC, 0, 1002, 0x30000, 10);
	block_table_clear(&table, 2000);
	assert_int_equal(table.all.blocks, 0);
	assert_int_equal(table.edges.blocks.count, 3);
	happens(GT_FREE, 1, 2001, 0x10000, 0);
	happens(GT_ALLOC, 1, 2002, 0x10000, 20);
	happens(GT_REALLOC_BEGIN, 1, 2003, 0x20000, 0);
	happens(GT_REALLOC_DONE, 1, 2004, 0x20000, 30);
	/* one that was late */
	happens(GT_ALLOC, 2, 1999, 0x40000, 10);
	happens(GT_FREE, 2, 2005, 0x40000, 0);
	assert_int_equal(table.all.blocks, 2);
	assert_int_equal(table.all.bytes, 50);
	assert_int_equal(table.all.frees, 0);
	happens(GT_FREE, 0, 2006, 0x20000, 0);
	assert_int_equal(table.all.frees, 1);
	assert_int_equal(table.all.peak_blocks, 2);
	assert_int_equal(table.unpaired, 0);
}

/* Blocks that began unseen: their frees do not meet who has the address
 * next; one of a ring that comes late is met. */
static void unseen(void **state)
{
	(void)state;
	begin();
	block_table_forget(&table, 900);
	/* these come out of order as far as anybody knows */
	happens(GT_FREE, 0, 1000, 0x10000, 0);
	happens(GT_ALLOC, 0, 1000, 0x10000, 20);
	happens(GT_REALLOC_BEGIN, 1, 1000, 0x20000, 0);
	happens(GT_REALLOC_DONE, 1, 1001, 0x20000, 30);
	assert_int_equal(table.all.blocks, 2);
	assert_int_equal(table.all.frees, 0);
	happens(GT_FREE, 0, 1010, 0x30000, 0);
	happens(GT_ALLOC, 1, 1005, 0x30000, 40);
	assert_int_equal(table.all.frees, 1);
	/* and these in order */
	block_table_catch_up(&table, 2000);
	happens(GT_FREE, 0, 1500, 0x50000, 0);
	assert_int_equal(table.edges.waiting.count, 0);
	happens(GT_REALLOC_BEGIN, 0, 1501, 0x60000, 0);
	happens(GT_REALLOC_DONE, 0, 1502, 0x60000, 5);
	happens(GT_REALLOC_BEGIN, 0, 1503, 0x60000, 0);
	happens(GT_REALLOC_DONE, 0, 1504, 0x60000, 6);
	block_table_finish(&table);
	assert_int_equal(table.all.blocks, 5);
	assert_int_equal(table.all.frees, 2);
	assert_int_equal(table.unpaired, 0);
}

static void a_broken_table_is_seen(void **state)
{
	struct block_table_thread *threads;
	struct block *block;

	(void)state;
	begin();
	for (uint64_t i = 1; i <= 40; i++)
		happens(GT_ALLOC, i % RINGS, 1000 + i, i * 16, 10);
	happens(GT_FREE, 1, 2000, 32, 0);
	block_table_thread_new(&table, 1, 50);
	assert_true(block_table_is_valid(&table));
	threads = (struct block_table_thread *)table.threads.at;
	block = blocks_find(&table.edges.blocks, 64);
	block->cost += 1000;			/* no such figure */
	assert_false(block_table_is_valid(&table));
	block->cost -= 1000;
	block->thread = table.thread_count;
	assert_false(block_table_is_valid(&table));
	block->thread = block_table_ring_at(&table, 0)->thread;
	threads[1].blocks++;
	assert_false(block_table_is_valid(&table));
	threads[1].blocks--;
	assert_true(block_table_is_valid(&table));
	block_table_ring_at(&table, 0)->thread =
		block_table_ring_at(&table, 2)->thread;
	assert_false(block_table_is_valid(&table));
	block_table_ring_at(&table, 0)->thread = block->thread;
	table.threads_unused = 1;		/* has blocks */
	assert_false(block_table_is_valid(&table));
}

static uint32_t threads_unused(void)
{
	const struct block_table_thread *threads =
		(const struct block_table_thread *)table.threads.at;
	uint32_t n = 0;

	for (uint32_t i = table.threads_unused; i; i = threads[i].next)
		n++;
	return n;
}

/* What a thread that is gone has left is known until its last block goes; and
 * its last allocation is a temporary block, as to a reader. */
static void threads_that_are_gone(void **state)
{
	(void)state;
	begin();
	happens(GT_ALLOC, 0, 1000, 0x10000, 10);
	happens(GT_ALLOC, 0, 1001, 0x20000, 10);
	for (uint32_t serial = 10; serial < 1000; serial++)
		block_table_thread_new(&table, 0, serial);
	assert_int_equal(table.thread_count, RINGS + 2);
	assert_int_equal(block_table_thread_of(&table, blocks_find(
				 &table.edges.blocks, 0x10000))->serial, 1);
	assert_int_equal(block_table_thread_at(&table, 0)->serial, 999);
	happens(GT_ALLOC, 0, 1002, 0x30000, 10);
	assert_int_equal(block_table_thread_at(&table, 0)->sum.blocks, 1);
	happens(GT_FREE, 1, 1003, 0x10000, 0);
	assert_int_equal(table.classes[4].temporary, 0);
	assert_int_equal(threads_unused(), 0);
	happens(GT_FREE, 1, 1004, 0x20000, 0);
	assert_int_equal(table.classes[4].temporary, 1);
	assert_int_equal(threads_unused(), 1);
	assert_int_equal(block_table_thread_at(&table, 0)->sum.frees, 0);
	block_table_forget(&table, 2000);
	assert_int_equal(block_table_thread_at(&table, 0)->serial, 999);
	assert_int_equal(threads_unused(), 1);
}

/* Blocks and contexts for which there is no memory are counted, and their
 * frees are no news. */
static void no_memory(void **state)
{
	uint32_t i, live;

	(void)state;
	begin();
	assert_int_equal(block_table_init(&table, 64 << 10, 4096, WINDOW, 0),
			 0);
	for (i = 0; i < 2000; i++)
		happens(GT_ALLOC, 0, 1000 + i, 0x10000 + 16 * i, 10);
	live = (uint32_t)table.edges.blocks.count;
	assert_in_range(live, 500, 1000);
	assert_int_equal(table.refused, 2000 - live);
	assert_int_equal(table.all.blocks, live);
	for (i = 0; i < 2000; i++)
		happens(GT_FREE, 0, 4000 + i, 0x10000 + 16 * i, 0);
	assert_int_equal(table.all.frees, live);
	assert_int_equal(table.edges.blocks.count, 0);
	assert_int_equal(table.unpaired, 0);
	/* figures */
	table.refused = 0;
	table.edges.gap = false;
	for (i = 0; i < 4000; i++)
		take(0, (struct trace_event){
			.kind = GT_ALLOC, .stamp = 7000 + 2 * i, .context = i,
			.address = 0x10000, .size = 1 });
	assert_true(table.refused > 0);
	assert_true(table.edges.gap);
	happens(GT_FREE, 0, 20000, 0x10000, 0);
	happens(GT_ALLOC, 0, 20001, 0x20000, 1);
	happens(GT_REALLOC_BEGIN, 0, 20002, 0x20000, 0);
	i = (uint32_t)table.refused;
	take(0, (struct trace_event){ .kind = GT_REALLOC_DONE, .stamp = 20003,
				      .context = 3999, .address = 0x30000 });
	assert_int_equal(table.refused, i + 1);
	assert_null(blocks_find(&table.edges.blocks, 0x20000));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(in_order),
		cmocka_unit_test(out_of_order),
		cmocka_unit_test(a_ring_late),
		cmocka_unit_test(unknown_blocks),
		cmocka_unit_test(other_heaps),
		cmocka_unit_test(a_sample),
		cmocka_unit_test(answers),
		cmocka_unit_test(no_answer),
		cmocka_unit_test(anew),
		cmocka_unit_test(cleared),
		cmocka_unit_test(unseen),
		cmocka_unit_test(a_broken_table_is_seen),
		cmocka_unit_test(threads_that_are_gone),
		cmocka_unit_test(no_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
