/* test_message_out.c: lines on the standard error of another process, only while
 * that is what it was. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/recorder/base/message_out.h"

static char path[] = "/tmp/gnomon-unit-message.XXXXXX";
static int file, pid;

/* A process whose standard error is the file. */
static int set_up(void **state)
{
	int ready[2];
	char byte;

	(void)state;
	strcpy(strrchr(path, '.'), ".XXXXXX");
	file = mkstemp(path);
	if (file < 0 || pipe(ready))
		return -1;
	pid = fork();
	if (pid == 0) {
		dup2(file, 2);
		byte = write(ready[1], "", 1);
		for (;;)
			pause();
	}
	byte = read(ready[0], &byte, 1);
	close(ready[0]);
	close(ready[1]);
	message_out_keep(-1);
	return byte != 1;
}

static int tear_down(void **state)
{
	(void)state;
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	message_out_keep(-1);
	close(file);
	return unlink(path);
}

static void known(bool is, int fd)
{
	struct stat st;

	assert_int_equal(fstat(fd, &st), 0);
	message_out_init(is, st.st_dev, st.st_ino);
}

static const char *said(void)
{
	static char text[4096];
	ssize_t n = pread(file, text, sizeof(text) - 1, 0);

	assert_true(n >= 0);
	text[n] = '\0';
	return text;
}

static void lines_on_what_it_was(void **state)
{
	(void)state;
	known(true, file);
	message_out_print(pid, "one");
	message_out_print(pid, "two");
	assert_string_equal(said(), "gnomon: one\ngnomon: two\n");
	/* nobody's standard error */
	message_out_print(1 << 30, "three");
	message_out_at(-1, "four");
	assert_string_equal(said(), "gnomon: one\ngnomon: two\n");
	message_out_at(file, "5th");	/* where that one's position is */
	assert_string_equal(said(), "gnomon: 5th\ngnomon: two\n");
}

/* It was closed, and its number is another file's: a data base, perhaps. */
static void never_on_another_file(void **state)
{
	int null = open("/dev/null", O_WRONLY);
	struct stat st;

	(void)state;
	known(true, null);
	message_out_print(pid, "one");
	assert_false(message_out_is_standard(file, &st));
	assert_true(message_out_is_standard(null, &st));
	assert_string_equal(said(), "");
	/* there was none at the start */
	known(false, file);
	message_out_print(pid, "two");
	assert_false(message_out_is_standard(file, &st));
	assert_string_equal(said(), "");
	close(null);
}

/* The target's position in its file goes along with what we write. */
static void a_copy_keeps_the_position(void **state)
{
	int copy = dup(file);

	(void)state;
	known(true, file);
	assert_int_equal(write(file, "a\n", 2), 2);
	message_out_keep(copy);
	message_out_print(pid, "one");
	assert_int_equal(write(file, "b\n", 2), 2);
	assert_string_equal(said(), "a\ngnomon: one\nb\n");
	close(copy);
}

static void long_lines_are_cut(void **state)
{
	char text[2000];

	(void)state;
	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	known(true, file);
	message_out_print(pid, text);
	message_out_print(pid, "end");
	assert_true(strlen(said()) < 1000);
	assert_non_null(strstr(said(), "xx\ngnomon: end\n"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(lines_on_what_it_was, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(never_on_another_file, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(a_copy_keeps_the_position,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(long_lines_are_cut, set_up,
						tear_down),
	};

	alarm(20);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
