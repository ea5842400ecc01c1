/* test_log_file.c: opening and rotating the log, also beside other
 * processes. */
// FLAGS: -Wl,--wrap=open64,--wrap=flock
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/recorder/base/recording.h"
#include "cli/recorder/output/log_file.h"

static char directory[] = "/tmp/gnomon-test-log.XXXXXX";
static char path[64], older[64];
static struct options options;
static bool refused;		/* open fails with EPERM */
static bool renamed;		/* by another process, before our lock */
static int lock_error;

int __real_open64(const char *name, int flags, ...);
int __wrap_open64(const char *name, int flags, ...);
int __wrap_flock(int fd, int operation);

int __wrap_open64(const char *name, int flags, ...)
{
	if (refused) {
		errno = EPERM;
		return -1;
	}
	return __real_open64(name, flags, 0600);
}

static void put(const char *name, const char *text)
{
	FILE *file = fopen(name, "w");

	assert_non_null(file);
	fputs(text, file);
	fclose(file);
}

int __wrap_flock(int fd, int operation)
{
	(void)fd;
	assert_int_equal(operation, LOCK_EX | LOCK_NB);
	if (renamed) {
		assert_int_equal(rename(path, older), 0);
		put(path, "new\n");
	}
	errno = lock_error;
	return lock_error ? -1 : 0;
}

/* Writes a line that makes the file too long. */
static void fill(void)
{
	char text[2048];

	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	log_file_print(OPTION_LOG_INFO, "long", text);
}

static int each(void **state)
{
	(void)state;
	recording_options = &options;
	options_default(&options);
	refused = renamed = false;
	lock_error = 0;
	unlink(path);
	unlink(older);
	return options_set(&options, OPTION_LOG, "info") ||
	       options_set(&options, OPTION_LOG_FILE, path) ||
	       options_set(&options, OPTION_LOG_FILE_MAX, "1k");
}

static void a_failure_is_returned(void **state)
{
	(void)state;
	refused = true;
	assert_int_equal(log_file_begin(42), -EPERM);
}

static void rotated(void **state)
{
	(void)state;
	assert_int_equal(log_file_begin(42), 0);
	fill();
	assert_int_equal(access(older, F_OK), 0);
	assert_int_equal(access(path, F_OK), 0);
}

static void rotated_by_another_first(void **state)
{
	struct stat st;

	(void)state;
	assert_int_equal(log_file_begin(42), 0);
	renamed = true;
	fill();
	renamed = false;
	assert_int_equal(stat(older, &st), 0);
	assert_true(st.st_size > 1024);		/* not the new one */
	log_file_print(OPTION_LOG_INFO, "next", NULL);
	assert_int_equal(stat(path, &st), 0);
	assert_true(st.st_size > 4 && st.st_size < 1024);
}

static void while_another_rotates(void **state)
{
	(void)state;
	assert_int_equal(log_file_begin(42), 0);
	lock_error = EWOULDBLOCK;
	fill();
	assert_int_equal(access(older, F_OK), -1);
	lock_error = ENOLCK;
	fill();
	assert_int_equal(access(older, F_OK), 0);
}

static int begin(void **state)
{
	(void)state;
	if (!mkdtemp(directory))
		return -1;
	snprintf(path, sizeof(path), "%s/log", directory);
	snprintf(older, sizeof(older), "%s/log.1", directory);
	return 0;
}

static int end(void **state)
{
	(void)state;
	unlink(path);
	unlink(older);
	return rmdir(directory);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(a_failure_is_returned, each),
		cmocka_unit_test_setup(rotated, each),
		cmocka_unit_test_setup(rotated_by_another_first, each),
		cmocka_unit_test_setup(while_another_rotates, each),
	};

	return cmocka_run_group_tests(tests, begin, end);
}
