/* test_signal_list.c: the values of --signal. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <signal.h>
#include <string.h>

#include "preload/base/signal_list.h"

static void signals_have_names(void **state)
{
	struct signal_action_wanted list[SIGNAL_LIST_MAX];

	(void)state;
	assert_int_equal(signal_list_read("", list), 0);
	assert_int_equal(signal_list_read("USR1=toggle,SIGUSR2=clear,"
					  "RTMIN+3=snapshot,RTMAX-2=report,"
					  "RTMIN=clear,INT=clear", list), 6);
	assert_int_equal(list[0].number, SIGUSR1);
	assert_int_equal(list[0].what, CONTROL_TOGGLE);
	assert_int_equal(list[1].number, SIGUSR2);
	assert_int_equal(list[1].what, CONTROL_CLEAR);
	assert_int_equal(list[2].number, SIGRTMIN + 3);
	assert_int_equal(list[2].what, CONTROL_SNAPSHOT);
	assert_int_equal(list[3].number, SIGRTMAX - 2);
	assert_int_equal(list[3].what, CONTROL_REPORT);
	assert_int_equal(list[4].number, SIGRTMIN);
	assert_int_equal(list[5].number, SIGINT);
}

static void malformed_lists_are_refused(void **state)
{
	static const char *const wrong[] = {
		"USR1", "USR1=", "=toggle", "USR1=on", "USR1=toggles",
		"USR3=toggle", "usr1=toggle", "KILL=toggle", "STOP=toggle",
		"SEGV=toggle", "CHLD=toggle", "10=toggle", "USR1 =toggle",
		"USR1= toggle", "USR1+1=toggle", "RTMIN-1=toggle",
		"RTMIN+31=toggle", "RTMIN+=toggle", "RTMAX+1=toggle",
		"RTMIN+99999999999=toggle", "USR1=toggle;USR2=clear",
		",USR1=toggle", "USR1=toggle,,USR2=clear", "SIG=toggle",
		"SIGSIGUSR1=toggle", "USR1=toggle USR2=clear",
	};
	struct signal_action_wanted list[SIGNAL_LIST_MAX];
	unsigned i;

	(void)state;
	for (i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
		assert_int_equal(signal_list_read(wrong[i], list), -1);
}

static void length_is_limited(void **state)
{
	struct signal_action_wanted list[SIGNAL_LIST_MAX];
	char text[(SIGNAL_LIST_MAX + 1) * 12 + 1] = "";
	unsigned i;

	(void)state;
	for (i = 0; i < SIGNAL_LIST_MAX; i++)
		strcat(text, i ? ",USR1=toggle" : "USR1=toggle");
	assert_int_equal(signal_list_read(text, list), SIGNAL_LIST_MAX);
	strcat(text, ",USR1=toggle");
	assert_int_equal(signal_list_read(text, list), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(signals_have_names),
		cmocka_unit_test(malformed_lists_are_refused),
		cmocka_unit_test(length_is_limited),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
