/* test_served.c: traces by name and by directory, and when they change. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "cli/base/grow.h"
#include "cli/serve/served.h"
#include "cli/trace/format/trace_format.h"

static char directory[] = "/tmp/gnomon-test.XXXXXX";

static char *write_file(const char *name, const char *bytes, size_t size)
{
	char *path = grow_format("%s/%s", directory, name);
	FILE *out = fopen(path, "w");

	assert_non_null(out);
	assert_int_equal(fwrite(bytes, 1, size, out), size);
	fclose(out);
	return path;
}

static void named(void **state)
{
	struct served_list list = { 0 }, again = { 0 };
	char *a = write_file("a", "nothing of ours", 15);
	char *b = write_file("b", "", 0);
	char *none = grow_format("%s/none", directory);
	uint64_t before;

	(void)state;
	assert_true(served_add(&list, b));
	assert_true(served_add(&list, a));
	assert_true(served_add(&list, a));
	assert_false(served_add(&list, none));
	assert_int_equal(list.count, 2);
	assert_string_equal(list.list[0]->path, a);
	assert_int_not_equal(list.list[0]->error, 0);
	assert_int_equal(strlen(list.list[0]->id), SERVED_ID - 1);
	assert_string_not_equal(list.list[0]->id, list.list[1]->id);
	assert_ptr_equal(served_find(&list, list.list[0]->id), list.list[0]);
	assert_null(served_find(&list, ""));
	assert_null(served_find(&list, "../../etc/passwd"));
	assert_null(served_newest(&list));
	assert_true(served_add(&again, a));
	assert_string_equal(again.list[0]->id, list.list[0]->id);
	before = list.list[0]->generation;
	assert_false(served_refresh(&list));
	free(write_file("a", "something else", 14));
	assert_true(served_refresh(&list));
	assert_int_not_equal(list.list[0]->generation, before);
	unlink(a);
	assert_true(served_refresh(&list));
	assert_int_equal(list.list[0]->generation, 0);
	served_free(&list);
	served_free(&again);
	unlink(b);
	free(a);
	free(b);
	free(none);
}

static void watched(void **state)
{
	struct served_list list = { 0 };
	struct buffer text = { 0 };
	char *other, *path;

	(void)state;
	assert_true(served_add(&list, directory));
	assert_int_equal(list.count, 0);
	other = write_file("no-trace", "nothing", 7);
	assert_false(served_refresh(&list));
	/* Known by its first bytes; that it is damaged is told. */
	path = write_file("new.trace", GT_MAGIC, GT_MAGIC_SIZE);
	served_refresh(&list);
	served_json(&list, &text);
	assert_non_null(strstr(text.data, "\"traces\""));
	assert_null(strstr(text.data, "no-trace"));
	served_free(&list);
	buffer_free(&text);
	unlink(other);
	unlink(path);
	free(other);
	free(path);
}

static int make(void **state)
{
	(void)state;
	return mkdtemp(directory) == NULL;
}

static int end(void **state)
{
	(void)state;
	return rmdir(directory);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(named),
		cmocka_unit_test(watched),
	};

	return cmocka_run_group_tests(tests, make, end);
}
