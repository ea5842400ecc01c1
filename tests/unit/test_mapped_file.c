/* test_mapped_file.c: what is mapped, and what is not even opened. */
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

#include "preload/mapped_file.h"

static char folder[] = "/tmp/gnomon-mapped-XXXXXX";

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
	struct mapped_file file;
	int fd = open(in_folder("file"), O_RDWR | O_CREAT, 0600);

	(void)unused;
	assert_false(mapped_file_open(&file, in_folder("file")));
	assert_int_equal(write(fd, "twelve bytes", 12), 12);
	close(fd);
	assert_true(mapped_file_open(&file, in_folder("file")));
	assert_int_equal(file.size, 12);
	assert_memory_equal(file.bytes, "twelve bytes", 12);
	mapped_file_close(&file);
	assert_true(mapped_file_open(&file, ""));
	assert_memory_equal(file.bytes, "\177ELF", 4);
	mapped_file_close(&file);
}

/* Whose opening waits, or does something, or cannot be. */
static void test_others(void **unused)
{
	struct mapped_file file;

	(void)unused;
	assert_int_equal(mkfifo(in_folder("pipe"), 0600), 0);
	alarm(10);
	assert_false(mapped_file_open(&file, in_folder("pipe")));
	alarm(0);
	assert_false(mapped_file_open(&file, in_folder("none")));
	assert_false(mapped_file_open(&file, folder));
	assert_false(mapped_file_open(&file, "/dev/zero"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_files),
		cmocka_unit_test(test_others),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
