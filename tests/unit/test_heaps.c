/*
 * test_heaps.c: numbers and names of heaps: the same for the same name, also
 * for threads that come at once, and told to a trace once.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

/* The table is made anew for each try. */
#include "preload/heaps.c"
#include "tests/unit/stepped.h"

#define THREADS 4
#define NAMES 200

static uint32_t number[THREADS][NAMES];

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
	assert_int_equal(heaps_create("second"), 2);
	assert_int_equal(heaps_create("first"), 1);
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
	static struct heaps_told told;
	static char seen[GL_HEAPS_MAX][HEAPS_NAME_MAX + 1];
	pthread_t thread[THREADS];
	const char *name;
	uint32_t heap;
	int i, k;

	(void)state;
	for (i = 0; i < THREADS; i++)
		pthread_create(&thread[i], NULL, create, number[i]);
	for (i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	while ((heap = heaps_next(&told, &name)) != 0) {
		assert_true(heaps_valid(heap));
		assert_string_equal(seen[heap], "");	/* once each */
		strcpy(seen[heap], name);
	}
	assert_string_equal(seen[2], "second");
	for (i = 0; i < THREADS; i++)
		for (k = 0; k < NAMES; k++) {
			char wanted[16];

			snprintf(wanted, sizeof(wanted), "heap %d", k);
			assert_string_equal(seen[number[i][k]], wanted);
		}
	assert_int_equal(heaps_next(&told, &name), 0);
	heap = heaps_create("late");
	assert_int_equal(heaps_next(&told, &name), heap);
	assert_string_equal(name, "late");
	assert_int_equal(heaps_next(&told, &name), 0);
}

/* ---- one name, twice at once ---- */

static uint32_t by_action, by_handler;

static void no_heaps(void)
{
	heaps_table = NULL;
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
	struct heaps_told told = { 0 };
	const char *name;

	return by_action == 2 && by_handler == 2 &&
	       heaps_next(&told, &name) == 1 && heaps_next(&told, &name) == 2 &&
	       strcmp(name, "one") == 0 && heaps_next(&told, &name) == 0;
}

/* A handler, or a thread, that creates it in the middle of that. */
static void one_name_is_one_heap(void **state)
{
	const struct stepped each = { no_heaps, create_one, create_the_same,
				      is_the_same, 1 };
	struct heaps_table *table = heaps_table;
	unsigned at;

	(void)state;
	if (!stepped_each(&each, &at))
		fail_msg("instruction %u", at);
	print_message("%u instructions\n", at);
	heaps_table = table;
}

static void there_is_an_end(void **state)
{
	char name[24];
	uint32_t most = 0, heap;
	int i;

	(void)state;
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
		cmocka_unit_test(one_name_is_one_heap),
		cmocka_unit_test(there_is_an_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
