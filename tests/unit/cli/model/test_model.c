/*
 * test_model.c: figures of the model against a brute-force one on random
 * events, and the rules of pairing and reallocation one by one.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "cli/base/terminal/log.h"
#include "cli/model/model_state.h"
#include "cli/model/stats/figures.h"
#include "tests/unit/trace_write.h"

#define CONTEXTS 40
#define SLOTS 300
#define THREADS 3

static struct model *model;

static void start(void)
{
	struct trace_thread thread = { .what = GT_THREAD_START, .name = "" };
	struct trace_image image = { .what = GT_IMAGE_MAPPED, .path = "a",
				     .path_size = 1, .segment_count = 1 };

	model = model_new(NULL, NULL);
	image.segments[0].size = 10000;
	images_add(&model->images, &image);
	model->edges.waiting.window = 100;
	for (uint32_t i = 0; i < THREADS; i++) {
		thread.ring = i;
		thread.tid = 10 + i;
		thread.stamp = i;
		threads_record(&model->threads, &thread);
	}
	for (uint32_t i = 0; i < CONTEXTS; i++) {
		struct trace_node node = { GT_STOP_COUNT + i, 0, 1000 + i };

		contexts_define(&model->contexts, &model->images, &node);
	}
}

#define EVENT(t, a, n, c, k)                                            \
	((struct trace_event){ .stamp = (t), .address = (a), .size = (n), \
			       .context = (c), .kind = (k) })

static void event(uint32_t thread, unsigned kind, uint64_t stamp,
		  uint64_t address, uint64_t size, uint32_t context)
{
	struct trace_event e = EVENT(stamp, address, size,
				     GT_STOP_COUNT + context, kind);

	model_events(model, model_lane(thread + 1, false), &e, 1);
}

static const struct context_cost *cost_of(uint32_t context)
{
	return &model->contexts.costs[contexts_cost(&model->contexts,
						   GT_STOP_COUNT + context)];
}

/* ---- brute force ---- */

static struct {
	struct {
		uint64_t size;
		uint32_t context, thread;
		uint64_t number;
	} slot[SLOTS];
	uint64_t live[CONTEXTS], at_peak[CONTEXTS], total[CONTEXTS];
	uint64_t blocks[CONTEXTS], blocks_at_peak[CONTEXTS];
	uint64_t count[CONTEXTS], temporary[CONTEXTS];
	uint64_t number[THREADS];	/* allocations so far */
	uint64_t all, peak;
} brute;

static void brute_free(unsigned i)
{
	uint32_t context = brute.slot[i].context;

	brute.live[context] -= brute.slot[i].size;
	brute.blocks[context]--;
	brute.all -= brute.slot[i].size;
	brute.temporary[context] += brute.slot[i].number ==
		brute.number[brute.slot[i].thread];
	brute.slot[i].size = 0;
}

static void brute_allocate(unsigned i, uint32_t thread, uint64_t size,
			   uint32_t context)
{
	brute.slot[i].size = size;
	brute.slot[i].context = context;
	brute.slot[i].thread = thread;
	brute.slot[i].number = ++brute.number[thread];
	brute.live[context] += size;
	brute.blocks[context]++;
	brute.total[context] += size;
	brute.count[context]++;
	brute.all += size;
	if (brute.all > brute.peak) {
		brute.peak = brute.all;
		memcpy(brute.at_peak, brute.live, sizeof(brute.live));
		memcpy(brute.blocks_at_peak, brute.blocks,
		       sizeof(brute.blocks));
	}
}

static void compare_with_brute(void)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < CONTEXTS; i++) {
		const struct context_cost *cost = cost_of(i);
		struct figures figures;

		model_figures(model, cost, &figures);
		assert_int_equal(cost->live_bytes, brute.live[i]);
		assert_int_equal(cost->live_blocks, brute.blocks[i]);
		assert_int_equal(cost->total_bytes, brute.total[i]);
		assert_int_equal(cost->allocations, brute.count[i]);
		assert_int_equal(cost->temporary, brute.temporary[i]);
		assert_int_equal(figures.peak_bytes, brute.at_peak[i]);
		assert_int_equal(figures.peak_blocks,
				 brute.blocks_at_peak[i]);
		sum += figures.peak_bytes;
	}
	assert_int_equal(sum, model->totals.peak_bytes);
	assert_int_equal(model->totals.peak_bytes, brute.peak);
	assert_int_equal(model->totals.live_bytes, brute.all);
	assert_int_equal(model->totals.unpaired, 0);
	assert_int_equal(model->totals.repaired, 0);
}

