/* test_copied_file.c: what is copied, and what is not even opened. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "cli/recorder/copied_file.h"

static char folder[] = "/tmp/gnomon-copied-XXXXXX";

static const char *in_folder(const char *name)
{
	static char path[256];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	return path;
}

static int make_folder(void **unused)
{
	(void)unused;
	return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **unused)
{
	(void)unused;
	unlink(in_folder("file"));
	unlink(in_folder("pipe"));
	return rmdir(folder);
}

static void test_files(void **unused)
{
	struct copied_file file;
	int fd = open(in_folder("file"), O_RDWR | O_CREAT, 0600);

	(void)unused;
	assert_false(copied_file_open(&file, in_folder("file")));
	assert_int_equal(write(fd, "twelve bytes", 12), 12);
	close(fd);
	assert_true(copied_file_open(&file, in_folder("file")));
	assert_int_equal(file.size, 12);
	assert_memory_equal(copied_file_part(&file, 0, 6), "twelve", 6);
	assert_memory_equal(file.bytes, "twelve\0\0\0\0\0\0", 12);
	assert_memory_equal(copied_file_part(&file, 7, 5), "bytes", 5);
	assert_null(copied_file_part(&file, 8, 5));
	assert_null(copied_file_part(&file, 13, 0));
	assert_null(copied_file_part(&file, UINT64_MAX, 2));
	copied_file_close(&file);
	assert_true(copied_file_open(&file, "/proc/self/exe"));
	assert_memory_equal(copied_file_part(&file, 0, 4), "\177ELF", 4);
	copied_file_close(&file);
}

/* By anybody, while it is read. */
static void test_truncated(void **unused)
{
	static char bytes[10000];
	struct copied_file file;
	int fd = open(in_folder("file"), O_RDWR | O_CREAT | O_TRUNC, 0600);

	(void)unused;
	memset(bytes, 'x', sizeof(bytes));
	assert_int_equal(write(fd, bytes, sizeof(bytes)), sizeof(bytes));
	assert_true(copied_file_open(&file, in_folder("file")));
	assert_non_null(copied_file_part(&file, 0, 5000));
	assert_int_equal(ftruncate(fd, 100), 0);
	assert_memory_equal(file.bytes, bytes, 5000);
	assert_null(copied_file_part(&file, 4096, 5904));
	assert_int_equal(file.bytes[9999], 0);
	assert_non_null(copied_file_part(&file, 0, 100));
	copied_file_close(&file);
	close(fd);
}

/* Whose opening waits, or does something, or cannot be. */
static void test_others(void **unused)
{
	struct copied_file file;

	(void)unused;
	assert_int_equal(mkfifo(in_folder("pipe"), 0600), 0);
	alarm(10);
	assert_false(copied_file_open(&file, in_folder("pipe")));
	alarm(0);
	assert_false(copied_file_open(&file, in_folder("none")));
	assert_false(copied_file_open(&file, folder));
	assert_false(copied_file_open(&file, "/dev/zero"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_files),
		cmocka_unit_test(test_truncated),
		cmocka_unit_test(test_others),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
