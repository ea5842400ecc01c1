/*
 * test_model_control.c: since when a trace counts: START, STOP and CLEAR; what
 * @NAME means; what was never recorded.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "cli/base/terminal/log.h"
#include "cli/model/core/chains.h"
#include "cli/model/core/contexts.h"
#include "cli/model/core/controls.h"
#include "cli/model/core/damages.h"
#include "cli/model/core/edges.h"
#include "cli/model/core/pools.h"
#include "cli/model/core/threads.h"
#include "cli/model/filters.h"
#include "cli/model/omitted.h"
#include "cli/model/model.h"
#include "cli/model/stats/histograms.h"
#include "cli/model/block_observer.h"
#include "tests/unit/model_feed.h"
#include "tests/unit/trace_write.h"
#include "tests/unit/filter_words.h"

#define WINDOW 100
#define C GT_STOP_COUNT

static struct trace_write t;
static char path[32];
static struct trace_event events[4096];
static size_t event_count;

static void control(unsigned what, uint64_t stamp, const char *name)
{
	struct trace_control record = { .what = what, .stamp = stamp,
		.name = name, .name_size = strlen(name) };
	struct buffer payload = { 0 };

	compose_control(&payload, &record);
	trace_write_chunk(&t, (struct chunk){ .type = GT_CONTROL }, &payload);
}

static void begin(void)
{
	struct buffer payload = { 0 };
	const struct trace_node nodes[2] = { { C, 0, 0x1000 },
					     { C + 1, 0, 0x2000 } };

	event_count = 0;
	trace_write_begin(&t);
	trace_write_line(&t, GT_INFO, "start_monotonic_ns", "0");
	trace_write_line(&t, GT_INFO, "window_ticks", "100");
	trace_write_sync(&t, 0);
	compose_nodes(&payload, nodes, 2, 0);
	trace_write_chunk(&t, (struct chunk){ .type = GT_CONTEXT }, &payload);
}

static void event(unsigned kind, uint64_t stamp, uint64_t address,
		  uint64_t size)
{
	events[event_count++] = (struct trace_event){
		.kind = (uint8_t)kind, .stamp = stamp,
		.address = address << 4, .size = size,
		.context = size ? C + (uint32_t)(size & 1) : 0,
	};
}

static struct model *read_with(const char *word, const char *value, int must)
{
	struct model_options options = {
		.wants = MODEL_WANT_CHAINS | MODEL_WANT_HISTOGRAMS |
			MODEL_WANT_TIMELINE,
	};
	struct filter *filter = NULL;
	struct model *model;

	if (word != NULL) {
		filter = filter_new(NULL);
		assert_int_equal(filter_take_word(filter, word, value), 0);
		options.filter = filter;
	}
	model = model_new(&options, NULL);
	assert_int_equal(model_read(model, path), must);
	filter_free(filter);
	return model;
}

static void write_all(void)
{
	trace_write_events(&t, 1, 0, 0, events, event_count, 0);
	trace_write_sync(&t, event_count ? events[event_count - 1].stamp : 0);
	trace_write_line(&t, GT_END, "reason", "exit");
	strcpy(path, "/tmp/gnomon-unit-XXXXXX");
	trace_write_file(&t, path);
	buffer_free(&t.bytes);
}

static struct model *finish(void)
{
	write_all();
	return read_with(NULL, NULL, EXIT_COMPLETE);
}

static void end(struct model *model)
{
	model_free(model);
}

static uint64_t live_listed(const struct model *model)
{
	uint64_t at = 0, bytes = 0;
	const struct block *block;

	while ((block = model_next_block(model, &at)) != NULL)
		bytes += block->size;
	return bytes;
}

struct reported {
	unsigned allocs, ends;
};

static void tell_alloc(void *owner, const struct block *block,
		       uint32_t number, uint32_t node, uint32_t chain)
{
	struct reported *reported = owner;

	(void)block, (void)number, (void)node, (void)chain;
	reported->allocs++;
}

static void tell_end(void *owner, const struct block *block, uint32_t number,
		     uint32_t node, uint64_t stamp, enum edge_end end,
		     uint32_t chain)
{
	struct reported *reported = owner;

	(void)block, (void)number, (void)node, (void)stamp, (void)end;
	(void)chain;
	reported->ends++;
}

/* What exports of single blocks see. */
static void follow(const struct model *model, unsigned allocs, unsigned ends)
{
	struct reported reported = { 0 };
	const struct block_observer observer = { .owner = &reported,
						 .alloc = tell_alloc,
						 .end = tell_end };

	assert_int_equal(model_follow(model, path, &observer), EXIT_COMPLETE);
	assert_int_equal(reported.allocs, allocs);
	assert_int_equal(reported.ends, ends);
}

