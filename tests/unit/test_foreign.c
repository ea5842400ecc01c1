/*
 * test_foreign.c: the verdict on files: this test's own, which has functions
 * with telling names, and the same cut short and damaged.
 */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "preload/copied_file.h"
#include "preload/foreign.h"

/* Defined here, so that it stands among the symbols. */
void *mi_malloc(size_t size);

void *mi_malloc(size_t size)
{
	return malloc(size);
}

static uint8_t *own;
static size_t own_size;

static int load(void **state)
{
	int fd = open("/proc/self/exe", O_RDONLY);
	struct stat status;

	(void)state;
	if (fd < 0 || fstat(fd, &status))
		return -1;
	own_size = (size_t)status.st_size;
	own = mmap(NULL, own_size, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
	close(fd);
	return own == MAP_FAILED ? -1 : 0;
}

static enum foreign_state verdict(size_t size, bool program)
{
	struct foreign foreign = { .state = FOREIGN_NONE };
	struct copied_file file = { .bytes = own, .size = size, .fd = -1 };

	foreign_file(&foreign, &file, "test", program);
	if (foreign.state != FOREIGN_NONE)
		assert_string_equal(foreign.allocator, "mimalloc");
	return foreign.state;
}

static void test_own(void **state)
{
	struct foreign foreign = { FOREIGN_SURE, false, "mimalloc" };
	char text[256];

	(void)state;
	assert_int_equal(verdict(own_size, true), FOREIGN_SURE);
	/* a library would export it, and ours would come first */
	assert_int_equal(verdict(own_size, false), FOREIGN_NONE);
	foreign_describe(&foreign, text, sizeof(text));
	assert_non_null(strstr(text, "this program brings its own allocator "
				     "mimalloc; its allocations are not "
				     "recorded"));
}

static void test_cut(void **state)
{
	(void)state;
	for (size_t size = 0; size < own_size; size += size / 50 + 1)
		assert_int_equal(verdict(size, true), FOREIGN_NONE);
}

static void test_damaged(void **state)
{
	(void)state;
	srand(1);
	for (unsigned i = 0; i < 2000; i++) {
		/* the headers, at both ends */
		size_t at = i % 2 ? (size_t)rand() % 64 :
				    own_size - 1 - (size_t)rand() % 2560;
		uint8_t before = own[at];
		struct foreign foreign = { .state = FOREIGN_NONE };
		struct copied_file file = { .bytes = own, .size = own_size,
					    .fd = -1 };

		own[at] = (uint8_t)rand();
		foreign_file(&foreign, &file, "test", true);
		own[at] = before;
	}
}

/* A file that is larger than a part of the limit is not copied. */
static void test_limited(void **state)
{
	struct foreign foreign = { .state = FOREIGN_NONE };
	struct rlimit before, limit;
	char path[4096];
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 1);

	(void)state;
	assert_true(n > 0);
	path[n] = '\0';
	foreign_look(&foreign, path);
	assert_int_not_equal(foreign.state, FOREIGN_NONE);
	assert_int_equal(getrlimit(RLIMIT_AS, &before), 0);
	limit = before;
	limit.rlim_cur = 1024 * (own_size - 1);
	assert_int_equal(setrlimit(RLIMIT_AS, &limit), 0);
	foreign_look(&foreign, path);
	assert_int_equal(foreign.state, FOREIGN_NONE);
	limit.rlim_cur = 1024 * own_size;
	assert_int_equal(setrlimit(RLIMIT_AS, &limit), 0);
	foreign_look(&foreign, path);
	assert_int_not_equal(foreign.state, FOREIGN_NONE);
	assert_int_equal(setrlimit(RLIMIT_AS, &before), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_own),
		cmocka_unit_test(test_cut),
		cmocka_unit_test(test_damaged),
		cmocka_unit_test(test_limited),
	};

	return mi_malloc(0) == NULL ? 1 :
		cmocka_run_group_tests(tests, load, NULL);
}
