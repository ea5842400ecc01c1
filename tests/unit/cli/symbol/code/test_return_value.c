// FLAGS: -fno-stack-protector
/*
 * test_return_value.c: what functions of this program return, told from its
 * file.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/symbol/code/return_value.h"

/* What is read is their machine code: no counters of `make coverage` in it. */
#define PLAIN __attribute__((no_profile_instrument_function))
PLAIN const char *returned_constant(void);
PLAIN const char *returned_computed(void);
PLAIN const char *returned_writable(void);
PLAIN const char *returned_pointer(void);
PLAIN const char *returned_called(void);
PLAIN const char *returned_nothing(void);
PLAIN const char *returned_number(void);
PLAIN const char *returned_empty(void);
PLAIN const char *returned_framed(void);

const char *returned_constant(void)
{
	return "leak:one\nleak:two\n";
}

const char *returned_computed(void)
{
	return getenv("HOME") ? "leak:home" : "leak:none";
}

extern char returned_data[];
char returned_data[] = "leak:may change";
const char *returned_writable(void)
{
	return returned_data;
}

static const char *volatile pointer = "leak:may point elsewhere";
const char *returned_pointer(void)
{
	return pointer;
}

const char *returned_called(void)
{
	return strchr(getenv("PATH") ? "a" : "b", 'a');
}

const char *returned_nothing(void)
{
	return NULL;
}

/* No address here, but a part of the file all the same. */
const char *returned_number(void)
{
	return (const char *)1;
}

const char *returned_empty(void)
{
	return "";
}

__attribute__((optimize("O0"))) const char *returned_framed(void)
{
	return "leak:with a frame";
}

static void look(const char *function, enum returned wanted,
		 const char *wanted_text)
{
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	char *text = NULL;

	assert_true(fd >= 0);
	if (return_value_text(fd, function, &text) != wanted)
		fail_msg("%s: not %d", function, (int)wanted);
	if (wanted == RETURNED_TEXT)
		assert_string_equal(text, wanted_text);
	free(text);
	close(fd);
}

static void test_functions(void **state)
{
	(void)state;
	look("returned_constant", RETURNED_TEXT, "leak:one\nleak:two\n");
	look("returned_framed", RETURNED_TEXT, "leak:with a frame");
	look("returned_empty", RETURNED_TEXT, "");
	look("returned_computed", RETURNED_UNKNOWN, NULL);
	look("returned_writable", RETURNED_UNKNOWN, NULL);
	look("returned_pointer", RETURNED_UNKNOWN, NULL);
	look("returned_called", RETURNED_UNKNOWN, NULL);
	look("returned_nothing", RETURNED_TEXT, "");
	look("returned_number", RETURNED_UNKNOWN, NULL);
	look("returned_absent", RETURNED_NO_FUNCTION, NULL);
	/* what it says is the truth */
	assert_string_equal(returned_constant(), "leak:one\nleak:two\n");
	assert_string_equal(returned_framed(), "leak:with a frame");
}

static void test_no_elf(void **state)
{
	int fd = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
	char *text;

	(void)state;
	assert_int_equal(return_value_text(fd, "main", &text),
			 RETURNED_NO_FUNCTION);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_functions),
		cmocka_unit_test(test_no_elf),
	};

	/* So that the compiler keeps them. */
	if (returned_computed() == returned_writable() ||
	    returned_pointer() == returned_nothing() ||
	    returned_called() == returned_empty() ||
	    returned_number() == returned_empty())
		abort();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
