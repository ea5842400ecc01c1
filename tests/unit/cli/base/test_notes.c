/* test_notes.c: notes are kept in order, or heard at once, from any thread. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <pthread.h>
#include <string.h>

#include "cli/base/notes.h"

#define THREADS 4
#define EACH 500

static void kept(void **state)
{
	struct notes notes = NOTES_INIT;
	char longer[20000];

	(void)state;
	notes_error(&notes, "%s: %d", "a", 1);
	notes_hint(&notes, "b");
	memset(longer, 'x', sizeof(longer));
	notes_hint(&notes, "%.*s", (int)sizeof(longer), longer);
	assert_int_equal(notes.count, 3);
	assert_string_equal(notes.list[0].text, "a: 1");
	assert_true(notes.list[0].error);
	assert_string_equal(notes.list[1].text, "b");
	assert_false(notes.list[1].error);
	/* it is cut */
	assert_in_range(strlen(notes.list[2].text), 4096, sizeof(longer) - 1);
	notes_clear(&notes);
	assert_int_equal(notes.count, 0);
	notes_hint(&notes, "c");
	assert_int_equal(notes.count, 1);
	notes_free(&notes);
	assert_int_equal(notes.count, 0);
}

static void of_nobody(void **state)
{
	(void)state;
	notes_error(NULL, "a");
	notes_hint(NULL, "%d", 1);
}

static unsigned heard, errors;

static void hear(const struct note *note)
{
	heard++;
	errors += note->error;
	assert_string_equal(note->text, "a 1");
}

static void *add(void *notes)
{
	for (int i = 0; i < EACH; i++)
		if (i % 2)
			notes_error(notes, "a %d", 1);
		else
			notes_hint(notes, "a %d", 1);
	return NULL;
}

static void add_in_threads(struct notes *notes)
{
	pthread_t thread[THREADS];

	for (int i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&thread[i], NULL, add, notes),
				 0);
	for (int i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
}

static void from_any_thread(void **state)
{
	struct notes notes = NOTES_INIT;

	(void)state;
	add_in_threads(&notes);
	assert_int_equal(notes.count, THREADS * EACH);
	notes_clear(&notes);
	notes.heard = hear;
	add_in_threads(&notes);
	assert_int_equal(notes.count, 0);
	assert_int_equal(heard, THREADS * EACH);
	assert_int_equal(errors, THREADS * EACH / 2);
	notes_free(&notes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(kept),
		cmocka_unit_test(of_nobody),
		cmocka_unit_test(from_any_thread),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
