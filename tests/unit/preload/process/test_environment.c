/*
 * test_environment.c: what functions that take no environment are shown, where
 * several of them overlap.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "preload/process/environment.h"
#include "preload/ring/area.h"
#include "preload/ring/producer.h"
#include "tests/unit/stepped.h"

#define STRIDE 61

static char *at_start[] = { "A=1", "LD_PRELOAD=libgnomon.so:x.so",
			    "GNOMON_OUTPUT=o", NULL };
static char *programs[] = { "A=1", "LD_PRELOAD=x.so", NULL };
static int by_action, by_handler;
static bool seen;

/* As a program that is started now sees it. */
static bool is_shown(void)
{
	const char *preload = getenv("LD_PRELOAD");

	return getenv("GNOMON_OUTPUT") && preload &&
	       strcmp(preload, "libgnomon.so:x.so") == 0;
}

static void *users;	/* of copies: the next place in the area */

static void start(void)
{
	memset(users, 0, BASE_LINE);
	environ = programs;
	seen = true;
	by_action = by_handler = -1;
}

static void show(void)
{
	by_action = environment_show();
}

static void show_and_conceal(void)
{
	int copy = environment_show();

	seen = is_shown();
	environment_conceal(copy);
}

static bool shown_until_the_end(void)
{
	bool right = seen && is_shown();

	environment_conceal(by_action);
	return right && environ == programs && !is_shown();
}

static void show_first(void)
{
	start();
	show();
}

static void conceal(void)
{
	environment_conceal(by_action);
}

static void show_too(void)
{
	by_handler = environment_show();
	seen = is_shown();
}

static bool shown_still(void)
{
	bool right = seen && is_shown();

	environment_conceal(by_handler);
	return right && environ == programs && !is_shown();
}

static void step_through(const struct stepped *each)
{
	unsigned at;
	bool right;

	right = stepped_each(each, &at);
	environ = programs;
	if (!right)
		fail_msg("instruction %u", at);
	print_message("%u instructions\n", at);
}

static void shown_and_concealed(void **state)
{
	int first, second;

	(void)state;
	start();
	first = environment_show();
	assert_true(is_shown());
	second = environment_show();
	environment_conceal(first);
	assert_true(is_shown());
	environment_conceal(second);
	assert_ptr_equal(environ, programs);
	environment_conceal(-1);
}

static void what_the_program_changes_stays(void **state)
{
	int copy;

	(void)state;
	start();
	copy = environment_show();
	setenv("B", "2", 1);
	assert_true(is_shown());
	environment_conceal(copy);
	assert_false(is_shown());
	assert_string_equal(getenv("B"), "2");
	assert_string_equal(getenv("LD_PRELOAD"), "x.so");
	start();
	copy = environment_show();
	putenv("A=3");
	environment_conceal(copy);
	assert_false(is_shown());
	assert_string_equal(getenv("A"), "3");
	start();
	show_and_conceal();
	assert_true(seen);
}

static void two_threads_begin_at_once(void **state)
{
	const struct stepped each = { start, show, show_and_conceal,
				      shown_until_the_end, STRIDE };

	(void)state;
	step_through(&each);
}

static void thread_begins_while_another_ends(void **state)
{
	const struct stepped each = { show_first, conceal, show_too,
				      shown_still, STRIDE };

	(void)state;
	step_through(&each);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(shown_and_concealed),
		cmocka_unit_test(what_the_program_changes_stays),
		cmocka_unit_test(two_threads_begin_at_once),
		cmocka_unit_test(thread_begins_while_another_ends),
	};

	if (area_map(UINT64_C(16) << 20))
		return 77;
	/* the runner asks for it by the environment, which is another here */
	cmocka_set_message_output(CM_OUTPUT_TAP);
	users = area_place(0);
	environment_alloc();
	options_default(&producer_options);
	producer_options.number[OPTION_FOLLOW] = OPTION_FOLLOW_ALL;
	environment_init(at_start, "libgnomon.so");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
