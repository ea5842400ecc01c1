/* test_proc_lines.c: long files of /proc by lines, and lines of maps. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/recorder/base/proc_lines.h"

static char path[] = "/tmp/gnomon-test.XXXXXX";

static void write_file(const char *text, size_t n)
{
	int fd = open(path, O_WRONLY | O_TRUNC);

	assert_int_equal(write(fd, text, n), n);
	close(fd);
}

static void lines_of_any_buffer(void **state)
{
	static const char text[] = "one\n\nthree and more\nlast without";
	static const char *const want[] = { "one", "", "three and more",
					    "last without" };

	(void)state;
	write_file(text, sizeof(text) - 1);
	for (size_t size = 16; size < 64; size++) {
		struct proc_lines lines;
		char buffer[64];

		assert_int_equal(proc_lines_open(&lines, path, buffer, size),
				 0);
		for (unsigned i = 0; i < 4; i++)
			assert_string_equal(proc_lines_next(&lines), want[i]);
		assert_null(proc_lines_next(&lines));
		assert_null(proc_lines_next(&lines));
		assert_int_equal(lines.cut, 0);
		proc_lines_close(&lines);
	}
}

static void long_lines_are_cut(void **state)
{
	static const char text[] = "short\n0123456789abcdefghijklmnop\nnext\n";
	struct proc_lines lines;
	char buffer[12];

	(void)state;
	write_file(text, sizeof(text) - 1);
	assert_int_equal(proc_lines_open(&lines, path, buffer,
					 sizeof(buffer)), 0);
	assert_string_equal(proc_lines_next(&lines), "short");
	assert_string_equal(proc_lines_next(&lines), "0123456789a");
	assert_string_equal(proc_lines_next(&lines), "next");
	assert_null(proc_lines_next(&lines));
	assert_int_equal(lines.cut, 1);
	proc_lines_close(&lines);
}

static void no_file_is_no_lines(void **state)
{
	struct proc_lines lines;
	char buffer[64];

	(void)state;
	assert_int_equal(proc_lines_open(&lines, "/no/such/file", buffer,
					 sizeof(buffer)), -2);
	assert_null(proc_lines_next(&lines));
	proc_lines_close(&lines);
}

static void own_maps(void **state)
{
	char *buffer = malloc(PROC_LINES_BUFFER), *line;
	struct proc_lines_mapping mapping;
	struct proc_lines lines;
	uint64_t end = 0;
	bool here = false;

	(void)state;
	assert_int_equal(proc_lines_open(&lines, "/proc/self/maps", buffer,
					 PROC_LINES_BUFFER), 0);
	while ((line = proc_lines_next(&lines))) {
		assert_true(proc_lines_mapping(line, &mapping));
		assert_true(mapping.start >= end);
		end = mapping.end;
		if ((uintptr_t)own_maps - mapping.start >=
		    mapping.end - mapping.start)
			continue;
		here = true;
		assert_int_equal(mapping.flags,
				 PROC_LINES_READ | PROC_LINES_EXECUTE);
		assert_non_null(strstr(mapping.path, "test_proc_lines"));
		assert_true(mapping.inode > 0);
	}
	assert_true(here);
	proc_lines_close(&lines);
	free(buffer);
}

static void lines_of_maps(void **state)
{
	static const char *const wrong[] = {
		"", "Rss: 12 kB", "1000", "1000-", "1000-2000",
		"2000-1000 r--p 0 0:0 0", "1000-1000 r--p 0 0:0 0",
		"1000-2000 rwxp", "1000-2000 rw?p 0 0:0 0",
		"1000-2000 rwxq 0 0:0 0", "1000-2000 rwxp 0 0 0",
		"-2000 rwxp 0 0:0 0", "1000-2000 rwx", "1000-2000 rwxp 0",
		"1000-2000 rwxp 0 0:0",
	};
	struct proc_lines_mapping m;

	(void)state;
	assert_true(proc_lines_mapping(
		"7f0000001000-7f0000003000 -w-s 00002000 fd:1a 77     "
		"/a b (deleted)", &m));
	assert_int_equal(m.start, 0x7f0000001000);
	assert_int_equal(m.end, 0x7f0000003000);
	assert_int_equal(m.flags, PROC_LINES_WRITE | PROC_LINES_SHARED);
	assert_int_equal(m.offset, 0x2000);
	assert_int_equal(m.major, 0xfd);
	assert_int_equal(m.minor, 0x1a);
	assert_int_equal(m.inode, 77);
	assert_string_equal(m.path, "/a b (deleted)");
	assert_true(proc_lines_mapping(
		"ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0 ",
		&m));
	assert_int_equal(m.end, 0xffffffffff601000);
	assert_string_equal(m.path, "");
	for (unsigned i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
		assert_false(proc_lines_mapping(wrong[i], &m));
}

/* An emulator's addresses are the target's and a constant. */
static void moved_lines(void **state)
{
	struct proc_lines_mapping m;

	(void)state;
	proc_lines_moved(0x10000);
	assert_true(proc_lines_mapping("12000-15000 r--p 0 0:0 0", &m));
	assert_int_equal(m.start, 0x2000);
	assert_int_equal(m.end, 0x5000);
	assert_true(proc_lines_mapping("1000-11000 r--p 0 0:0 0", &m));
	assert_int_equal(m.start, 0);
	assert_int_equal(m.end, 0x1000);
	assert_false(proc_lines_mapping("1000-10000 r--p 0 0:0 0", &m));
	proc_lines_moved(0);
	assert_true(proc_lines_mapping("1000-10000 r--p 0 0:0 0", &m));
	assert_int_equal(m.start, 0x1000);
}

static int make_file(void **state)
{
	(void)state;
	close(mkstemp(path));
	return 0;
}

static int remove_file(void **state)
{
	(void)state;
	return unlink(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_of_any_buffer),
		cmocka_unit_test(long_lines_are_cut),
		cmocka_unit_test(no_file_is_no_lines),
		cmocka_unit_test(own_maps),
		cmocka_unit_test(lines_of_maps),
		cmocka_unit_test(moved_lines),
	};

	return cmocka_run_group_tests(tests, make_file, remove_file);
}
