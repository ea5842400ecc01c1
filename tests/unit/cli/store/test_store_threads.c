// LINK: random_rows.c
/*
 * test_store_threads.c: several scans of one store at once, each with workers of
 * its own; packers; cancelling. For ThreadSanitizer (make check-tsan).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "cli/store/store_sweep.h"
#include "tests/unit/cli/store/random_rows.h"

#define THREADS 3
#define NODES 3600
#define STEPS 4
#define ALLOCS 200000

struct answers {
	uint64_t rows, bytes;
	struct store_sums sums[NODES];
	struct store_peak whole, peaks[NODES];
	struct store_step steps[STEPS];
};

static struct store *store;

static void *ask(void *argument)
{
	struct answers *a = argument;
	const struct store_grouping nodes = {
		.groups = NODES, .column = STORE_NODE,
	};
	const struct store_group_options options = {
		.sums = STORE_SUM_FREES | STORE_SUM_LIFETIME |
			STORE_SUM_FIRST_LAST,
	};
	const struct store_scan all = { 0 };
	uint64_t first, last, begins[STEPS];
	struct store_axis axis = { .begins = begins, .steps = STEPS };

	assert_true(store_bounds(store, STORE_BEGIN, &first, &last));
	for (uint64_t i = 0; i < STEPS; i++)
		begins[i] = first + (last - first) * i / STEPS;
	assert_int_equal(store_scan_count(store, &all, &a->rows, &a->bytes),
			 0);
	assert_int_equal(store_group(store, &all, &nodes, &options, a->sums),
			 0);
	assert_int_equal(store_peaks(store, &all, &nodes, NULL, &a->whole,
				     a->peaks), 0);
	assert_int_equal(store_timeline(store, &all, NULL, NULL, &axis,
					a->steps), 0);
	return NULL;
}

static void several_ask_at_once(void **state)
{
	struct random_rows rows = random_rows_make(21, ALLOCS);
	int fd = random_rows_write(&rows, 3);
	struct answers *answers = calloc(THREADS, sizeof(*answers));
	pthread_t threads[THREADS];

	(void)state;
	store = random_store(fd, NULL);
	for (size_t i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, ask,
						&answers[i]), 0);
	for (size_t i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	assert_int_equal(answers[0].rows, rows.count);
	for (size_t i = 1; i < THREADS; i++)
		assert_memory_equal(&answers[i], &answers[0],
				    sizeof(*answers));
	store_close(store);
	close(fd);
	free(answers);
	random_rows_free(&rows);
}

static void *cancel(void *argument)
{
	atomic_store((atomic_bool *)argument, true);
	return NULL;
}

/* Until it is told to stop. */
static void any_thread_cancels(void **state)
{
	struct random_rows rows = random_rows_make(22, ALLOCS);
	atomic_bool stop = false;
	const struct store_scan scan = { .cancel = &stop };
	struct store_peak whole;
	pthread_t thread;
	int error;

	(void)state;
	store = random_rows_store(&rows);
	assert_int_equal(pthread_create(&thread, NULL, cancel, &stop), 0);
	do
		error = store_peaks(store, &scan, NULL, NULL, &whole, NULL);
	while (error == 0);
	assert_int_equal(error, -ECANCELED);
	pthread_join(thread, NULL);
	store_close(store);
	random_rows_free(&rows);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(several_ask_at_once),
		cmocka_unit_test(any_thread_cancels),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