static void random_step(uint64_t stamp, unsigned grow)
{
	unsigned i = (unsigned)rand() % SLOTS;
	uint32_t thread = (uint32_t)rand() % THREADS;
	uint32_t context = (uint32_t)rand() % CONTEXTS;
	uint64_t size = 1 + (uint64_t)rand() % 1000, address = 16 + i * 16;

	if (brute.slot[i].size == 0) {
		if ((unsigned)rand() % 4 > grow)
			return;
		event(thread, GT_ALLOC, stamp, address, size, context);
		brute_allocate(i, thread, size, context);
	} else if (rand() % 3 == 0) {
		event(thread, GT_REALLOC_BEGIN, stamp, address, 0, 0);
		event(thread, GT_REALLOC_DONE, stamp, address, size, context);
		brute_free(i);
		brute_allocate(i, thread, size, context);
	} else if ((unsigned)rand() % 4 >= grow) {
		event(thread, GT_FREE, stamp, address, 0, 0);
		brute_free(i);
	}
}

static void random_streams(void **state)
{
	(void)state;
	for (unsigned seed = 0; seed < 20; seed++) {
		srand(seed);
		memset(&brute, 0, sizeof(brute));
		start();
		for (uint64_t stamp = 1; stamp < 20000; stamp++) {
			random_step(stamp * 1000, stamp / 2000 % 4);
			if (stamp % 4999 == 0)
				compare_with_brute();
		}
		compare_with_brute();
		model_free(model);
	}
}

/* ---- pairing ---- */

static void allocation_before_its_free(void **state)
{
	(void)state;
	start();
	event(0, GT_ALLOC, 1000, 16, 100, 0);
	event(1, GT_ALLOC, 2000, 16, 30, 1);	/* really after the free */
	assert_int_equal(model->totals.live_bytes, 100);
	event(0, GT_FREE, 2050, 16, 0, 0);
	assert_int_equal(model->totals.live_bytes, 30);
	assert_int_equal(model->totals.allocations, 2);
	assert_int_equal(model->totals.frees, 1);
	assert_int_equal(model->totals.repaired, 1);
	assert_int_equal(model->totals.unpaired, 0);
	assert_int_equal(model->totals.peak_bytes, 100);
	model_free(model);
}

static void free_before_its_allocation(void **state)
{
	(void)state;
	start();
	event(0, GT_FREE, 2000, 16, 0, 0);
	event(1, GT_ALLOC, 2050, 16, 30, 1);
	assert_int_equal(model->totals.live_bytes, 0);
	assert_int_equal(model->totals.frees, 1);
	assert_int_equal(model->totals.repaired, 1);
	assert_int_equal(model->totals.unpaired, 0);
	model_free(model);
}

static void window_over(void **state)
{
	struct figures figures;
	enum measure freed;

	(void)state;
	start();
	event(0, GT_FREE, 2000, 16, 0, 0);
	event(1, GT_ALLOC, 2101, 16, 30, 1);	/* too late to be meant */
	assert_int_equal(model->totals.unpaired, 1);
	assert_int_equal(model->totals.live_bytes, 30);
	event(1, GT_ALLOC, 3000, 16, 50, 2);	/* its free was lost */
	assert_int_equal(model->totals.live_bytes, 30);
	event(1, GT_ALLOC, 4000, 32, 5, 3);
	assert_int_equal(model->totals.unpaired, 2);
	assert_int_equal(model->totals.live_bytes, 55);
	assert_int_equal(model->totals.live_blocks, 2);
	assert_int_equal(cost_of(1)->live_bytes, 0);
	assert_int_equal(model->totals.frees, 0);
	/* What is lost is freed, though there was no free of it. */
	assert_true(figures_find("freed", &freed));
	model_figures(model, cost_of(1), &figures);
	assert_int_equal(figures_value(&figures, freed, 0), 30);
	assert_int_equal(figures_blocks(&figures, freed), 0);
	model_free(model);
}

static void waits_to_the_end(void **state)
{
	(void)state;
	start();
	event(0, GT_ALLOC, 1000, 16, 100, 0);
	event(1, GT_ALLOC, 2000, 16, 30, 1);
	event(1, GT_FREE, 2001, 48, 0, 0);
	model_finish(model);
	assert_int_equal(model->totals.unpaired, 2);
	assert_int_equal(model->totals.live_bytes, 30);
	model_free(model);
}

