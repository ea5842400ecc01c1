/*
 * test_io_full.c: bytes of a file as a whole, in pieces as the kernel likes.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "cli/base/io_full.h"

#define SIZE (1u << 20)

static int some_file(void)
{
	int fd = memfd_create("whole", 0);

	assert_true(fd >= 0);
	return fd;
}

static void read_at(void **state)
{
	int fd = some_file();
	char bytes[16];

	(void)state;
	assert_int_equal(io_full_write(fd, "0123", 4), 0);
	assert_int_equal(io_full_write(fd, "456789", 6), 0);
	assert_int_equal(io_full_write_at(fd, "ab", 2, 3), 0);
	assert_int_equal(io_full_read_at(fd, bytes, 8, 0), 8);
	assert_memory_equal(bytes, "012ab567", 8);
	assert_int_equal(io_full_read_at(fd, bytes, 8, 6), 4);
	assert_memory_equal(bytes, "6789", 4);
	assert_int_equal(io_full_read_at(fd, bytes, 8, 10), 0);
	assert_int_equal(lseek(fd, 1, SEEK_SET), 1);
	assert_int_equal(io_full_read(fd, bytes, 4), 4);
	assert_memory_equal(bytes, "12ab", 4);
	assert_int_equal(io_full_read(fd, bytes, 16), 5);
	assert_int_equal(io_full_read(fd, bytes, 16), 0);
	close(fd);
	assert_int_equal(io_full_read(fd, bytes, 8), -EBADF);
	assert_int_equal(io_full_read_at(fd, bytes, 8, 0), -EBADF);
	assert_int_equal(io_full_write(fd, bytes, 8), -EBADF);
	assert_int_equal(io_full_write_at(fd, bytes, 8, 0), -EBADF);
}

static unsigned count(const char *text, const char *word)
{
	unsigned n = 0;

	while ((text = strstr(text, word)) != NULL) {
		text++;
		n++;
	}
	return n;
}

/* Of these the kernel gives a page at a time at most. */
static void read_in_pieces(void **state)
{
	int fd = open("/proc/self/smaps", O_RDONLY | O_CLOEXEC);
	char *bytes = calloc(1, SIZE);
	ssize_t size;

	(void)state;
	assert_true(fd >= 0);
	size = io_full_read_at(fd, bytes, SIZE - 1, 0);
	assert_in_range(size, 8192, SIZE - 2);
	assert_int_equal(count(bytes, "\nSize: "), count(bytes, "\nVmFlags: "));
	assert_non_null(strstr(bytes, "[stack]"));
	assert_int_equal(io_full_read_at(fd, bytes, SIZE, (uint64_t)size), 0);
	free(bytes);
	close(fd);
}

static void *drain(void *end)
{
	size_t got = 0;
	char piece[3001];
	ssize_t n;

	while ((n = read(*(int *)end, piece, sizeof(piece))) > 0)
		for (ssize_t i = 0; i < n; i++, got++)
			if (piece[i] != (char)(got * 31 >> 4))
				return NULL;
	return (void *)got;
}

static void *fill(void *arg)
{
	int *ends = arg;
	char *bytes = malloc(SIZE);

	for (size_t i = 0; i < SIZE; i++)
		bytes[i] = (char)(i * 31 >> 4);
	assert_int_equal(io_full_write(ends[1], bytes, SIZE), 0);
	free(bytes);
	close(ends[1]);
	return NULL;
}

static void more_than_a_pipe_holds(void **state)
{
	pthread_t thread;
	int ends[2];

	(void)state;
	assert_int_equal(pipe(ends), 0);
	assert_int_equal(pthread_create(&thread, NULL, fill, ends), 0);
	assert_int_equal((size_t)drain(&ends[0]), SIZE);
	pthread_join(thread, NULL);
	close(ends[0]);
}

/* What cannot grow takes a part at most. */
static void a_full_disk(void **state)
{
	int fd = memfd_create("whole", MFD_ALLOW_SEALING);
	char bytes[8192] = { 0 };

	(void)state;
	assert_int_equal(ftruncate(fd, 4096), 0);
	assert_int_equal(fcntl(fd, F_ADD_SEALS, F_SEAL_GROW), 0);
	assert_int_equal(io_full_write_at(fd, bytes, 4096, 0), 0);
	assert_true(io_full_write_at(fd, bytes, 8192, 0) < 0);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(read_at),
		cmocka_unit_test(read_in_pieces),
		cmocka_unit_test(more_than_a_pipe_holds),
		cmocka_unit_test(a_full_disk),
	};

	return cmocka_run_group_tests_name("whole", tests, NULL, NULL);
}
