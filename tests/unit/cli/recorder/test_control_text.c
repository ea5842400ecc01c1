/* test_control_text.c: requests and answers of the control socket. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <errno.h>
#include <string.h>

#include "cli/recorder/control_text.h"

static bool take(const char *line, struct control_request *request)
{
	return control_text_read(line, strlen(line), request);
}

static void requests_are_words_with_names(void **state)
{
	struct control_request request;

	(void)state;
	assert_true(take("start", &request));
	assert_int_equal(request.what, CONTROL_START);
	assert_string_equal(request.name, "");
	assert_true(take("snapshot", &request));
	assert_string_equal(request.name, "");
	assert_true(take("snapshot after the load", &request));
	assert_int_equal(request.what, CONTROL_SNAPSHOT);
	assert_string_equal(request.name, "after the load");
	assert_true(take("marker \xc3\xa4", &request));
	assert_int_equal(request.what, CONTROL_MARKER);
	assert_string_equal(request.name, "\xc3\xa4");
}

static void others_are_refused(void **state)
{
	static const char *const wrong[] = {
		"", " ", "star", "starts", "START", "start ", "start now",
		" start", "marker", "marker ", "snapshot ", "snapshot  a",
		"snapshot a ", "snapshot 12", "snapshot a\tb", "clear\r",
		"snapshot a\x7f", "snapshot a\nstop", "marker a\nstop",
	};
	struct control_request request;
	unsigned i;

	(void)state;
	for (i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		assert_false(take(wrong[i], &request));
		assert_int_equal(request.err, -EINVAL);
		assert_true(request.message[0]);
		assert_string_equal(request.name, "");
	}
	assert_false(control_text_read("start\0", 6, &request));
}

static void names_have_a_longest(void **state)
{
	char line[9 + GT_NAME_MAX + 1] = "snapshot ";
	struct control_request request;

	(void)state;
	memset(line + 9, 'n', GT_NAME_MAX);
	assert_true(control_text_read(line, 9 + GT_NAME_MAX - 1, &request));
	assert_int_equal(strlen(request.name), GT_NAME_MAX - 1);
	assert_false(control_text_read(line, 9 + GT_NAME_MAX, &request));
	assert_non_null(strstr(request.message, "at most 255 bytes"));
}

static void answers_are_fields_of_a_line(void **state)
{
	struct control_request request = { .name = "a", .message = "b" };
	char line[CONTROL_ANSWER_MAX];
	size_t n;

	(void)state;
	n = control_text_answer(line, &request, true, "/t");
	assert_int_equal(n, strlen("ok\t1\ta\t/t\tb\n"));
	assert_memory_equal(line, "ok\t1\ta\t/t\tb\n", n);
	request.err = -EALREADY;
	n = control_text_answer(line, &request, false, "/t");
	assert_memory_equal(line, "no\t0\ta\t/t\tb\n", n);
	request.err = -EPERM;
	n = control_text_answer(line, &request, false, "/t\n/\tu");
	assert_memory_equal(line, "error\t0\ta\t/t?/?u\tb\n", n);
}

static void the_longest_answer_ends_with_its_line(void **state)
{
	static char path[GT_PATH_MAX], line[CONTROL_ANSWER_MAX];
	struct control_request request = { 0 };
	size_t n;

	(void)state;
	memset(path, 'p', sizeof(path) - 1);
	memset(request.name, 'n', sizeof(request.name) - 1);
	memset(request.message, 'm', sizeof(request.message) - 1);
	n = control_text_answer(line, &request, true, path);
	assert_true(n < sizeof(line));
	assert_int_equal(line[n - 1], '\n');
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(requests_are_words_with_names),
		cmocka_unit_test(others_are_refused),
		cmocka_unit_test(names_have_a_longest),
		cmocka_unit_test(answers_are_fields_of_a_line),
		cmocka_unit_test(the_longest_answer_ends_with_its_line),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