/* Two blocks before, of which one is freed later; one after. */
static void clear_leaves_out_what_was(void **state)
{
	struct model *model;

	(void)state;
	begin();
	event(GT_ALLOC, 1000, 1, 100);
	event(GT_ALLOC, 2000, 2, 300);
	control(GT_CONTROL_CLEAR, 2500, "");
	event(GT_ALLOC, 3000, 3, 7);
	event(GT_FREE, 4000, 1, 0);
	event(GT_REALLOC_BEGIN, 5000, 2, 0);
	event(GT_REALLOC_DONE, 5010, 4, 50);
	model = finish();
	assert_int_equal(model_totals(model)->allocations, 2);
	assert_int_equal(model_totals(model)->frees, 0);
	assert_int_equal(model_totals(model)->total_bytes, 57);
	assert_int_equal(model_totals(model)->live_bytes, 57);
	assert_int_equal(live_listed(model), 57);
	assert_int_equal(model_totals(model)->peak_bytes, 57);
	assert_int_equal(model_totals(model)->unpaired, 0);
	assert_int_equal(model_controls(model)->foreign, 2);
	assert_int_equal(model_chains(model)->whole.count, 0);
	assert_int_equal(model_histograms(model)->sizes[7].allocations, 0);
	follow(model, 2, 0);
	end(model);
	model = read_with("from", "start", EXIT_COMPLETE);
	assert_int_equal(model_totals(model)->allocations, 4);
	assert_int_equal(model_totals(model)->live_bytes, 57);
	assert_int_equal(model_totals(model)->frees, 2);
	assert_int_equal(model_controls(model)->foreign, 0);
	follow(model, 4, 2);
	end(model);
	/* at a moment before it the clear has not happened */
	model = read_with("alive-at", "21us", EXIT_COMPLETE);
	assert_int_equal(model_totals(model)->live_bytes, 400);
	end(model);
	model = read_with("alive-at", "40us", EXIT_COMPLETE);
	assert_int_equal(model_totals(model)->live_bytes, 7);
	end(model);
	unlink(path);
}

/* It is the last one that counts, and nothing at all may come behind it. */
static uint32_t only_group(void *owner, uint32_t node, uint32_t part)
{
	(void)owner, (void)node, (void)part;
	return 0;
}

/* Also where the clear was not told yet when the blocks before it began. */
static void maxima_of_groups_begin_anew(void **state)
{
	struct group_peak peak;
	struct model *model;

	(void)state;
	begin();
	event(GT_ALLOC, 1000, 1, 5000);
	event(GT_ALLOC, 1001, 2, 7000);
	trace_write_events(&t, 2, 0, 0, events, event_count, 0);
	trace_write_sync(&t, 3000);
	event_count = 0;
	control(GT_CONTROL_CLEAR, 3500, "");
	event(GT_ALLOC, 4000, 3, 40);
	event(GT_FREE, 5000, 1, 0);
	event(GT_ALLOC, 6000, 4, 2);
	write_all();
	model = read_with(NULL, NULL, EXIT_COMPLETE);
	assert_int_equal(model_group_peaks(model, path, only_group, NULL,
					   &peak, 1), EXIT_COMPLETE);
	assert_int_equal(peak.bytes, 42);
	assert_int_equal(peak.blocks, 2);
	assert_int_equal(peak.ns, 60000);
	end(model);
}

