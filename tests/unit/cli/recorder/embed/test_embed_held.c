/* test_embed_held.c: files that only the process can reach, of this process. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "cli/recorder/embed/embed_held.h"
#include "cli/recorder/process/target_file.h"

#define SIZE 16384

static const int32_t none[GL_FILES] = { -1, -1, -1, -1, -1, -1, -1 };
static uintmax_t forbidden[] = { EPERM, EACCES };
static char path[64];

static uintptr_t mapped(void)
{
	char *at;
	int fd;

	strcpy(path, "/tmp/gnomon-unit-held-XXXXXX");
	fd = mkstemp(path);
	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, SIZE), 0);
	assert_int_equal(pwrite(fd, "held", 4, 0), 4);
	at = mmap(NULL, SIZE, PROT_READ, MAP_PRIVATE, fd, 0);
	assert_true(at != MAP_FAILED);
	close(fd);
	/* a second mapping of the same file */
	assert_int_equal(mprotect(at + SIZE / 2, SIZE / 2, PROT_NONE), 0);
	return (uintptr_t)at;
}

/* Only privileged users may open files in map_files. */
static void is_forbidden(uintptr_t at)
{
	char name[80];

	snprintf(name, sizeof(name), "/proc/self/map_files/%jx-%jx",
		 (uintmax_t)at, (uintmax_t)at + SIZE / 2);
	assert_int_equal(open(name, O_RDONLY), -1);
	assert_in_set(errno, forbidden, sizeof(forbidden) / sizeof(*forbidden));
	munmap((void *)at, SIZE);
}

static void what_was_removed_is_held(void **state)
{
	uintptr_t at = mapped();
	struct embed_held held = { 0 };
	char found[4];
	int fd;

	(void)state;
	target_file_init(none, getpid());
	embed_held_take(&held, getpid());
	assert_int_equal(embed_held_find(&held, at), -1);
	unlink(path);
	embed_held_take(&held, getpid());
	fd = embed_held_find(&held, at);
	if (fd < 0) {
		is_forbidden(at);
		return;
	}
	assert_int_equal(embed_held_find(&held, at + SIZE - 1), fd);
	assert_int_equal(embed_held_find(&held, at + SIZE), -1);
	munmap((void *)at, SIZE);
	assert_int_equal(pread(fd, found, 4, 0), 4);
	assert_memory_equal(found, "held", 4);
	/* taken anew: it is not there any more */
	embed_held_take(&held, getpid());
	assert_int_equal(embed_held_find(&held, at), -1);
	assert_int_equal(fcntl(fd, F_GETFD), -1);
	embed_held_close(&held);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_was_removed_is_held),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
