/* test_file_records.c: embedded files and totals, there and back; files whose
 * pieces do not fit. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <string.h>

#include "cli/trace/read/embedded.h"
#include "cli/trace/read/reader.h"
#include "tests/unit/trace_write.h"

#define FILE_SIZE (GT_FILE_PIECE + 12345)

static uint8_t content[FILE_SIZE];
static const uint8_t build_id[20] = "twenty bytes, at all";

struct seen {
	struct embedded embedded;
	struct trace_run run;
	struct trace_classes classes;
	struct trace_totals rows[4], freed[4];
	size_t row_count, freed_count;
};

static void take_file(void *owner, const struct trace_file *piece, uint64_t at)
{
	embedded_add(&((struct seen *)owner)->embedded, piece, at);
}

static void take_run(void *owner, const struct trace_run *run)
{
	((struct seen *)owner)->run = *run;
}

static void take_totals(void *owner, const struct trace_totals *totals)
{
	struct seen *seen = owner;

	assert_true(seen->row_count < 4);
	seen->rows[seen->row_count++] = *totals;
}

static void take_freed(void *owner, const struct trace_totals *freed)
{
	struct seen *seen = owner;

	assert_true(seen->freed_count < 4);
	seen->freed[seen->freed_count++] = *freed;
}

static void take_classes(void *owner, const struct trace_classes *classes)
{
	((struct seen *)owner)->classes = *classes;
}

static void take_line(void *owner, unsigned type, const char *key,
		      const char *value)
{
	(void)owner, (void)type, (void)key, (void)value;
}

static int read_back(struct trace_write *t, struct seen *seen, char *path,
		     struct reader_report *report)
{
	const struct reader_sink sink = {
		.owner = seen, .line = take_line, .file = take_file,
		.run = take_run, .totals = take_totals, .classes = take_classes,
		.freed = take_freed,
	};

	trace_write_line(t, GT_END, "reason", "exit");
	trace_write_file(t, path);
	buffer_free(&t->bytes);
	return reader_run(path, &sink, report, NULL);
}

static void put_piece(struct trace_write *t, struct trace_file *file,
		      uint64_t offset, uint64_t size, int level)
{
	struct buffer payload = { 0 };

	file->offset = offset;
	file->piece_size = size;
	compose_file(&payload, file, content + offset, level);
	trace_write_chunk(t, (struct chunk){ .type = GT_FILE }, &payload);
}

static struct trace_file a_file(uint32_t number, uint64_t size)
{
	return (struct trace_file){
		.number = number, .kind = GT_FILE_DEBUG, .size = size,
		.build_id = build_id, .build_id_size = sizeof(build_id),
		.path = "/usr/lib/x", .path_size = 10,
	};
}

static void files_come_back(void **state)
{
	char path[] = "/tmp/gnomon-unit-XXXXXX";
	struct trace_file file = a_file(7, FILE_SIZE);
	struct seen seen = { 0 };
	struct reader_report report;
	struct trace_write t;
	uint8_t *back = malloc(FILE_SIZE + 1);
	int fd;

	(void)state;
	for (size_t i = 0; i < FILE_SIZE; i++)
		content[i] = (uint8_t)(i * i >> 7);
	trace_write_begin(&t);
	trace_write_line(&t, GT_INFO, "pid", "1");
	put_piece(&t, &file, 0, GT_FILE_PIECE, 3);
	put_piece(&t, &file, GT_FILE_PIECE, FILE_SIZE - GT_FILE_PIECE, 0);
	assert_int_equal(read_back(&t, &seen, path, &report), 0);
	assert_int_equal(seen.embedded.count, 1);
	assert_int_equal(embedded_find(&seen.embedded, build_id, 20, NULL), 0);
	assert_true(embedded_find(&seen.embedded, build_id, 19, NULL) ==
		    EMBEDDED_NONE);
	assert_true(embedded_find(&seen.embedded, NULL, 0, "/usr/lib/x") ==
		    EMBEDDED_NONE);
	fd = embedded_open(&seen.embedded, 0, path, report.trace_id);
	assert_true(fd >= 0);
	assert_int_equal(read(fd, back, FILE_SIZE + 1), FILE_SIZE);
	assert_memory_equal(back, content, FILE_SIZE);
	close(fd);
	assert_int_equal(embedded_open(&seen.embedded, 0, path, 1), -ESTALE);
	unlink(path);
	assert_int_equal(embedded_open(&seen.embedded, 0, path,
				       report.trace_id), -ENOENT);
	embedded_free(&seen.embedded);
	free(back);
}

/* A hole, a size that changes, a piece that comes twice, a claim of exabytes;
 * the trace is changed after it was read. */
