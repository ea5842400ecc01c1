/*
 * test_strip_control.c: a trace that was started, stopped and cleared says the
 * same after its short-lived blocks were left out: since the last beginning,
 * and, if that is asked for, from its start.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "cli/base/terminal/log.h"
#include "cli/commands.h"
#include "cli/model/core/contexts.h"
#include "cli/model/core/controls.h"
#include "cli/model/filters.h"
#include "tests/unit/model_feed.h"
#include "tests/unit/model_story.h"
#include "tests/unit/filter_words.h"

#define SEEDS 30

/* Records at random, before the events. */
static void add_controls(const struct story *story, struct trace_write *t)
{
	unsigned count = (unsigned)rand() % 6;
	bool off = false;

	for (unsigned i = 0; i < count; i++) {
		struct trace_control control = { .name = "", .stamp =
			story->stamp * (i + 1) / (count + 1) };
		struct buffer payload = { 0 };

		control.what = off ? GT_CONTROL_START : rand() % 2 ?
			GT_CONTROL_CLEAR : GT_CONTROL_STOP;
		off = control.what == GT_CONTROL_STOP;
		compose_control(&payload, &control);
		trace_write_chunk(t, (struct chunk){ .type = GT_CONTROL },
				  &payload);
	}
}

static void write_story(struct story *s, char *path, const char *sample)
{
	struct buffer payload = { 0 };
	struct trace_write t;

	story_forget_freers(s);
	trace_write_begin(&t);
	trace_write_line(&t, GT_INFO, "start_monotonic_ns", "0");
	if (sample != NULL)
		trace_write_line(&t, GT_INFO, "sample", sample);
	trace_write_sync(&t, 0);
	for (uint32_t i = 0; i < STORY_CONTEXTS; i++) {
		compose_nodes(&payload, &(struct trace_node){
			GT_STOP_COUNT + i, 0, 0x1000 + i }, 1, 0);
		trace_write_chunk(&t, (struct chunk){ .type = GT_CONTEXT },
				  &payload);
	}
	for (uint32_t i = 0; i < STORY_THREADS; i++) {
		compose_thread(&payload, &(struct trace_thread){
			.what = GT_THREAD_START, .ring = i, .tid = 100 + i,
			.name = "", .name_size = 0 });
		trace_write_chunk(&t, (struct chunk){ .type = GT_THREAD },
				  &payload);
	}
	add_controls(s, &t);
	for (uint32_t i = 0; i < STORY_THREADS; i++)
		trace_write_events(&t, i, 0, 0, s->events[i],
				   s->event_count[i], 0);
	trace_write_sync(&t, s->stamp);
	trace_write_line(&t, GT_END, "reason", "exit");
	strcpy(path, "/tmp/gnomon-unit-XXXXXX");
	trace_write_file(&t, path);
	buffer_free(&t.bytes);
}

static struct model *read_model(const char *path, bool all)
{
	struct filter *filter = filter_new(NULL);
	const struct model_options options = { .filter = all ? filter : NULL };
	struct model *model;

	assert_int_equal(filter_take_word(filter, "from", "start"), 0);
	model = model_new(&options, NULL);
	assert_int_equal(model_read(model, path), EXIT_COMPLETE);
	filter_free(filter);
	return model;
}

static void same(const char *before, const char *after, bool all)
{
	struct model *a = read_model(before, all);
	struct model *b = read_model(after, all);

	assert_int_equal(model_totals(a)->allocations,
			 model_totals(b)->allocations);
	assert_int_equal(model_totals(a)->total_bytes,
			 model_totals(b)->total_bytes);
	assert_int_equal(model_totals(a)->frees, model_totals(b)->frees);
	assert_int_equal(model_totals(a)->temporary,
			 model_totals(b)->temporary);
	assert_int_equal(model_totals(a)->live_bytes,
			 model_totals(b)->live_bytes);
	/* of all stretches only the last one's peak is kept */
	if (!all)
		assert_int_equal(model_totals(a)->peak_bytes,
				 model_totals(b)->peak_bytes);
	assert_int_equal(model_totals(a)->unpaired, model_totals(b)->unpaired);
	assert_int_equal(model_controls(a)->foreign,
			 model_controls(b)->foreign);
	for (uint32_t i = 0; i < STORY_CONTEXTS; i++) {
		uint32_t id = GT_STOP_COUNT + i;
		const struct context_cost *x = fed_cost(a, id);
		const struct context_cost *y = fed_cost(b, id);

		assert_int_equal(x->allocations, y->allocations);
		assert_int_equal(x->total_bytes, y->total_bytes);
		assert_int_equal(x->live_bytes, y->live_bytes);
		assert_int_equal(x->temporary, y->temporary);
	}
	model_free(a);
	model_free(b);
}

static void strips(const char *from, const char *to, const char *option)
{
	char *argv[] = { "strip", (char *)from, "-f", "-o", (char *)to,
			 (char *)option, NULL };

	assert_int_equal(cmd_strip.main(&cmd_strip, 6, argv), EXIT_COMPLETE);
}

static void says_the_same(void **state)
{
	static const char *const options[] = {
		"--lifetime=1us", "--lifetime=20us", "--temporary=0",
		"--temporary=3", "--lifetime=1h",
	};
	char path[32], to[40];

	(void)state;
	log_set_quiet(true);
	for (unsigned seed = 0; seed < SEEDS; seed++) {
		struct story *story = story_new(seed);

		write_story(story, path, NULL);
		snprintf(to, sizeof(to), "%s.out", path);
		strips(path, to, options[seed % 5]);
		same(path, to, false);
		same(path, to, true);
		strips(to, path, options[(seed + 2) % 5]);	/* again */
		same(to, path, false);
		same(to, path, true);
		unlink(path);
		unlink(to);
		story_free(story);
	}
}

static void near(uint64_t a, uint64_t b, uint64_t most)
{
	assert_true(a < b ? b - a <= most : a - b <= most);
}

/* Of a sample sums are right within a block of each context and thread. */
static void sample_stays_an_estimate(void **state)
{
	const uint64_t most = STORY_CONTEXTS * (STORY_THREADS + 1);
	char path[32], to[40];

	(void)state;
	for (unsigned seed = 100; seed < 108; seed++) {
		struct story *story = story_new(seed);
		struct model *a, *b;

		write_story(story, path, "300");
		snprintf(to, sizeof(to), "%s.out", path);
		strips(path, to, "--lifetime=1h");
		a = read_model(path, false);
		b = read_model(to, false);
		near(model_totals(a)->allocations, model_totals(b)->allocations,
		     most);
		near(model_totals(a)->frees, model_totals(b)->frees, most);
		near(model_totals(a)->total_bytes, model_totals(b)->total_bytes,
		     most * 1000);
		assert_int_equal(model_totals(a)->live_bytes,
				 model_totals(b)->live_bytes);
		assert_int_equal(model_totals(b)->temporary, 0);
		model_free(a);
		model_free(b);
		unlink(path);
		unlink(to);
		story_free(story);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(says_the_same),
		cmocka_unit_test(sample_stays_an_estimate),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
