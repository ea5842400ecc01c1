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
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "cli/recorder/copied_file.h"
#include "cli/recorder/embed/foreign.h"
#include "cli/recorder/target_file.h"
#include "preload/ring/patched.h"

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
	int32_t file[GL_FILES] = { -1, -1, -1, -1, -1, -1 };
	int fd = open("/proc/self/exe", O_RDONLY);
	struct stat status;

	(void)state;
	if (fd < 0 || fstat(fd, &status))
		return -1;
	file[GL_FILE_MAPS_WHOLE] = open("/proc/self/maps", O_RDONLY);
	target_file_init(file, getpid());
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

/* What hooks did with an image of this name. */
static enum foreign_state verdict_if(const struct patched_list *list,
				     bool program)
{
	struct foreign foreign = { .state = FOREIGN_NONE, .patched = list };
	struct copied_file file = { .bytes = own, .size = own_size, .fd = -1 };

	foreign_file(&foreign, &file, "test", program);
	return foreign.state;
}

static void test_patched(void **state)
{
	struct patched_list list = { .count = 0 };
	unsigned i;

	(void)state;
	assert_int_equal(verdict_if(&list, true), FOREIGN_SURE);
	patched_add(&list, "tes", true, PATCHED_TOLD);
	patched_add(&list, "test", false, PATCHED_TOLD);
	assert_int_equal(verdict_if(&list, true), FOREIGN_SURE);
	assert_int_equal(verdict_if(&list, false), FOREIGN_NONE);
	patched_add(&list, "test", true, PATCHED_TOLD);
	assert_int_equal(verdict_if(&list, true), FOREIGN_NONE);
	list.count = 0;
	/* a program's name may be a link's, a library's not */
	patched_add(&list, "link", true, PATCHED_DONE);
	assert_int_equal(verdict_if(&list, true), FOREIGN_PATCHED);
	list.count = 0;
	for (i = 0; i < PATCHED_IMAGES; i++)
		patched_add(&list, "other", false, PATCHED_DONE);
	patched_add(&list, "test", true, PATCHED_TOLD);
	assert_int_equal(list.count, PATCHED_IMAGES);
	list.count = UINT32_MAX;
	assert_int_equal(verdict_if(&list, true), FOREIGN_SURE);
}

static void test_own(void **state)
{
	struct foreign foreign = { FOREIGN_SURE, false, "mimalloc", NULL };
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

/* All that is mapped, the program by its own rules. */
static void test_mapped(void **state)
{
	struct foreign foreign = { .state = FOREIGN_NONE };
	char path[4096];
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 1);

	(void)state;
	assert_true(n > 0);
	path[n] = '\0';
	foreign_look(&foreign, path);
	assert_int_equal(foreign.state, FOREIGN_SURE);
	assert_false(foreign.library);
	foreign_look(&foreign, "/another");
	assert_int_equal(foreign.state, FOREIGN_NONE);
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