static void the_last_one_counts(void **state)
{
	struct model *model;

	(void)state;
	begin();
	for (unsigned i = 0; i < 500; i++) {
		event(GT_ALLOC, 1000 + i * 10, i + 1, i + 1);
		control(GT_CONTROL_CLEAR, 1005 + i * 10, "");
	}
	model = finish();
	assert_int_equal(model_totals(model)->allocations, 0);
	assert_int_equal(model_totals(model)->live_bytes, 0);
	assert_int_equal(live_listed(model), 0);
	assert_int_equal(model_totals(model)->peak_bytes, 0);
	assert_int_equal(model_contexts(model)->cost_count, 0);
	end(model);
	unlink(path);
}

/* What is told between a STOP and a START does not count; frees of what was
 * allocated meanwhile, or before, are no news. */
static void off_and_on(void **state)
{
	struct model *model;

	(void)state;
	begin();
	control(GT_CONTROL_STOP, 0, "");
	event(GT_ALLOC, 10, 9, 1 << 20);	/* a straggler */
	control(GT_CONTROL_START, 1000, "one");
	event(GT_ALLOC, 1100, 1, 100);
	event(GT_REALLOC_BEGIN, 1200, 1, 0);	/* ends while it is off */
	control(GT_CONTROL_STOP, 2000, "");
	event(GT_REALLOC_DONE, 2100, 5, 200);
	event(GT_ALLOC, 2200, 2, 1000);
	event(GT_FREE, 2300, 9, 0);
	control(GT_CONTROL_START, 3000, "two");
	event(GT_REALLOC_DONE, 3100, 6, 31);	/* its begin: while it was off */
	event(GT_FREE, 3200, 2, 0);
	event(GT_ALLOC, 3300, 1, 64);		/* freed meanwhile */
	event(GT_FREE, 3320, 1, 0);
	event(GT_REALLOC_BEGIN, 3400, 5, 0);
	event(GT_REALLOC_DONE, 3410, 5, 17);
	event(GT_ALLOC, 3500, 7, 5);
	control(GT_CONTROL_STOP, 4000, "");
	event(GT_FREE, 4100, 7, 0);
	model = finish();
	assert_int_equal(model_totals(model)->allocations, 4);
	assert_int_equal(model_totals(model)->total_bytes, 31 + 64 + 17 + 5);
	assert_int_equal(model_totals(model)->frees, 1);
	assert_int_equal(model_totals(model)->live_bytes, 31 + 17 + 5);
	assert_int_equal(live_listed(model), 31 + 17 + 5);
	assert_int_equal(model_totals(model)->unpaired, 0);
	assert_int_equal(model_controls(model)->foreign, 3);
	follow(model, 4, 1);
	end(model);
	/* All of both: what was live at the stop nobody knows later. */
	model = read_with("from", "start", EXIT_COMPLETE);
	assert_int_equal(model_totals(model)->allocations, 5);
	assert_int_equal(model_totals(model)->live_bytes, 31 + 17 + 5);
	assert_int_equal(model_totals(model)->unpaired, 0);
	end(model);
	/* Until a moment of the first. */
	model = read_with("alive-at", "@two", EXIT_COMPLETE);
	assert_int_equal(model_totals(model)->live_bytes, 0);
	end(model);
	model = read_with("alive-at", "15us", EXIT_COMPLETE);
	assert_int_equal(model_totals(model)->live_bytes, 100);
	end(model);
	unlink(path);
}

