/*
 * test_heaps.c: numbers and names of heaps: the same for the same name, also
 * for threads that come at once, and known to the recorder before they are
 * used.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

/* The table is emptied for each try. */
#include "preload/api/heaps.c"
#include "preload/ring/area.h"
#include "tests/unit/stepped.h"

#define THREADS 4
#define NAMES 200

static struct gl_shared shared;
static uint32_t number[THREADS][NAMES];

static void forget(void)
{
	heaps_places = 0;
	memset(heaps_place, 0, sizeof(heaps_place));
	memset(heaps_name, 0, sizeof(heaps_name));
	memset(&shared, 0, sizeof(shared));
	shared.heap_limit = GL_HEAPS_MAX;
}

static const char *told(uint32_t heap)
{
	return heap <= shared.heaps_named ? shared.heap_name[heap] : "";
}

static void *create(void *arg)
{
	uint32_t *mine = arg;
	char name[16];
	int i;

	for (i = 0; i < NAMES; i++) {
		snprintf(name, sizeof(name), "heap %d", i);
		mine[i] = heaps_create(name);
	}
	return NULL;
}

static void names_have_numbers(void **state)
{
	char name[100];
	uint32_t long_one;

	(void)state;
	assert_int_equal(heaps_create("first"), 1);
	assert_string_equal(told(1), "first");
	assert_int_equal(heaps_create("second"), 2);
	assert_string_equal(told(2), "second");
	assert_int_equal(heaps_create("first"), 1);
	assert_int_equal(shared.heaps_named, 2);
	memset(name, 'x', sizeof(name));
	name[99] = '\0';
	long_one = heaps_create(name);
	assert_int_equal(long_one, 3);
	/* cut, they are the same */
	name[HEAPS_NAME_MAX] = '\0';
	assert_int_equal(heaps_create(name), 3);
	assert_true(heaps_valid(1));
	assert_false(heaps_valid(0));
	assert_false(heaps_valid(GL_HEAPS_MAX));
}

/* Whatever they got, the name behind it is what they asked for. */
static void threads_at_once(void **state)
{
	pthread_t thread[THREADS];
	uint32_t heap, last;
	int i, k;

	(void)state;
	for (i = 0; i < THREADS; i++)
		pthread_create(&thread[i], NULL, create, number[i]);
	for (i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	last = shared.heaps_named;
	assert_in_range(last, NAMES, GL_HEAPS_MAX - 1);
	assert_string_equal(told(2), "second");
	for (i = 0; i < THREADS; i++)
		for (k = 0; k < NAMES; k++) {
			char wanted[16];

			snprintf(wanted, sizeof(wanted), "heap %d", k);
			assert_string_equal(told(number[i][k]), wanted);
		}
	heap = heaps_create("late");
	assert_int_equal(heap, last + 1);
	assert_string_equal(told(heap), "late");
}

/* ---- when there is a recorder ---- */

static void early_heaps_are_reported_at_the_start(void **state)
{
	(void)state;
	forget();
	producer->shared = NULL;
	assert_int_equal(heaps_create("early"), 1);
	assert_int_equal(heaps_create("too"), 2);
	producer->shared = &shared;
	heaps_report_all();
	assert_int_equal(shared.heaps_named, 2);
	assert_string_equal(told(1), "early");
	assert_string_equal(told(2), "too");
}

/* They have numbers. What is told is told in order. */
static void refused_names_stay_empty(void **state)
{
	(void)state;
	forget();
	shared.heap_limit = 2;
	shared.heaps_refused = 1;
	assert_int_equal(heaps_create("one"), 1);
	assert_int_equal(heaps_create("two"), 2);
	assert_int_equal(heaps_create("three"), 3);
	assert_int_equal(shared.heaps_named, 1);
	assert_int_equal(shared.heaps_wanted, 4);
	assert_string_equal(shared.heap_name[2], "");
	shared.heap_limit = 4;
	assert_int_equal(heaps_create("two"), 2);
	assert_int_equal(shared.heaps_named, 2);
	assert_int_equal(heaps_create("three"), 3);
	assert_string_equal(told(3), "three");
	shared.heap_limit = 0;
	assert_int_equal(heaps_create("four"), 4);
	assert_int_equal(shared.heaps_named, 3);
}

/* ---- one name, twice at once ---- */

static uint32_t by_action, by_handler;

static void no_heaps(void)
{
	heaps_places = 0;
	memset(heaps_place, 0, 4 * sizeof(*heaps_place));
	memset(heaps_name, 0, 4 * sizeof(*heaps_name));
	memset(shared.heap_name, 0, 3 * GL_HEAP_NAME);
	shared.heaps_named = 0;
	assert_int_equal(heaps_create("another"), 1);
	by_handler = 0;
}

static void create_one(void)
{
	by_action = heaps_create("one");
}

static void create_the_same(void)
{
	by_handler = heaps_create("one");
}

static bool is_the_same(void)
{
	return by_action == 2 && by_handler == 2 && shared.heaps_named == 2 &&
	       strcmp(told(2), "one") == 0;
}

/* A handler, or a thread, that creates it in the middle of that. */
static void one_name_is_one_heap(void **state)
{
	const struct stepped each = { no_heaps, create_one, create_the_same,
				      is_the_same, 1 };
	unsigned at;

	(void)state;
	forget();
	if (!stepped_each(&each, &at))
		fail_msg("instruction %u", at);
	print_message("%u instructions\n", at);
}

static void number_of_heaps_is_limited(void **state)
{
	char name[24];
	uint32_t most = 0, heap;
	int i;

	(void)state;
	forget();
	heaps_create("first");
	heaps_create("second");
	for (i = 0; i < GL_HEAPS_MAX; i++) {
		snprintf(name, sizeof(name), "many %d", i);
		heap = heaps_create(name);
		most = heap > most ? heap : most;
	}
	assert_int_equal(most, GL_HEAPS_MAX - 1);
	assert_int_equal(heaps_create("one too many"), 0);
	assert_int_equal(heaps_create("second"), 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_have_numbers),
		cmocka_unit_test(threads_at_once),
		cmocka_unit_test(early_heaps_are_reported_at_the_start),
		cmocka_unit_test(refused_names_stay_empty),
		cmocka_unit_test(one_name_is_one_heap),
		cmocka_unit_test(number_of_heaps_is_limited),
	};

	if (area_map(UINT64_C(16) << 20))
		return 77;
	producer->shared = &shared;
	shared.heap_limit = GL_HEAPS_MAX;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
