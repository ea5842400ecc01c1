/*
 * test_source.c: a window over a file or a pipe; files that change meanwhile.
 */
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "cli/trace/decode/source.h"

#define SIZE (5u << 20)

static uint8_t byte_at(uint64_t offset)
{
	return (uint8_t)(offset * 7 >> 3 ^ offset >> 11);
}

static void *write_all(void *arg)
{
	uint8_t *bytes = malloc(SIZE);
	int fd = *(int *)arg;

	for (uint64_t i = 0; i < SIZE; i++)
		bytes[i] = byte_at(i);
	for (size_t at = 0; at < SIZE;) {
		ssize_t n = write(fd, bytes + at, SIZE - at);

		assert_true(n > 0);
		at += (size_t)n;
	}
	free(bytes);
	return NULL;
}

static void *write_and_close(void *arg)
{
	write_all(arg);
	close(*(int *)arg);
	return NULL;
}

/* All of it in windows of all sizes; each byte where it belongs. */
static void walk(struct source *source)
{
	uint64_t offset = 0;
	unsigned step = 1;

	while (source_fill(source, step) >= step) {
		assert_int_equal(source->offset, offset);
		for (unsigned i = 0; i < step; i += 1 + i / 9)
			assert_int_equal(source->data[i], byte_at(offset + i));
		source_skip(source, step / 2 + 1);
		offset += step / 2 + 1;
		step = step * 5 / 2 % 1500007 + 1;
	}
	assert_int_equal(offset + source->available, SIZE);
	assert_int_equal(source->got, SIZE);
	assert_int_equal(source->error, 0);
	assert_true(source->at_end);
}

static void a_file(void **state)
{
	int fd = memfd_create("source", 0);
	struct source source;

	(void)state;
	write_all(&fd);
	lseek(fd, 0, SEEK_SET);
	source_open(&source, fd);
	assert_true(source.regular);
	assert_int_equal(source.file_size, SIZE);
	walk(&source);
	source_close(&source);
	assert_int_equal(lseek(fd, 0, SEEK_SET), -1);	/* it was taken over */
}

static void a_pipe(void **state)
{
	struct source source;
	pthread_t thread;
	int ends[2];

	(void)state;
	assert_int_equal(pipe(ends), 0);
	pthread_create(&thread, NULL, write_and_close, &ends[1]);
	source_open(&source, ends[0]);
	assert_false(source.regular);
	walk(&source);
	pthread_join(thread, NULL);
	source_close(&source);
}

static void files_that_change(void **state)
{
	int fd = memfd_create("source", 0), again = dup(fd);
	struct source source;

	(void)state;
	write_all(&fd);
	lseek(fd, 0, SEEK_SET);
	source_open(&source, fd);
	write_all(&again);	/* it shares the position, and overwrites */
	lseek(fd, 0, SEEK_END);
	write_all(&again);	/* longer: what came later is not read */
	lseek(fd, 0, SEEK_SET);
	walk(&source);
	source_close(&source);
	lseek(again, 0, SEEK_SET);
	source_open(&source, again);
	assert_int_equal(source_fill(&source, 10) >= 10, 1);
	assert_int_equal(ftruncate(again, 5), 0);	/* shorter: an end */
	assert_true(source_fill(&source, 4u << 20) < 4u << 20);
	assert_int_equal(source.error, 0);
	source_close(&source);
}

static void an_error(void **state)
{
	struct source source;
	int ends[2];

	(void)state;
	assert_int_equal(pipe(ends), 0);
	source_open(&source, ends[1]);	/* the end that is written */
	assert_int_equal(source_fill(&source, 1), 0);
	assert_int_equal(source.error, EBADF);
	assert_true(source.at_end);
	source_close(&source);
	close(ends[0]);
}

static void a_broken_window_is_seen(void **state)
{
	uint8_t bytes[16] = { 0 };
	struct source source = {
		.buffer = bytes,
		.capacity = sizeof(bytes),
		.end = 10,
		.data = bytes + 4,
		.available = 6,
		.offset = 104,
		.got = 110,
	};

	(void)state;
	assert_true(source_is_valid(&source));
	source.available = 7; /* more than was read */
	assert_false(source_is_valid(&source));
	source.available = 6;
	source.offset++;
	assert_false(source_is_valid(&source));
	source.offset--;
	source.end = 17;
	assert_false(source_is_valid(&source));
	source.end = 10;
	assert_true(source_is_valid(&source));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_file),
		cmocka_unit_test(a_pipe),
		cmocka_unit_test(files_that_change),
		cmocka_unit_test(an_error),
		cmocka_unit_test(a_broken_window_is_seen),
	};

	return cmocka_run_group_tests_name("source", tests, NULL, NULL);
}