/* ---- reallocation ---- */

static void realloc_holds_until_done(void **state)
{
	(void)state;
	start();
	event(0, GT_ALLOC, 1000, 16, 100, 0);
	event(0, GT_REALLOC_BEGIN, 2000, 16, 0, 0);
	assert_int_equal(model->totals.live_bytes, 100);
	event(0, GT_REALLOC_DONE, 3000, 64, 300, 1);
	assert_int_equal(model->totals.live_bytes, 300);
	assert_int_equal(model->totals.peak_bytes, 300);
	assert_int_equal(model->totals.allocations, 2);
	assert_int_equal(model->totals.frees, 1);
	event(0, GT_REALLOC_BEGIN, 4000, 64, 0, 0);
	event(0, GT_REALLOC_FAILED, 4001, 64, 0, 0);
	event(0, GT_FREE, 5000, 64, 0, 0);
	assert_int_equal(model->totals.live_bytes, 0);
	event(0, GT_ALLOC, 6000, 16, 7, 0);
	event(0, GT_REALLOC_BEGIN, 7000, 16, 0, 0);
	event(0, GT_REALLOC_FREED, 7001, 16, 0, 0);
	assert_int_equal(model->totals.live_blocks, 0);
	assert_int_equal(model->totals.frees, 3);
	assert_int_equal(model->totals.unpaired, 0);
	model_free(model);
}

static void address_reused_before_done(void **state)
{
	(void)state;
	start();
	event(0, GT_ALLOC, 1000, 16, 100, 0);
	event(0, GT_REALLOC_BEGIN, 2000, 16, 0, 0);
	event(1, GT_ALLOC, 2010, 16, 40, 2);	/* moved: 16 was free again */
	assert_int_equal(model->totals.live_bytes, 40);
	assert_int_equal(model->totals.frees, 1);
	event(0, GT_REALLOC_DONE, 2020, 64, 300, 1);
	assert_int_equal(model->totals.live_bytes, 340);
	assert_int_equal(model->totals.frees, 1);
	assert_int_equal(model->totals.unpaired, 0);
	assert_int_equal(model->totals.repaired, 0);
	model_free(model);
}

static void free_before_done(void **state)
{
	(void)state;
	start();
	event(0, GT_ALLOC, 1000, 16, 100, 0);
	event(0, GT_REALLOC_BEGIN, 2000, 16, 0, 0);
	event(1, GT_FREE, 2040, 16, 0, 0);	/* of the result */
	event(0, GT_REALLOC_DONE, 2050, 16, 300, 1);
	assert_int_equal(model->totals.live_bytes, 0);
	assert_int_equal(model->totals.frees, 2);
	assert_int_equal(model->totals.repaired, 1);
	model_free(model);
}

static void begin_before_allocation(void **state)
{
	(void)state;
	start();
	event(0, GT_REALLOC_BEGIN, 2000, 16, 0, 0);
	event(1, GT_ALLOC, 2040, 16, 100, 0);
	event(0, GT_REALLOC_DONE, 2050, 64, 300, 1);
	assert_int_equal(model->totals.live_bytes, 300);
	assert_int_equal(model->totals.frees, 1);
	event(0, GT_REALLOC_BEGIN, 3000, 128, 0, 0);
	event(0, GT_REALLOC_DONE, 3010, 256, 10, 1);
	event(1, GT_ALLOC, 3040, 128, 100, 0);	/* later still */
	assert_int_equal(model->totals.live_bytes, 310);
	assert_int_equal(model->totals.frees, 2);
	assert_int_equal(model->totals.unpaired, 0);
	model_free(model);
}

static void begin_without_end(void **state)
{
	(void)state;
	start();
	event(0, GT_ALLOC, 1000, 16, 100, 0);
	event(0, GT_REALLOC_BEGIN, 2000, 16, 0, 0);
	model_finish(model);		/* killed inside realloc */
	assert_int_equal(model->totals.live_bytes, 100);
	assert_int_equal(model->totals.unpaired, 0);
	event(0, GT_FREE, 3000, 16, 0, 0);
	assert_int_equal(model->totals.live_bytes, 0);
	model_free(model);
}

/* ---- contexts ---- */

