/*
 * test_trace_args_parts.c: of a recording that is kept in parts, a directory
 * means the last one.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/command/trace_args.h"
#include "tests/unit/trace_write.h"

static char directory[32];

static void put(const char *name, const char *pid, const char *begin,
		const char *part)
{
	struct buffer info = { 0 };
	struct trace_write t;
	char from[64], to[64];

	trace_write_begin(&t);
	compose_line(&info, "pid", pid);
	compose_line(&info, "starttime", "5");
	compose_line(&info, "start_realtime_ns", begin);
	if (part != NULL)
		compose_line(&info, "part", part);
	trace_write_chunk(&t, (struct chunk){ .type = GT_INFO }, &info);
	snprintf(from, sizeof(from), "%s/XXXXXX", directory);
	trace_write_file(&t, from);
	snprintf(to, sizeof(to), "%s/%s.trace", directory, name);
	assert_int_equal(rename(from, to), 0);
	buffer_free(&t.bytes);
}

static void take_away(const char *name)
{
	char path[64];

	snprintf(path, sizeof(path), "%s/%s.trace", directory, name);
	unlink(path);
}

static bool has(const struct trace_args *args, const char *name)
{
	bool found = false;

	for (size_t i = 0; i < args->trace_count; i++)
		found |= strstr(args->traces[i], name) != NULL;
	return found;
}

static void base_name_of_each(void **state)
{
	static const char *const names[] = { "a1", "a2", "a10", "b3", "c",
					     "d2" };
	char *operands[] = { directory, NULL };
	struct trace_args args;

	(void)state;
	strcpy(directory, "/tmp/gnomon-unit-XXXXXX");
	assert_non_null(mkdtemp(directory));
	put("a1", "7", "1000", "1");
	put("a2", "7", "1000", "2");
	put("a10", "7", "1000", "10");
	put("b3", "8", "1000", "3");
	put("c", "7", "1000", NULL);
	put("d2", "7", "2000", "2");	/* after an exec */
	trace_args_init(&args);
	assert_true(trace_args_find(&args, 1, operands));
	assert_int_equal(args.trace_count, 4);
	assert_true(has(&args, "a10.trace"));
	assert_true(has(&args, "b3.trace"));
	assert_true(has(&args, "/c.trace"));
	assert_true(has(&args, "d2.trace"));
	trace_args_free(&args);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		take_away(names[i]);
	assert_int_equal(rmdir(directory), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(base_name_of_each),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