/* Without a stop or a clear: unpaired; where blocks are left out: not. */
static void unknown_frees(void **state)
{
	(void)state;
	for (unsigned partial = 0; partial < 2; partial++) {
		struct model *model;

		begin();
		if (partial)
			trace_write_line(&t, GT_INFO, "partial", "1");
		event(GT_FREE, 100, 9, 0);
		event(GT_ALLOC, 1000, 1, 10);
		event(GT_REALLOC_BEGIN, 1100, 8, 0);
		event(GT_REALLOC_DONE, 1110, partial ? 8 : 7, 20);
		model = finish();
		assert_int_equal(model_totals(model)->unpaired,
				 partial ? 0 : 2);
		assert_int_equal(model_controls(model)->foreign,
				 partial ? 2 : 0);
		assert_int_equal(model_totals(model)->live_bytes, 30);
		end(model);
		unlink(path);
	}
}

static void names_of_moments(void **state)
{
	struct model *model;

	(void)state;
	begin();
	control(GT_CONTROL_MARKER, 1000, "load");
	event(GT_ALLOC, 1100, 1, 1);
	control(GT_CONTROL_MARKER, 2000, "run");
	event(GT_ALLOC, 2100, 2, 2);
	control(GT_CONTROL_MARKER, 3000, "load");
	event(GT_ALLOC, 3100, 3, 4);
	control(GT_CONTROL_MARKER, 4000, "done");
	event(GT_ALLOC, 4100, 4, 8);
	write_all();
	model = read_with("from", "@run", EXIT_COMPLETE);
	assert_int_equal(model_totals(model)->total_bytes, 2 + 4 + 8);
	end(model);
	model = read_with("from", "@load", EXIT_COMPLETE);	/* the last */
	assert_int_equal(model_totals(model)->total_bytes, 4 + 8);
	end(model);
	model = read_with("marker", "load", EXIT_COMPLETE);	/* any */
	assert_int_equal(model_totals(model)->total_bytes, 1 + 4);
	end(model);
	model = read_with("marker", "done", EXIT_COMPLETE);
	assert_int_equal(model_totals(model)->total_bytes, 8);
	end(model);
	model = read_with("to", "@nothing", EXIT_NOTHING);
	end(model);
	model = read_with("marker", "nothing", EXIT_NOTHING);
	end(model);
	unlink(path);
}

static void never_recorded(void **state)
{
	struct trace_skipped skipped = { .size = { [5] = { 10, 200 },
					     [20] = { 1, 600000 } } };
	struct buffer payload = { 0 };
	struct model *model;

	(void)state;
	begin();
	compose_skipped(&payload, &skipped);
	trace_write_chunk(&t, (struct chunk){ .type = GT_TOTALS }, &payload);
	control(GT_CONTROL_CLEAR, 500, "");
	for (unsigned i = 0; i < 2; i++) {
		compose_skipped(&payload, &skipped);
		trace_write_chunk(&t, (struct chunk){ .type = GT_TOTALS },
				  &payload);
	}
	event(GT_ALLOC, 1000, 1, 17);
	model = finish();
	assert_int_equal(model_leftout(model)->skipped_blocks, 22);
	assert_int_equal(model_totals(model)->allocations, 23);
	assert_int_equal(model_totals(model)->total_bytes, 2 * 600200 + 17);
	assert_int_equal(model_totals(model)->live_bytes, 17);
	assert_int_equal(model_histograms(model)->sizes[5].allocations, 21);
	assert_int_equal(model_histograms(model)->sizes[20].bytes, 1200000);
	assert_int_equal(model_histograms(model)->sizes[20].live_blocks, 0);
	end(model);
	unlink(path);
}

#define IN_POOL(number) ((uint64_t)(number) << 44)	/* of address >> 4 */

static void heap(uint64_t number, const char *name)
{
	struct trace_control record = { .what = GT_CONTROL_HEAP,
		.number = number, .name = name, .name_size = strlen(name) };
	struct buffer payload = { 0 };

	compose_control(&payload, &record);
	trace_write_chunk(&t, (struct chunk){ .type = GT_CONTROL }, &payload);
}