static void equal_contexts_are_one(void **state)
{
	struct trace_node twin = { 500, 0, 1000 }, child = { 501, 500, 7 };
	struct trace_node same = { 502, GT_STOP_COUNT, 7 };

	(void)state;
	start();
	contexts_define(&model->contexts, &model->images, &twin);
	contexts_define(&model->contexts, &model->images, &child);
	contexts_define(&model->contexts, &model->images, &same);
	event(0, GT_ALLOC, 1, 16, 1, 500 - GT_STOP_COUNT);
	event(0, GT_ALLOC, 2, 32, 2, 0);
	event(0, GT_ALLOC, 3, 48, 4, 501 - GT_STOP_COUNT);
	event(0, GT_ALLOC, 4, 64, 8, 502 - GT_STOP_COUNT);
	event(0, GT_ALLOC, 5, 80, 16, 4000000000u);	/* never defined */
	assert_int_equal(model->contexts.cost_count, 3);
	assert_int_equal(cost_of(0)->live_bytes, 3);
	assert_int_equal(cost_of(502 - GT_STOP_COUNT)->live_bytes, 12);
	assert_int_equal(cost_of(4000000000u)->node, CONTEXT_UNDEFINED);
	model_free(model);
}

/* What lay at an address in no image is known by the id alone. */
static void code_made_at_run_time(void **state)
{
	struct trace_node node = { 500, 0, 1000000 };
	const struct contexts *contexts = &model->contexts;

	(void)state;
	start();
	contexts_define(&model->contexts, &model->images, &node);
	contexts_define(&model->contexts, &model->images, &node);
	node.id = 502;
	contexts_define(&model->contexts, &model->images, &node);
	event(0, GT_ALLOC, 1, 16, 1, 500 - GT_STOP_COUNT);
	event(0, GT_ALLOC, 2, 32, 2, 502 - GT_STOP_COUNT);
	event(0, GT_ALLOC, 3, 48, 4, 0);
	assert_int_equal(model->contexts.cost_count, 3);
	assert_int_equal(contexts_id(contexts, cost_of(500 -
				GT_STOP_COUNT)->node), 500);
	assert_int_equal(contexts_id(contexts, cost_of(502 -
				GT_STOP_COUNT)->node), 502);
	assert_int_equal(contexts_id(contexts, cost_of(0)->node), 0);
	model_free(model);
}

static void stopped_stacks(void **state)
{
	struct trace_node cut = { 600, GT_STOP_NO_RULE, 9 };
	struct trace_node inner = { 601, 600, 10 };

	(void)state;
	start();
	contexts_define(&model->contexts, &model->images, &cut);
	contexts_define(&model->contexts, &model->images, &inner);
	event(0, GT_ALLOC, 1, 16, 1, 0);
	assert_int_equal(model_stopped(model), 0);
	event(0, GT_ALLOC, 2, 32, 1, 600 - GT_STOP_COUNT);
	event(0, GT_ALLOC, 3, 48, 1, 601 - GT_STOP_COUNT);
	event(0, GT_ALLOC, 4, 64, 1, 601 - GT_STOP_COUNT);
	event(0, GT_ALLOC, 5, 80, 1, 4000000000u);	/* never defined */
	assert_int_equal(model_stopped(model), 4);
	model_free(model);
}

static void images_by_epoch(void **state)
{
	struct trace_image a = { .what = GT_IMAGE_MAPPED, .index = 0,
		.first_node = 16, .segment_count = 1, .segments =
		{ { 0x1000, 0x1000, 0, 5 } }, .path = "/a", .path_size = 2 };
	struct trace_image b = a, gone = { .what = GT_IMAGE_GONE, .index = 0,
		.end_node = 20 };
	struct images images;

	(void)state;
	images_init(&images);
	images_add(&images, &a);
	assert_int_equal(images_find(&images, 17, 0x1800), 0);
	assert_int_equal(images_find(&images, 17, 0x2000), IMAGE_NONE);
	b.index = 1;
	b.first_node = 20;
	b.path = "/b";
	images_add(&images, &b);
	images_add(&images, &gone);
	assert_int_equal(images_find(&images, 19, 0x1800), 0);
	assert_int_equal(images_find(&images, 20, 0x1800), 1);
	assert_int_equal(images_find(&images, 19, 0x1800), 0);
	assert_int_equal(images_find_only(&images, 0x1800), IMAGE_NONE);
	assert_string_equal(images.list[1].name, "b");
	images_free(&images);
}

/* ---- a whole file ---- */

