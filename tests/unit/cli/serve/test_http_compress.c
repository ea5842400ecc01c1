/* test_http_compress.c: what is compressed is what it was. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include <cmocka.h>

#include "cli/base/io_full.h"
#include "cli/serve/http_compress.h"

#define SIZE 50000

static int file_of(const char *bytes, size_t size)
{
	int fd = memfd_create("test", MFD_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(io_full_write(fd, bytes, size), 0);
	return fd;
}

/* How much came out; it is in `packed`. */
static size_t pack(const char *bytes, size_t size, enum worker_coding coding,
		   char *packed)
{
	int from = file_of(bytes, size), to = file_of("", 0);
	struct stat status;

	http_compress_write(from, to, coding);
	assert_int_equal(fstat(to, &status), 0);
	assert_true(status.st_size <= SIZE);
	assert_int_equal(io_full_read_at(to, packed, SIZE, 0), status.st_size);
	close(from);
	close(to);
	return (size_t)status.st_size;
}

static void repeated(void **state)
{
	static char bytes[SIZE], packed[SIZE], got[SIZE];
	z_stream stream = { .next_out = (void *)got, .avail_out = SIZE };
	size_t size;

	(void)state;
	for (size_t i = 0; i < SIZE; i++)
		bytes[i] = "0123456789abcdef"[i * i % 97 % 16];
	size = pack(bytes, SIZE, WORKER_ZSTD, packed);
	assert_true(size > 0 && size < SIZE / 2);
	assert_int_equal(ZSTD_decompress(got, SIZE, packed, size), SIZE);
	assert_memory_equal(got, bytes, SIZE);
	memset(got, 0, SIZE);
	size = pack(bytes, SIZE, WORKER_GZIP, packed);
	assert_true(size > 0 && size < SIZE / 2);
	stream.next_in = (void *)packed;
	stream.avail_in = (uInt)size;
	assert_int_equal(inflateInit2(&stream, MAX_WBITS + 16), Z_OK);
	assert_int_equal(inflate(&stream, Z_FINISH), Z_STREAM_END);
	inflateEnd(&stream);
	assert_memory_equal(got, bytes, SIZE);
}

static void not_worth_it(void **state)
{
	static char bytes[SIZE], packed[SIZE];
	uint64_t random = 1;

	(void)state;
	assert_int_equal(pack("short", 5, WORKER_ZSTD, packed), 0);
	assert_int_equal(pack("", 0, WORKER_GZIP, packed), 0);
	for (size_t i = 0; i < SIZE; i++) {
		random = random * 6364136223846793005u + 1442695040888963407u;
		bytes[i] = (char)(random >> 56);
	}
	assert_int_equal(pack(bytes, SIZE, WORKER_ZSTD, packed), 0);
	assert_int_equal(pack(bytes, SIZE, WORKER_GZIP, packed), 0);
	assert_null(http_compress_name(WORKER_PLAIN));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(repeated),
		cmocka_unit_test(not_worth_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