/* A pool's block has the address of malloc's block that it lies in. */
static void heaps_count_apart(void **state)
{
	struct model *model;

	(void)state;
	begin();
	heap(0, "nonsense");
	heap(4096, "nonsense");
	heap(3, "arena");
	heap(5, "pool of nodes");
	event(GT_ALLOC, 1000, 1, 4096);
	event(GT_ALLOC, 1100, 1 | IN_POOL(3), 100);
	event(GT_ALLOC, 1200, 1 | IN_POOL(5), 50);
	event(GT_REALLOC_BEGIN, 1300, 1 | IN_POOL(3), 0);
	event(GT_REALLOC_DONE, 1310, 9 | IN_POOL(3), 130);
	event(GT_FREE, 1400, 1 | IN_POOL(5), 0);
	event(GT_ALLOC, 1500, 2 | IN_POOL(5), 7);
	model = finish();
	assert_int_equal(model_totals(model)->allocations, 1);
	assert_int_equal(model_totals(model)->live_bytes, 4096);
	assert_int_equal(live_listed(model), 4096);
	assert_int_equal(model_pools(model)->count, 6);
	assert_string_equal(pools_name_of(model_pools(model), 3), "arena");
	assert_int_equal(model_pools(model)->list[3].figures.allocations, 2);
	assert_int_equal(model_pools(model)->list[3].figures.total_bytes, 230);
	assert_int_equal(model_pools(model)->list[3].figures.frees, 1);
	assert_int_equal(model_pools(model)->list[3].figures.live_bytes, 130);
	assert_int_equal(model_pools(model)->list[3].figures.peak_bytes, 130);
	assert_int_equal(model_pools(model)->list[5].figures.live_bytes, 7);
	assert_int_equal(model_pools(model)->list[5].figures.peak_bytes, 50);
	follow(model, 1, 0);
	end(model);
	model = read_with("heap", "^pool", EXIT_COMPLETE);
	assert_int_equal(model_totals(model)->allocations, 2);
	assert_int_equal(model_totals(model)->live_bytes, 7);
	assert_int_equal(live_listed(model), 7);
	end(model);
	model = read_with("heap", "^malloc$", EXIT_COMPLETE);
	assert_int_equal(model_totals(model)->live_bytes, 4096);
	end(model);
	model = read_with("heap", ".", EXIT_COMPLETE);
	assert_int_equal(model_totals(model)->live_bytes, 4096 + 130 + 7);
	end(model);
	model = read_with("address-max", "0x20", EXIT_COMPLETE);
	assert_int_equal(model_totals(model)->live_bytes, 4096);
	end(model);
	model = read_with("fate", "live", EXIT_COMPLETE);
	assert_int_equal(model_totals(model)->live_bytes, 4096);
	end(model);
	unlink(path);
}

/* A CLEAR ends a pool's blocks, too. */
static void heaps_and_beginnings(void **state)
{
	struct model *model;

	(void)state;
	begin();
	heap(1, "arena");
	event(GT_ALLOC, 1000, 1 | IN_POOL(1), 100);
	control(GT_CONTROL_CLEAR, 1500, "");
	event(GT_ALLOC, 2000, 2 | IN_POOL(1), 8);
	event(GT_FREE, 2100, 1 | IN_POOL(1), 0);
	model = finish();
	assert_int_equal(model_pools(model)->list[1].figures.live_bytes, 8);
	assert_int_equal(model_pools(model)->list[1].figures.frees, 0);
	assert_int_equal(model_pools(model)->list[1].figures.peak_bytes, 8);
	assert_int_equal(model_controls(model)->foreign, 1);
	end(model);
	unlink(path);
}