static void pieces_that_do_not_fit(void **state)
{
	char path[] = "/tmp/gnomon-unit-XXXXXX";
	struct trace_file file = a_file(1, 3000), other = a_file(2, 3000);
	struct trace_file huge = a_file(3, UINT64_MAX / 2);
	struct seen seen = { 0 };
	struct reader_report report;
	struct trace_write t;
	FILE *f;

	(void)state;
	trace_write_begin(&t);
	trace_write_line(&t, GT_INFO, "pid", "1");
	put_piece(&t, &file, 0, 1000, 1);
	put_piece(&t, &file, 2000, 1000, 1);
	put_piece(&t, &file, 0, 1000, 1);
	file.size = 2000;
	put_piece(&t, &file, 1000, 1000, 1);
	put_piece(&t, &other, 0, 3000, 0);
	put_piece(&t, &huge, 0, 1000, 1);
	assert_int_equal(read_back(&t, &seen, path, &report), 0);
	assert_int_equal(seen.embedded.count, 3);
	assert_int_equal(seen.embedded.refused, 3);
	assert_int_equal(embedded_open(&seen.embedded, 0, path,
				       report.trace_id), -EBADMSG);
	assert_int_equal(embedded_open(&seen.embedded, 2, path,
				       report.trace_id), -EFBIG);
	assert_int_equal(embedded_find(&seen.embedded, build_id, 20, NULL), 1);
	f = fopen(path, "r+");
	fseek(f, (long)seen.embedded.files[1].pieces[0].at + 1000, SEEK_SET);
	fputc('~', f);
	fclose(f);
	assert_int_equal(embedded_open(&seen.embedded, 1, path,
				       report.trace_id), -EBADMSG);
	unlink(path);
	embedded_free(&seen.embedded);
}

static void totals_come_back(void **state)
{
	char path[] = "/tmp/gnomon-unit-XXXXXX";
	struct trace_run run = { .value = { 1, 2, UINT64_MAX, 1, 5, 6 } };
	static struct trace_totals rows[3], before[3];
	struct trace_classes classes = { 0 };
	static struct seen seen;
	struct buffer payload = { 0 };
	struct reader_report report;
	struct trace_write t;

	(void)state;
	memset(&seen, 0, sizeof(seen));
	for (unsigned i = 0; i < 3; i++) {
		rows[i].context = i == 1 ? UINT32_MAX : i;
		rows[i].thread = i * 100;
		for (unsigned k = 0; k < GT_TOTALS_VALUES; k++)
			rows[i].value[k] = UINT64_MAX >> (i * 20 + k);
	}
	trace_write_begin(&t);
	trace_write_line(&t, GT_INFO, "pid", "1");
	compose_run(&payload, &run);
	trace_write_chunk(&t, (struct chunk){ .type = GT_TOTALS }, &payload);
	for (unsigned i = 0; i < GT_CLASSES; i += 32) {
		for (unsigned k = 0; k < GT_SIZE_VALUES; k++)
			classes.size[i][k] = UINT64_MAX >> (i / 2 + k);
		classes.lifetime[i][0] = i + 1;
		classes.lifetime[i][1] = i;
	}
	compose_classes(&payload, &classes);
	trace_write_chunk(&t, (struct chunk){ .type = GT_TOTALS }, &payload);
	compose_totals(&payload, rows, 3, 3);
	memcpy(before, rows, sizeof(rows));
	trace_write_chunk(&t, (struct chunk){ .type = GT_TOTALS }, &payload);
	for (unsigned i = 0; i < 3; i++)
		memset(rows[i].value + GT_FREED_VALUES, 0,
		       sizeof(rows[i].value) - GT_FREED_VALUES * 8);
	compose_freed(&payload, rows, 3, 3);
	trace_write_chunk(&t, (struct chunk){ .type = GT_FREED }, &payload);
	assert_int_equal(read_back(&t, &seen, path, &report), 0);
	unlink(path);
	assert_int_equal(seen.freed_count, 3);
	assert_memory_equal(seen.freed, rows, sizeof(rows));
	memcpy(rows, before, sizeof(rows));
	assert_memory_equal(&seen.run, &run, sizeof(run));
	assert_memory_equal(&seen.classes, &classes, sizeof(classes));
	assert_int_equal(seen.row_count, 3);
	assert_memory_equal(seen.rows, rows, sizeof(rows));
}

/* Counts and classes that lead beyond: malformed, and nothing else. */
static void nonsense_is_refused(void **state)
{
	static const uint8_t payloads[][8] = {
		{ 5 }, { 1, 65 }, { 2, 65 }, { 2, 0, 1, 4, 4, 0, 0, 66 },
		{ 2, 0, 1, 5, 5, 0, 0, 1 }, { 3, 1, 66 }, { 3, 1, 1, 65, 1 },
		{ 3, 65 }, { 4, 65 }, { 4, 1, 66 }, { 4, 1, 1, 65, 1 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(payloads) / sizeof(payloads[0]); i++) {
		char path[] = "/tmp/gnomon-unit-XXXXXX";
		struct buffer payload = { 0 };
		static struct seen seen;
		struct reader_report report;
		struct trace_write t;

		trace_write_begin(&t);
		trace_write_line(&t, GT_INFO, "pid", "1");
		buffer_add(&payload, (const char *)payloads[i], 8);
		trace_write_chunk(&t, (struct chunk){ .type = GT_TOTALS },
				  &payload);
		assert_int_equal(read_back(&t, &seen, path, &report), 3);
		assert_int_equal(report.malformed, 1);
		unlink(path);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(files_come_back),
		cmocka_unit_test(pieces_that_do_not_fit),
		cmocka_unit_test(totals_come_back),
		cmocka_unit_test(nonsense_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
