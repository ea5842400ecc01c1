/* test_served.c: traces by name and by directory, and when they change. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
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

/* One that is being written is looked at again after a while, or when someone
 * wants what happened until now. */
static void growing(void **state)
{
	struct served_list list = { 0 };
	char *path = write_file("growing", "a", 1);
	struct served *trace;
	int fd = open(path, O_RDWR);

	(void)state;
	assert_int_equal(flock(fd, LOCK_EX), 0);
	assert_true(served_add(&list, path));
	trace = list.list[0];
	trace->live = true;
	trace->next_ms = UINT64_MAX;
	assert_int_equal(write(fd, "more", 4), 4);
	assert_false(served_poll(trace));
	assert_true(served_poll_now(trace));
	close(fd);
	served_free(&list);
	unlink(path);
	free(path);
}

static void no_file(void **state)
{
	struct served_list list = { 0 };
	char *path = grow_format("%s/pipe", directory);

	(void)state;
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_true(served_add(&list, path));
	assert_int_equal(list.list[0]->error, EINVAL);
	assert_int_equal(list.list[0]->generation, 0);
	served_free(&list);
	unlink(path);
	free(path);
}

static size_t count_there(const struct served_list *list)
{
	size_t count = 0;

	for (size_t i = 0; i < list->count; i++)
		count += list->list[i]->error != ENOENT;
	return count;
}

static void make_traces(size_t begin, size_t end)
{
	for (size_t i = begin; i < end; i++) {
		char *name = grow_format("%zu.trace", i);

		free(write_file(name, GT_MAGIC, GT_MAGIC_SIZE));
		free(name);
	}
}

static void remove_traces(size_t begin, size_t end)
{
	for (size_t i = begin; i < end; i++) {
		char *path = grow_format("%s/%zu.trace", directory, i);

		unlink(path);
		free(path);
	}
}

/* Files that are gone take no place of new ones, but for those in use. */
static void come_and_gone(void **state)
{
	struct served_list list = { 0 };
	struct buffer text = { 0 };
	struct served *used;

	(void)state;
	make_traces(0, SERVED_MAX + 5);
	assert_true(served_add(&list, directory));
	assert_int_equal(list.count, SERVED_MAX);
	served_json(&list, &text);
	assert_non_null(strstr(text.data, "\"truncated\": true"));
	used = list.list[7];
	used->users++;
	remove_traces(0, SERVED_MAX + 5);
	make_traces(SERVED_MAX + 5, SERVED_MAX + 8);
	assert_true(served_refresh(&list));
	assert_int_equal(count_there(&list), 3);
	assert_ptr_equal(served_find(&list, used->id), used);
	buffer_clear(&text);
	served_json(&list, &text);
	assert_non_null(strstr(text.data, "\"truncated\": false"));
	served_free(&list);
	buffer_free(&text);
	remove_traces(SERVED_MAX + 5, SERVED_MAX + 8);
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
		cmocka_unit_test(growing),
		cmocka_unit_test(no_file),
		cmocka_unit_test(come_and_gone),
	};

	return cmocka_run_group_tests(tests, make, end);
}