static void put_live(const struct trace_live *blocks, size_t count)
{
	struct buffer payload = { 0 };

	compose_live(&payload, blocks, count, 3);
	trace_write_chunk(&t, (struct chunk){ .type = GT_LIVE }, &payload);
}

static void part_begins_with_blocks(void **state)
{
	/* in no order; one with an address twice, one at none */
	static const struct trace_live live[] = {
		{ .address = 0x30, .size = 1000, .stamp = 700, .context = C,
		  .ring = 1 },
		{ .address = 0x15, .size = 50, .stamp = 300, .context = C + 1,
		  .ring = UINT32_MAX },
		{ .address = 0x30, .size = 7, .stamp = 900, .context = C,
		  .ring = 1 },
	};
	struct trace_totals totals = { .context = C, .value = {
		[GT_TOTALS_ALLOCATIONS] = 5, [GT_TOTALS_BYTES] = 5000,
		[GT_TOTALS_FREES] = 5, [GT_TOTALS_FREED_BYTES] = 5000,
		[GT_TOTALS_FIRST] = 10, [GT_TOTALS_LAST] = 600 } };
	struct trace_run run = { .value = {
		[GT_RUN_PEAK_BYTES] = 4000, [GT_RUN_PEAK_BLOCKS] = 4,
		[GT_RUN_PEAK_STAMP] = 500 } };
	struct buffer payload = { 0 };
	const struct context_cost *cost;
	const struct block *block;
	struct model *model;
	uint64_t at = 0;

	(void)state;
	begin();
	trace_write_line(&t, GT_INFO, "part", "3");
	compose_run(&payload, &run);
	trace_write_chunk(&t, (struct chunk){ .type = GT_TOTALS }, &payload);
	compose_totals(&payload, &totals, 1, 0);
	trace_write_chunk(&t, (struct chunk){ .type = GT_TOTALS }, &payload);
	put_live(live, 3);
	event(GT_ALLOC, 2000, 2, 20);
	event(GT_FREE, 3000, 3, 0);
	model = finish();
	assert_int_equal(model_live_at_begin(model), 2);
	assert_int_equal(model_totals(model)->allocations, 8);
	assert_int_equal(model_totals(model)->total_bytes, 5000 + 1050 + 20);
	assert_int_equal(model_totals(model)->frees, 6);
	assert_int_equal(model_totals(model)->temporary, 0);
	assert_int_equal(model_totals(model)->live_bytes, 70);
	assert_int_equal(live_listed(model), 70);
	assert_int_equal(model_totals(model)->peak_bytes,
			 4000); /* of the run */
	assert_int_equal(model_totals(model)->unpaired, 0);
	cost = fed_cost(model, C);
	assert_int_equal(cost->first, 10);
	assert_int_equal(cost->last, 2000);
	assert_int_equal(cost->peak_bytes, 1020);	/* of the part */
	follow(model, 3, 1);
	block = model_next_block(model, &at);
	assert_int_equal(model_thread(model, block->thread)->tid, 0);
	end(model);
	model = read_with("from", "5us", EXIT_COMPLETE);
	assert_int_equal(model_totals(model)->allocations, 2);
	end(model);
	model = read_with("lifetime-min", "20us", EXIT_COMPLETE);
	assert_int_equal(model_totals(model)->allocations, 2);
	end(model);
	unlink(path);
}

/* Beginnings of earlier parts come again: blocks from before are foreign. */
static void part_and_beginnings(void **state)
{
	static const struct trace_live live[] = {
		{ .address = 0x30, .size = 1000, .stamp = 700, .context = C },
		{ .address = 0x10, .size = 50, .stamp = 300, .context = C },
	};
	struct model *model;

	(void)state;
	begin();
	control(GT_CONTROL_CLEAR, 500, "");
	put_live(live, 2);
	event(GT_FREE, 2000, 1, 0);
	put_live(live, 1);	/* said twice */
	model = finish();
	assert_int_equal(model_totals(model)->allocations, 1);
	assert_int_equal(model_totals(model)->live_bytes, 1000);
	assert_int_equal(model_controls(model)->foreign, 1);
	end(model);
	unlink(path);
}

