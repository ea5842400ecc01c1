/*
 * test_static_allocator.c: the verdict on files: this test's own, which has
 * functions with telling names, and the same cut short and damaged.
 */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "cli/recorder/embed/static_allocator.h"
#include "cli/recorder/process/target_file.h"
#include "preload/ring/patched.h"

/* Defined here, so that it stands among the symbols. */
void *mi_malloc(size_t size);

void *mi_malloc(size_t size)
{
	return malloc(size);
}

static int own;		/* a copy of this program */
static size_t own_size;

static int copy(int to, int from, size_t size)
{
	off_t at = 0;

	while (at < (off_t)size)
		if (sendfile(to, from, &at, size - (size_t)at) <= 0)
			return -1;
	return 0;
}

static int load(void **state)
{
	int32_t file[GL_FILES] = { -1, -1, -1, -1, -1, -1 };
	int fd = open("/proc/self/exe", O_RDONLY);
	struct stat status;

	(void)state;
	if (fd < 0 || fstat(fd, &status))
		return -1;
	file[GL_FILE_MAPS_WHOLE] = open("/proc/self/maps", O_RDONLY);
	target_file_init(file, getpid());
	own_size = (size_t)status.st_size;
	own = memfd_create("own", MFD_CLOEXEC);
	return copy(own, fd, own_size);
}

/* Of the first bytes of it. */
static void look_at(struct static_allocator *static_allocator, size_t size,
		    bool program)
{
	int fd = memfd_create("cut", MFD_CLOEXEC);

	assert_int_equal(copy(fd, own, size), 0);
	static_allocator_file(static_allocator, fd, "test", program);
	close(fd);
}

static enum static_allocator_state verdict(size_t size, bool program)
{
	struct static_allocator static_allocator = {
		.state = STATIC_ALLOCATOR_NONE
	};

	look_at(&static_allocator, size, program);
	if (static_allocator.state != STATIC_ALLOCATOR_NONE)
		assert_string_equal(static_allocator.allocator, "mimalloc");
	return static_allocator.state;
}

/* What hooks did with an image of this name. */
static enum static_allocator_state verdict_if(const struct patched_list *list,
					      bool program)
{
	struct static_allocator static_allocator = {
		.state = STATIC_ALLOCATOR_NONE, .patched = list
	};

	look_at(&static_allocator, own_size, program);
	return static_allocator.state;
}

static void test_patched(void **state)
{
	struct patched_list list = { .count = 0 };
	unsigned i;

	(void)state;
	assert_int_equal(verdict_if(&list, true), STATIC_ALLOCATOR_SURE);
	patched_add(&list, "tes", true, PATCHED_TOLD);
	patched_add(&list, "test", false, PATCHED_TOLD);
	assert_int_equal(verdict_if(&list, true), STATIC_ALLOCATOR_SURE);
	assert_int_equal(verdict_if(&list, false), STATIC_ALLOCATOR_NONE);
	patched_add(&list, "test", true, PATCHED_TOLD);
	assert_int_equal(verdict_if(&list, true), STATIC_ALLOCATOR_NONE);
	list.count = 0;
	/* a program's name may be a link's, a library's not */
	patched_add(&list, "link", true, PATCHED_DONE);
	assert_int_equal(verdict_if(&list, true), STATIC_ALLOCATOR_PATCHED);
	list.count = 0;
	for (i = 0; i < PATCHED_IMAGES; i++)
		patched_add(&list, "other", false, PATCHED_DONE);
	patched_add(&list, "test", true, PATCHED_TOLD);
	assert_int_equal(list.count, PATCHED_IMAGES);
	list.count = UINT32_MAX;
	assert_int_equal(verdict_if(&list, true), STATIC_ALLOCATOR_SURE);
}

static void test_own(void **state)
{
	struct static_allocator static_allocator = { STATIC_ALLOCATOR_SURE,
						     false, "mimalloc", NULL };
	char text[256];

	(void)state;
	assert_int_equal(verdict(own_size, true), STATIC_ALLOCATOR_SURE);
	/* a library would export it, and ours would come first */
	assert_int_equal(verdict(own_size, false), STATIC_ALLOCATOR_NONE);
	static_allocator_describe(&static_allocator, text, sizeof(text));
	assert_non_null(strstr(text, "this program brings its own allocator "
				     "mimalloc; its allocations are not "
				     "recorded"));
}

static void test_cut(void **state)
{
	(void)state;
	for (size_t size = 0; size < own_size; size += size / 50 + 1)
		assert_int_equal(verdict(size, true), STATIC_ALLOCATOR_NONE);
}

static void test_damaged(void **state)
{
	(void)state;
	srand(1);
	for (unsigned i = 0; i < 2000; i++) {
		/* the headers, at both ends */
		size_t at = i % 2 ? (size_t)rand() % 64 :
				    own_size - 1 - (size_t)rand() % 2560;
		uint8_t before, value = (uint8_t)rand();
		struct static_allocator static_allocator = {
			.state = STATIC_ALLOCATOR_NONE
		};

		assert_int_equal(pread(own, &before, 1, at), 1);
		assert_int_equal(pwrite(own, &value, 1, at), 1);
		static_allocator_file(&static_allocator, own, "test", true);
		assert_int_equal(pwrite(own, &before, 1, at), 1);
	}
}

/* All that is mapped, the program by its own rules. */
static void test_mapped(void **state)
{
	struct static_allocator static_allocator = {
		.state = STATIC_ALLOCATOR_NONE
	};
	char path[4096];
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 1);

	(void)state;
	assert_true(n > 0);
	path[n] = '\0';
	static_allocator_poll(&static_allocator, path);
	assert_int_equal(static_allocator.state, STATIC_ALLOCATOR_SURE);
	assert_false(static_allocator.library);
	static_allocator_poll(&static_allocator, "/another");
	assert_int_equal(static_allocator.state, STATIC_ALLOCATOR_NONE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_own),
		cmocka_unit_test(test_patched),
		cmocka_unit_test(test_cut),
		cmocka_unit_test(test_damaged),
		cmocka_unit_test(test_mapped),
	};

	return mi_malloc(0) == NULL ? 1 :
		cmocka_run_group_tests(tests, load, NULL);
}
