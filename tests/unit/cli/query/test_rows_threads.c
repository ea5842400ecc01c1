/* test_rows_threads.c: traces are read, and queries answered, in several
 * threads at once, as by one alone. For ThreadSanitizer. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <pthread.h>
#include <string.h>

#include "cli/base/hash.h"
#include "cli/model/filters.h"
#include "cli/model/model.h"
#include "cli/query/rows.h"
#include "tests/unit/filter_words.h"
#include "tests/unit/trace_write.h"

#define PAIRS 3000
#define RINGS 3
#define CONTEXTS 50
#define TURNS 4

/* Of each trace another seed: blocks that are freed by their own thread, at
 * once or never. */
static void write_trace(char *path, uint64_t seed)
{
	struct trace_node nodes[CONTEXTS];
	struct trace_write t;
	struct buffer payload = { 0 };

	trace_write_begin(&t);
	trace_write_line(&t, GT_INFO, "start_monotonic_ns", "10");
	trace_write_sync(&t, 0);
	for (uint32_t i = 0; i < CONTEXTS; i++)
		nodes[i] = (struct trace_node){
			GT_STOP_COUNT + i, i ? GT_STOP_COUNT + i / 2 : 0,
			4096 + 16 * i,
		};
	compose_nodes(&payload, nodes, CONTEXTS, 0);
	trace_write_chunk(&t, (struct chunk){ .type = GT_CONTEXT }, &payload);
	for (uint32_t ring = 0; ring < RINGS; ring++) {
		struct trace_thread thread = { .what = GT_THREAD_START,
					       .ring = ring, .tid = 10 + ring,
					       .name = "" };
		struct trace_event events[2 * PAIRS];
		size_t count = 0;

		compose_thread(&payload, &thread);
		trace_write_chunk(&t, (struct chunk){ .type = GT_THREAD },
				  &payload);
		for (uint64_t i = 0; i < PAIRS; i++) {
			uint64_t random = hash_fixed(seed + i * RINGS + ring);
			struct trace_event event = {
				.stamp = 10 + 10 * i + ring, .kind = GT_ALLOC,
				.address = 4096 + 64 * (i * RINGS + ring),
				.size = random % 50,
				.context = GT_STOP_COUNT +
					(random >> 20) % CONTEXTS,
			};

			events[count++] = event;
			if (random >> 40 & 1)
				continue;
			event.kind = GT_FREE;
			event.stamp += 5;
			event.size = event.context = 0;
			events[count++] = event;
		}
		trace_write_events(&t, ring, 0, 0, events, count, 0);
	}
	trace_write_sync(&t, 10 * PAIRS + 100);
	trace_write_line(&t, GT_END, "reason", "exit");
	trace_write_file(&t, path);
	buffer_free(&t.bytes);
}

/* What one thread asks, and what it got. */
struct asker {
	pthread_t thread;
	const char *path, *keys;
	struct filter *filter;
	unsigned wants;
	uint64_t answer;	/* a hash of all rows */
	bool differed;
};

static uint64_t hash_of_rows(const struct query_rows *rows)
{
	uint64_t hash = rows->count;

	for (size_t i = 0; i < rows->count; i++) {
		const struct figures *figures = &rows->list[i].figures;

		hash = hash_fixed(hash ^ figures->live_bytes);
		hash = hash_fixed(hash ^ figures->count);
		hash = hash_fixed(hash ^ figures->own_peak_bytes);
		hash = hash_fixed(hash ^ figures->temporary);
	}
	return hash;
}

static uint64_t ask(const struct asker *asker)
{
	struct query query = { .order = MEASURE_LIVE, .all_figures = true };
	struct model_options options = { .wants = asker->wants,
					 .temporary = 1,
					 .filter = asker->filter };
	struct query_source source = { .trace = asker->path };
	struct block_keys keys = { 0 };
	struct buffer why = { 0 };
	struct query_rows rows;
	uint64_t answer;

	assert_true(query_parse_keys(&query, asker->keys, &why));
	query_block_keys(&query, &keys);
	source.model = model_new(&options, &keys);
	assert_int_equal(model_read(source.model, asker->path),
			 EXIT_COMPLETE);
	query_rows_collect(&query, &source, &rows);
	assert_true(rows.count > 1);
	answer = hash_of_rows(&rows);
	query_rows_free(&rows);
	model_free(source.model);
	return answer;
}

/* cmocka's checks are for the main thread: what is wrong is kept. */
static void *run(void *argument)
{
	struct asker *asker = argument;

	for (unsigned i = 0; i < TURNS; i++)
		asker->differed |= ask(asker) != asker->answer;
	return NULL;
}

static void at_once(void **state)
{
	char paths[2][32] = { "/tmp/gnomon-unit-XXXXXX",
			      "/tmp/gnomon-unit-XXXXXX" };
	struct filter *filter = filter_new(NULL);
	/* The first two have a trace in common, two a filter that takes a pass
	 * of its own. */
	struct asker askers[] = {
		{ .path = paths[0], .keys = "thread,size",
		  .filter = filter },
		{ .path = paths[0], .keys = "stack,thread",
		  .wants = MODEL_WANT_TIMELINE | MODEL_WANT_HISTOGRAMS |
			MODEL_WANT_CHAINS },
		{ .path = paths[1], .keys = "lifetime-class,thread",
		  .filter = filter },
	};
	const size_t count = sizeof(askers) / sizeof(askers[0]);

	(void)state;
	write_trace(paths[0], 1);
	write_trace(paths[1], 1 << 20);
	assert_int_equal(filter_take_word(filter, "fate", "freed"), 0);
	assert_int_equal(filter_take_word(filter, "size-min", "3"), 0);
	for (size_t i = 0; i < count; i++)
		askers[i].answer = ask(&askers[i]);
	for (size_t i = 0; i < count; i++)
		assert_int_equal(pthread_create(&askers[i].thread, NULL, run,
						&askers[i]), 0);
	for (size_t i = 0; i < count; i++)
		pthread_join(askers[i].thread, NULL);
	for (size_t i = 0; i < count; i++)
		assert_false(askers[i].differed);
	filter_free(filter);
	unlink(paths[0]);
	unlink(paths[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(at_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
