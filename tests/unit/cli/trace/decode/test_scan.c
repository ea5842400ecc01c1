/* test_scan.c: chunks in whole, torn, corrupt and foreign files. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>
#include <sys/mman.h>

#include <xxhash.h>

#include "cli/trace/decode/scan.h"
#include "tests/unit/trace_write.h"

#define CHUNKS 5

/* INFO chunks of growing length; offsets[i] is where each begins. */
static void build(struct trace_write *t, size_t *offsets)
{
	char value[64] = "";

	trace_write_begin(t);
	for (int i = 0; i < CHUNKS; i++) {
		offsets[i] = t->bytes.size;
		strcat(value, "0123456789");
		trace_write_line(t, GT_INFO, "key", value);
	}
	offsets[CHUNKS] = t->bytes.size;
}

static int file_of(const void *bytes, size_t size)
{
	int fd = memfd_create("scan", 0);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes, size), size);
	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	return fd;
}

static int count_chunks(struct scan *scan)
{
	struct chunk chunk;
	int count = 0;

	while (scan_next(scan, &chunk)) {
		assert_int_equal(chunk.type, GT_INFO);
		assert_memory_equal(chunk.payload, "key=0123456789", 14);
		count++;
	}
	return count;
}

static void whole(void **state)
{
	struct trace_write t;
	size_t offsets[CHUNKS + 1];
	struct scan scan;

	(void)state;
	build(&t, offsets);
	assert_int_equal(scan_open(&scan, file_of(t.bytes.data,
						  t.bytes.size)),
			 SCAN_OPEN_OK);
	assert_int_equal(count_chunks(&scan), CHUNKS);
	assert_int_equal(scan.damage_count, 0);
	assert_int_equal(scan.good_end, t.bytes.size);
	scan_close(&scan);
	buffer_free(&t.bytes);
}

static void torn_anywhere(void **state)
{
	struct trace_write t;
	size_t offsets[CHUNKS + 1];

	(void)state;
	build(&t, offsets);
	for (size_t size = GT_HEADER_SIZE; size < t.bytes.size; size++) {
		struct scan scan;
		int whole_chunks = 0;

		while (offsets[whole_chunks + 1] <= size)
			whole_chunks++;
		assert_int_equal(scan_open(&scan, file_of(t.bytes.data,
							  size)),
				 SCAN_OPEN_OK);
		assert_int_equal(count_chunks(&scan), whole_chunks);
		assert_int_equal(scan.good_end, offsets[whole_chunks]);
		if (size == offsets[whole_chunks]) {
			assert_int_equal(scan.damage_count, 0);
		} else {
			assert_int_equal(scan.damage_count, 1);
			assert_int_equal(scan.damage[0].kind, SCAN_TORN);
			assert_int_equal(scan.damage[0].offset,
					 offsets[whole_chunks]);
			assert_int_equal(scan.damage[0].size,
					 size - offsets[whole_chunks]);
		}
		scan_close(&scan);
	}
	buffer_free(&t.bytes);
}

/* Whichever byte is flipped: only the chunk it lies in is lost. */
static void flipped_anywhere(void **state)
{
	struct trace_write t;
	size_t offsets[CHUNKS + 1];

	(void)state;
	build(&t, offsets);
	for (size_t at = GT_HEADER_SIZE; at < t.bytes.size; at++) {
		struct scan scan;
		int hit = 0;

		while (offsets[hit + 1] <= at)
			hit++;
		t.bytes.data[at] ^= 0x10;
		assert_int_equal(scan_open(&scan, file_of(t.bytes.data,
							  t.bytes.size)),
				 SCAN_OPEN_OK);
		assert_int_equal(count_chunks(&scan), CHUNKS - 1);
		assert_int_equal(scan.damage_count, 1);
		assert_int_equal(scan.damage[0].offset, offsets[hit]);
		scan_close(&scan);
		t.bytes.data[at] ^= 0x10;
	}
	buffer_free(&t.bytes);
}

static void missing_chunk(void **state)
{
	struct trace_write t;
	size_t offsets[CHUNKS + 1];
	struct scan scan;

	(void)state;
	build(&t, offsets);
	memmove(t.bytes.data + offsets[2], t.bytes.data + offsets[3],
		t.bytes.size - offsets[3]);
	assert_int_equal(scan_open(&scan, file_of(t.bytes.data, t.bytes.size -
						  offsets[3] + offsets[2])),
			 SCAN_OPEN_OK);
	assert_int_equal(count_chunks(&scan), CHUNKS - 1);
	assert_int_equal(scan.damage_count, 1);
	assert_int_equal(scan.damage[0].kind, SCAN_MISSING);
	assert_int_equal(scan.damage[0].size, 1);
	scan_close(&scan);
	buffer_free(&t.bytes);
}