static void whole_file(void **state)
{
	struct trace_event first[] = {
		EVENT(100, 16, 10, GT_STOP_COUNT, GT_ALLOC),
		EVENT(300, 16, 0, 0, GT_FREE),
	};
	struct trace_event second[] = {
		EVENT(150, 32, 500, GT_STOP_COUNT, GT_ALLOC),
		EVENT(200, 48, 5, GT_STOP_COUNT, GT_ALLOC),
		EVENT(250, 32, 0, 0, GT_FREE),
	};
	struct trace_node node = { GT_STOP_COUNT, 0, 4096 };
	char path[] = "/tmp/gnomon-unit-XXXXXX";
	struct buffer payload = { 0 };
	struct trace_write t;
	struct figures figures;

	(void)state;
	trace_write_begin(&t);
	trace_write_line(&t, GT_INFO, "start_monotonic_ns", "500");
	trace_write_sync(&t, 0);
	compose_nodes(&payload, &node, 1, 0);
	trace_write_chunk(&t, (struct chunk){ .type = GT_CONTEXT }, &payload);
	trace_write_events(&t, 0, 0, 0, first, 2, 0);
	trace_write_events(&t, 1, 0, 0, second, 3, 0);
	trace_write_sync(&t, 1000);
	trace_write_line(&t, GT_END, "reason", "exit");
	trace_write_file(&t, path);
	model = model_new(NULL, NULL);
	assert_int_equal(model_read(model, path), EXIT_COMPLETE);
	assert_int_equal(model->totals.peak_bytes, 515);
	assert_int_equal(model->totals.peak_blocks, 3);
	assert_int_equal(model->totals.live_bytes, 5);
	assert_int_equal(model_since_start_ns(model,
					      model->totals.peak_stamp), 1500);
	assert_int_equal(model_duration_ns(model), 9500);
	assert_int_equal(model->contexts.cost_count, 1);
	model_figures(model, model->contexts.costs, &figures);
	assert_int_equal(figures.peak_bytes, 515);
	model_free(model);
	/* Torn inside END: all events, but status 3. */
	assert_int_equal(truncate(path, (off_t)t.bytes.size - 1), 0);
	model = model_new(NULL, NULL);
	assert_int_equal(model_read(model, path), EXIT_PARTIAL);
	assert_int_equal(model->totals.peak_bytes, 515);
	model_free(model);
	unlink(path);
	buffer_free(&t.bytes);
}

/* A ring that was too small is replaced within a realloc. */
static void realloc_over_two_generations(void **state)
{
	struct trace_event first[] = {
		EVENT(100, 16, 10, 0, GT_ALLOC),
		EVENT(200, 16, 0, 0, GT_REALLOC_BEGIN),
	};
	struct trace_event second[] = {
		EVENT(300, 32, 20, 0, GT_REALLOC_DONE),
	};
	struct trace_thread thread = { .what = GT_THREAD_START, .tid = 1,
				       .name = "" };
	char path[] = "/tmp/gnomon-unit-XXXXXX";
	struct buffer payload = { 0 };
	struct trace_write t;

	(void)state;
	trace_write_begin(&t);
	trace_write_sync(&t, 0);
	compose_thread(&payload, &thread);
	trace_write_chunk(&t, (struct chunk){ .type = GT_THREAD }, &payload);
	trace_write_events(&t, 0, 0, 0, first, 2, 0);
	trace_write_sync(&t, 250);
	trace_write_events(&t, 0, 1, 0, second, 1, 0);
	trace_write_line(&t, GT_END, "reason", "exit");
	trace_write_file(&t, path);
	model = model_new(NULL, NULL);
	assert_int_equal(model_read(model, path), EXIT_COMPLETE);
	assert_int_equal(model->totals.live_bytes, 20);
	assert_int_equal(model->totals.frees, 1);
	assert_int_equal(model->totals.unpaired, 0);
	model_free(model);
	unlink(path);
	buffer_free(&t.bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_streams),
		cmocka_unit_test(allocation_before_its_free),
		cmocka_unit_test(free_before_its_allocation),
		cmocka_unit_test(window_over),
		cmocka_unit_test(waits_to_the_end),
		cmocka_unit_test(realloc_holds_until_done),
		cmocka_unit_test(address_reused_before_done),
		cmocka_unit_test(free_before_done),
		cmocka_unit_test(begin_before_allocation),
		cmocka_unit_test(begin_without_end),
		cmocka_unit_test(equal_contexts_are_one),
		cmocka_unit_test(code_made_at_run_time),
		cmocka_unit_test(stopped_stacks),
		cmocka_unit_test(images_by_epoch),
		cmocka_unit_test(whole_file),
		cmocka_unit_test(realloc_over_two_generations),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
