/* test_chunk.c: frames, checksums, and what a full disk leaves behind. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include "preload/ring/area.h"
#include "cli/recorder/emit/chunk.h"

#define TRACE_ID UINT64_C(0x1122334455667788)
#define ROOM 65536

static uint64_t number(const uint8_t *p, unsigned bytes)
{
	uint64_t v = 0;

	while (bytes--)
		v = v << 8 | p[bytes];
	return v;
}

static int temporary(void)
{
	char name[] = "/tmp/gnomon-test-chunk.XXXXXX";
	int fd = mkstemp(name);

	assert_true(fd >= 0);
	unlink(name);
	return fd;
}

static uint64_t checksum(const uint8_t *chunk, size_t payload)
{
	XXH64_state_t *h = XXH64_createState();
	uint64_t sum;

	XXH64_reset(h, TRACE_ID);
	XXH64_update(h, chunk, 48);
	XXH64_update(h, chunk + GT_CHUNK_SIZE, payload);
	sum = XXH64_digest(h);
	XXH64_freeState(h);
	return sum;
}

static void frames_are_as_documented(void **state)
{
	struct chunk_range range = { 3, 2, 100, 260 };
	struct chunk_out out;
	uint8_t file[256], *c = file + GT_HEADER_SIZE;
	int fd = temporary();
	uint8_t *to;

	(void)state;
	assert_int_equal(chunk_open(&out, fd, TRACE_ID, ROOM), 0);
	to = chunk_payload(&out);
	memcpy(to, "hello", 5);
	assert_int_equal(chunk_write(&out, GT_EVENTS, to + 5, &range), 0);
	assert_int_equal(chunk_write(&out, GT_SYNC, to, NULL), 0);
	assert_int_equal(pread(fd, file, sizeof(file), 0),
			 GT_HEADER_SIZE + 2 * GT_CHUNK_SIZE + 5);
	assert_memory_equal(file, GT_MAGIC, 8);
	assert_int_equal(number(file + 8, 2), GT_MAJOR);
	assert_int_equal(number(file + 12, 4), GT_HEADER_SIZE);
	assert_int_equal(number(file + 16, 8), TRACE_ID);
	assert_int_equal(number(file + 24, 8), XXH64(file, 24, 0));
	assert_int_equal(number(c, 4), GT_CHUNK_MAGIC);
	assert_int_equal(number(c + 4, 2), GT_EVENTS);
	assert_int_equal(number(c + 8, 4), 5);
	assert_int_equal(number(c + 12, 4), 5);
	assert_int_equal(number(c + 16, 4), 3);
	assert_int_equal(number(c + 20, 4), 2);
	assert_int_equal(number(c + 24, 8), 100);
	assert_int_equal(number(c + 32, 8), 260);
	assert_int_equal(number(c + 40, 8), 0);
	assert_int_equal(number(c + 48, 8), checksum(c, 5));
	c += GT_CHUNK_SIZE + 5;
	assert_int_equal(number(c + 4, 2), GT_SYNC);
	assert_int_equal(number(c + 40, 8), 1);
	assert_int_equal(number(c + 48, 8), checksum(c, 0));
	close(fd);
}

static void full_disks_leave_whole_chunks(void **state)
{
	struct rlimit before, limit;
	struct chunk_out out;
	struct stat st;
	int fd = temporary(), err = 0;
	uint8_t *to;
	unsigned n;

	(void)state;
	signal(SIGXFSZ, SIG_IGN);
	getrlimit(RLIMIT_FSIZE, &before);
	limit = before;
	limit.rlim_cur = 10000;
	/* the limit is the disk's: it is not known */
	assert_int_equal(chunk_open(&out, fd, TRACE_ID, ROOM), 0);
	to = chunk_payload(&out);
	memset(to, 'x', 1000);
	setrlimit(RLIMIT_FSIZE, &limit);
	for (n = 0; !err; n++)
		err = chunk_write(&out, GT_INFO, to + 1000, NULL);
	setrlimit(RLIMIT_FSIZE, &before);
	assert_int_equal(err, -EFBIG);
	assert_int_equal(chunk_write(&out, GT_INFO, to, NULL), -EFBIG);
	assert_int_equal(fstat(fd, &st), 0);
	assert_int_equal(st.st_size, GT_HEADER_SIZE +
			 (n - 1) * (GT_CHUNK_SIZE + 1000));
	assert_int_equal(out.size, st.st_size);
	close(fd);
}

/* Whether or not the file system can reserve room. */
static void a_limit_leaves_room_for_the_last_words(void **state)
{
	struct rlimit before, limit;
	struct chunk_out out;
	int fd = temporary();
	uint8_t *to;

	(void)state;
	signal(SIGXFSZ, SIG_IGN);
	getrlimit(RLIMIT_FSIZE, &before);
	assert_int_equal(chunk_open(&out, fd, TRACE_ID, ROOM), 0);
	to = chunk_payload(&out);
	memset(to, 'x', 10000);
	for (unsigned n = 0; n < 300; n++) {
		limit = before;
		limit.rlim_cur = 100000 + n;
		assert_int_equal(ftruncate(fd, 0), 0);
		lseek(fd, 0, SEEK_SET);
		setrlimit(RLIMIT_FSIZE, &limit);
		out.err = 0;
		out.last_words = false;
		assert_int_equal(chunk_begin(&out, fd), 0);
		while (chunk_write(&out, GT_INFO, to + 300, NULL) == 0)
			;
		assert_int_equal(out.err, -EFBIG);
		assert_true(out.size + 400 + out.last > limit.rlim_cur);
		out.err = 0;
		out.last_words = true;
		assert_int_equal(chunk_write(&out, GT_END, to + 10000, NULL),
				 0);
		setrlimit(RLIMIT_FSIZE, &before);
	}
	close(fd);
}

static void pipes_are_not_cut(void **state)
{
	struct chunk_out out;
	int fds[2];

	(void)state;
	signal(SIGPIPE, SIG_IGN);
	assert_int_equal(pipe(fds), 0);
	assert_int_equal(chunk_open(&out, fds[1], TRACE_ID, ROOM), 0);
	assert_false(out.regular);
	close(fds[0]);
	assert_int_equal(chunk_write(&out, GT_SYNC, chunk_payload(&out), NULL),
			 -EPIPE);
	close(fds[1]);
}

static void broken_counts_are_seen(void **state)
{
	struct chunk_out out;
	int fd = temporary();

	(void)state;
	assert_int_equal(chunk_open(&out, fd, TRACE_ID, ROOM), 0);
	assert_int_equal(chunk_write(&out, GT_INFO, chunk_payload(&out) + 8,
				     NULL), 0);
	assert_true(chunk_out_is_valid(&out));
	out.sequence = 1000;			/* I1: more than it has */
	assert_false(chunk_out_is_valid(&out));
	out.sequence = 1;
	out.last = UINT64_MAX;			/* I2 */
	assert_false(chunk_out_is_valid(&out));
	out.last = 0;
	out.size = 1;
	assert_false(chunk_out_is_valid(&out));
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(frames_are_as_documented),
		cmocka_unit_test(full_disks_leave_whole_chunks),
		cmocka_unit_test(a_limit_leaves_room_for_the_last_words),
		cmocka_unit_test(pipes_are_not_cut),
		cmocka_unit_test(broken_counts_are_seen),
	};

	if (area_map(UINT64_C(16) << 20))
		return 77;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