/* From each place the next chunk is found, and those behind it. */
static void jumps(void **state)
{
	struct trace_write t;
	size_t offsets[CHUNKS + 1];
	struct chunk chunk;
	struct scan scan;

	(void)state;
	build(&t, offsets);
	for (size_t at = offsets[0]; at <= offsets[CHUNKS]; at++) {
		int left = 0;

		while (left < CHUNKS && offsets[CHUNKS - left - 1] >= at)
			left++;
		assert_int_equal(scan_open(&scan, file_of(t.bytes.data,
							  t.bytes.size)),
				 SCAN_OPEN_OK);
		scan_jump(&scan, at);
		assert_int_equal(count_chunks(&scan), left);
		scan_close(&scan);
	}
	assert_int_equal(scan_open(&scan, file_of(t.bytes.data,
						  t.bytes.size)),
			 SCAN_OPEN_OK);
	assert_true(scan_next(&scan, &chunk));
	scan_jump(&scan, offsets[3]);
	assert_true(scan_next(&scan, &chunk));
	assert_int_equal(chunk.offset, offsets[3]);
	assert_int_equal(count_chunks(&scan), CHUNKS - 4);
	scan_close(&scan);
	buffer_free(&t.bytes);
}

static void other_files(void **state)
{
	struct trace_write t;
	size_t offsets[CHUNKS + 1];
	struct scan scan;

	(void)state;
	build(&t, offsets);
	assert_int_equal(scan_open(&scan, file_of("", 0)), SCAN_OPEN_EMPTY);
	scan_close(&scan);
	assert_int_equal(scan_open(&scan, file_of("\177ELF", 4)),
			 SCAN_OPEN_FOREIGN);
	scan_close(&scan);
	assert_int_equal(scan_open(&scan, file_of(t.bytes.data, 20)),
			 SCAN_OPEN_DAMAGED);
	scan_close(&scan);
	t.bytes.data[17] ^= 1;
	assert_int_equal(scan_open(&scan, file_of(t.bytes.data, 200)),
			 SCAN_OPEN_DAMAGED);
	scan_close(&scan);
	buffer_free(&t.bytes);
}

/* A header that says that it is `size` bytes long, and is `given`; then the
 * chunks. Opened as what? */
static enum scan_open_result open_longer(struct scan *scan, uint32_t size,
					 uint32_t given)
{
	struct trace_write t;
	size_t offsets[CHUNKS + 1];
	struct buffer file = { 0 };
	uint64_t sum;
	enum scan_open_result result;

	build(&t, offsets);
	buffer_add(&file, t.bytes.data, GT_HEADER_SIZE);
	for (uint32_t i = GT_HEADER_SIZE; i < given; i++)
		buffer_add(&file, "x", 1);
	buffer_add(&file, t.bytes.data + GT_HEADER_SIZE,
		   t.bytes.size - GT_HEADER_SIZE);
	for (unsigned i = 0; i < 4; i++)
		file.data[12 + i] = (char)(size >> 8 * i);
	sum = XXH64(file.data, GT_HEADER_SIZE - 8, 0);
	for (unsigned i = 0; i < 8; i++)
		file.data[GT_HEADER_SIZE - 8 + i] = (char)(sum >> 8 * i);
	result = scan_open(scan, file_of(file.data, file.size));
	buffer_free(&file);
	buffer_free(&t.bytes);
	return result;
}

/* Longer than a read is, and longer than it is in truth. */
static void longer_header(void **state)
{
	struct scan scan;

	(void)state;
	assert_int_equal(open_longer(&scan, 40000, 40000), SCAN_OPEN_OK);
	assert_int_equal(scan.good_end, 40000);
	assert_int_equal(count_chunks(&scan), CHUNKS);
	assert_int_equal(scan.damage_count, 0);
	scan_close(&scan);
	assert_int_equal(open_longer(&scan, UINT32_MAX, 100),
			 SCAN_OPEN_DAMAGED);
	assert_true(scan.source.capacity < 1 << 20);
	scan_close(&scan);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(whole),
		cmocka_unit_test(torn_anywhere),
		cmocka_unit_test(flipped_anywhere),
		cmocka_unit_test(missing_chunk),
		cmocka_unit_test(jumps),
		cmocka_unit_test(other_files),
		cmocka_unit_test(longer_header),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
