/* test_truncated_map.c: a mapped file that is cut short reads as zeroes
 * there. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "cli/base/truncated_map.h"

#define SIZE (5 * 4096)

static char *map(int *fd)
{
	char path[] = "/tmp/gnomon-shortened-XXXXXX";
	char *bytes = malloc(SIZE), *at;

	*fd = mkstemp(path);
	assert_true(*fd >= 0);
	unlink(path);
	memset(bytes, 'x', SIZE);
	assert_int_equal(write(*fd, bytes, SIZE), SIZE);
	free(bytes);
	at = mmap(NULL, SIZE, PROT_READ, MAP_PRIVATE, *fd, 0);
	assert_true(at != MAP_FAILED);
	return at;
}

static void test_shortened(void **unused)
{
	int fd;
	char *at = map(&fd);

	(void)unused;
	truncated_map_survive();	/* after cmocka's own */
	assert_int_equal(at[4 * 4096], 'x');
	assert_int_equal(ftruncate(fd, 4096 + 10), 0);
	assert_int_equal(at[4095], 'x');
	assert_int_equal(at[4096 + 9], 'x');
	assert_int_equal(at[4096 + 10], 0);
	for (size_t i = 2 * 4096; i < SIZE; i++)
		assert_int_equal(at[i], 0);
	munmap(at, SIZE);
	close(fd);
}

static void test_others(void **unused)
{
	int status;

	(void)unused;
	if (fork() == 0) {
		truncated_map_survive();
		raise(SIGBUS);
		_exit(0);
	}
	wait(&status);
	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), SIGBUS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_shortened),
		cmocka_unit_test(test_others),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