static void damages_are_kept(void **state)
{
	static const uint64_t args[2][GT_EXTRA_ARGS] = {
		{ (uint64_t)-3, C, 2, GT_DAMAGE_FREE },
		{ 16, UINT64_MAX, 0, GT_DAMAGE_END + 1 },
	};
	struct model *model;

	(void)state;
	begin();
	for (unsigned i = 0; i < 2; i++)
		events[event_count++] = (struct trace_event){
			.kind = GT_EXTRA, .what = GT_EXTRA_DAMAGE,
			.stamp = 1000 + i, .address = 0x40, .size = 16,
			.context = C + 1, .args = args[i],
		};
	model = finish();
	assert_int_equal(model_damages(model)->all, 2);
	assert_int_equal(model_damages(model)->list[0].offset, -3);
	assert_int_equal(model_damages(model)->list[0].allocated_by,
			 CONTEXT_ROOTS);
	assert_int_equal(model_damages(model)->list[0].found_by,
			 CONTEXT_ROOTS + 1);
	assert_int_equal(model_damages(model)->list[1].allocated_by, 0);
	assert_int_equal(model_damages(model)->list[1].when, GT_DAMAGE_COUNT);
	end(model);
	unlink(path);
}

/* A record that comes behind events that are later than it. */
static void too_late(void **state)
{
	struct model *model;

	(void)state;
	begin();
	event(GT_ALLOC, 1000, 1, 16);
	event(GT_ALLOC, 9000, 2, 32);
	trace_write_events(&t, 1, 0, 0, events, 2, 0);
	trace_write_sync(&t, 1000000);
	control(GT_CONTROL_CLEAR, 500, "");
	control(GT_CONTROL_STOP, UINT64_MAX, "");
	control(GT_CONTROL_START, UINT64_MAX, "");
	control(77, 3, "");
	events[0] = (struct trace_event){ .kind = GT_ALLOC, .stamp = 9001,
		.address = 64, .size = 8, .context = C };
	trace_write_events(&t, 1, 0, 48, events, 1, 0);
	trace_write_line(&t, GT_END, "reason", "exit");
	strcpy(path, "/tmp/gnomon-unit-XXXXXX");
	trace_write_file(&t, path);
	buffer_free(&t.bytes);
	model = read_with(NULL, NULL, EXIT_COMPLETE);
	assert_int_equal(model_totals(model)->live_bytes,
			 0); /* START was last */
	end(model);
	unlink(path);
}

static void broken_orders_are_seen(void **state)
{
	struct control list[3] = { { .stamp = 5 },
				   { .stamp = 9 },
				   { .stamp = 9 } };
	struct controls controls = { .list = list, .count = 3, .next = 3 };

	(void)state;
	assert_true(controls_is_valid(&controls));
	list[1].stamp = 10; /* I1 */
	assert_false(controls_is_valid(&controls));
	list[1].stamp = 9;
	controls.next = 4;
	assert_false(controls_is_valid(&controls));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(clear_leaves_out_what_was),
		cmocka_unit_test(maxima_of_groups_begin_anew),
		cmocka_unit_test(the_last_one_counts),
		cmocka_unit_test(off_and_on),
		cmocka_unit_test(unknown_frees),
		cmocka_unit_test(names_of_moments),
		cmocka_unit_test(never_recorded),
		cmocka_unit_test(too_late),
		cmocka_unit_test(heaps_count_apart),
		cmocka_unit_test(heaps_and_beginnings),
		cmocka_unit_test(part_begins_with_blocks),
		cmocka_unit_test(part_and_beginnings),
		cmocka_unit_test(damages_are_kept),
		cmocka_unit_test(broken_orders_are_seen),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
