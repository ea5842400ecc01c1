// LINK: random_rows.c
/*
 * test_store_readahead.c: rows that are unpacked ahead are those of a cursor,
 * in their order; what is damaged comes where it belongs; nothing is read by
 * who wants little. For ThreadSanitizer as well (make check-tsan).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "cli/store/store_readahead.h"
#include "cli/store/store_cursor.h"
#include "cli/store/store_file.h"
#include "tests/unit/cli/store/random_rows.h"

#define ALLOCS 500000
#define COLUMNS (STORE_BIT(STORE_ROW) | STORE_BIT(STORE_SIZE) | \
		 STORE_BIT(STORE_BEGIN) | STORE_BIT(STORE_LIFETIME))

static struct random_rows rows;
static int file;

static int make_rows(void **state)
{
	(void)state;
	rows = random_rows_make(31, ALLOCS);
	file = random_rows_write(&rows, 2);
	return 0;
}

static int free_rows(void **state)
{
	(void)state;
	close(file);
	random_rows_free(&rows);
	return 0;
}

/* ---- the same as a cursor's ---- */

/* Where a batch of either has come to. */
struct place_in {
	const struct store_batch *batch;
	size_t at;
};

/* *result is that of the call; true: there is a row. */
static bool go_on(struct store_cursor *cursor, struct store_readahead *ahead,
		  struct place_in *place, int *result)
{
	if (place->batch != NULL && ++place->at < place->batch->count)
		return true;
	place->at = 0;
	*result = cursor != NULL ? store_cursor_next(cursor, &place->batch) :
				   store_readahead_next(ahead, &place->batch);
	return *result == 1;
}

/* Returns how many there were. */
static size_t compare(const struct store_scan *scan, uint32_t columns,
		      unsigned threads)
{
	struct store *store = random_store(file, NULL);
	struct store_cursor *cursor = store_cursor_new(store, scan, columns);
	struct store_readahead *ahead =
		store_readahead_new(store, scan, columns, threads);
	struct place_in one = { 0 }, other = { 0 };
	int first = 1, second = 1;
	size_t count = 0;

	while (go_on(cursor, NULL, &one, &first)) {
		assert_true(go_on(NULL, ahead, &other, &second));
		for (unsigned i = 0; i < STORE_COLUMNS; i++)
			if (columns & STORE_BIT(i))
				assert_int_equal(one.batch->column[i][one.at],
						 other.batch->column[i][
							 other.at]);
		count++;
	}
	assert_false(go_on(NULL, ahead, &other, &second));
	assert_int_equal(first, 0);
	assert_int_equal(second, 0);
	assert_int_equal(store_readahead_next(ahead, &other.batch), 0);
	store_readahead_free(ahead);
	store_cursor_free(cursor);
	store_close(store);
	return count;
}

static void rows_are_those_of_a_cursor(void **state)
{
	struct store_range range = { 0, UINT64_MAX };
	const struct store_term term = { .column = STORE_SIZE,
					 .ranges = &range, .range_count = 1 };
	struct store_range stretch = { 0, UINT64_MAX };
	const struct store_term late = { .column = STORE_ROW,
					 .ranges = &stretch,
					 .range_count = 1 };
	struct store_scan scan = { .now = rows.end };

	(void)state;
	assert_int_equal(compare(&scan, COLUMNS, STORE_AHEAD_THREADS),
			 rows.count);
	assert_int_equal(compare(&scan, 0, 3), rows.count);
	assert_int_equal(compare(&scan, STORE_BIT(STORE_COLUMNS) - 1, 2),
			 rows.count);
	scan.terms = &term;
	scan.term_count = 1;
	for (unsigned threads = 0; threads <= STORE_AHEAD_THREADS; threads++)
		for (range.min = 1; range.min < 100000; range.min *= 40)
			compare(&scan, COLUMNS, threads);
	range.min = UINT64_MAX;		/* none */
	assert_int_equal(compare(&scan, COLUMNS, 2), 0);
	scan.terms = &late;
	for (stretch.min = 0; stretch.min < rows.count;
	     stretch.min += 50000)
		assert_int_equal(compare(&scan, COLUMNS, 2),
				 rows.count - stretch.min);
}

/* Chunks that a keeper has seen, by a bit each. */
struct seen {
	uint64_t last;		/* row */
	bool in_order;
	size_t rows;
};

static void look(void *owner, unsigned worker, const struct store_batch *batch,
		 uint8_t *keep)
{
	struct seen *seen = owner;

	assert_true(worker <= 1);
	for (size_t i = 0; i < batch->count; i++) {
		uint64_t row = batch->column[STORE_ROW][i];

		seen->in_order &= seen->rows == 0 || row == seen->last + 1;
		seen->last = row;
		seen->rows++;
		keep[i] = row % 3 == 0;
	}
}

static void one_thread_keeps_the_order(void **state)
{
	struct seen seen = { .in_order = true };
	const struct store_scan scan = {
		.keep = look, .keeper = &seen,
		.keep_columns = STORE_BIT(STORE_ROW),
	};
	struct store *store = random_store(file, NULL);
	struct store_readahead *ahead =
		store_readahead_new(store, &scan, COLUMNS, 1);
	const struct store_batch *batch;
	size_t count = 0;

	(void)state;
	while (store_readahead_next(ahead, &batch) == 1)
		for (size_t i = 0; i < batch->count; i++)
			assert_int_equal(batch->column[STORE_ROW][i],
					 3 * count++);
	assert_int_equal(count, (rows.count + 2) / 3);
	assert_int_equal(seen.rows, rows.count);
	assert_true(seen.in_order);
	store_readahead_free(ahead);
	store_close(store);
}

/* Who wants the first rows has those of one block looked at; who then ends in
 * the middle, no more than there is room for. */
static void little_is_read_for_few_rows(void **state)
{
	struct seen seen = { .in_order = true };
	const struct store_scan scan = {
		.keep = look, .keeper = &seen,
		.keep_columns = STORE_BIT(STORE_ROW),
	};
	struct store *store = random_store(file, NULL);
	struct store_readahead *ahead =
		store_readahead_new(store, &scan, COLUMNS, 1);
	const struct store_batch *batch;

	(void)state;
	assert_int_equal(store_readahead_next(ahead, &batch), 1);
	store_readahead_free(ahead);
	assert_int_equal(seen.rows, STORE_BATCH);
	ahead = store_readahead_new(store, &scan, COLUMNS, 1);
	seen.rows = 0;
	while (store_readahead_next(ahead, &batch) == 1 &&
	       batch->column[STORE_ROW][0] < STORE_CHUNK_ROWS)
		;
	store_readahead_free(ahead);
	/* the first chunk, that at hand, and two that are ready */
	assert_true(seen.rows <= 5 * STORE_CHUNK_ROWS);
	store_close(store);
}

/* ---- ends ---- */

/* A column of a chunk, in a file that is changed for good. */
static void damage(const struct store *store, size_t chunk,
		   enum store_column column)
{
	const struct store_chunk *at = &store->directory.chunks[chunk];
	uint64_t offset = at->offset;
	uint8_t byte;

	for (unsigned i = 0; i < column; i++)
		offset += at->parts[i].size;
	assert_true(at->parts[column].size > 0);
	assert_int_equal(pread(store->fd, &byte, 1, (off_t)offset), 1);
	byte ^= 0x40;
	assert_int_equal(pwrite(store->fd, &byte, 1, (off_t)offset), 1);
}

/* All rows before it come, then the error, with one note. */
static void damage_comes_in_its_place(void **state)
{
	const struct store_scan scan = { 0 };
	const struct store_batch *batch;

	(void)state;
	for (size_t chunk = 0; chunk < 6; chunk += 2) {
		int fd = random_rows_write(&rows, 2);
		struct notes notes = NOTES_INIT;
		struct store *store = random_store(fd, &notes);
		struct store_readahead *ahead;
		uint64_t count = 0;
		int result;

		damage(store, chunk, STORE_ADDRESS);
		damage(store, chunk + 1, STORE_ADDRESS);
		ahead = store_readahead_new(store, &scan,
					    STORE_BIT(STORE_ADDRESS) |
					    STORE_BIT(STORE_ROW), 3);
		while ((result = store_readahead_next(ahead, &batch)) == 1) {
			assert_int_equal(batch->column[STORE_ROW][0], count);
			assert_int_equal(notes.count, 0);
			count += batch->count;
		}
		assert_int_equal(result, -EBADMSG);
		assert_int_equal(count, chunk * STORE_CHUNK_ROWS);
		assert_int_equal(notes.count, 1);
		store_readahead_free(ahead);
		store_close(store);
		notes_free(&notes);
		close(fd);
	}
}

/* Nobody hears of what lies behind the last row that was wanted. */
static void damage_ahead_is_not_told(void **state)
{
	const struct store_scan scan = { 0 };
	const struct store_batch *batch;
	int fd = random_rows_write(&rows, 2);
	struct notes notes = NOTES_INIT;
	struct store *store = random_store(fd, &notes);
	struct store_readahead *ahead;

	(void)state;
	damage(store, 2, STORE_ADDRESS);
	ahead = store_readahead_new(store, &scan, STORE_BIT(STORE_ADDRESS) |
				    STORE_BIT(STORE_ROW), 2);
	do
		assert_int_equal(store_readahead_next(ahead, &batch), 1);
	while (batch->column[STORE_ROW][0] < STORE_CHUNK_ROWS);
	store_readahead_free(ahead);
	assert_int_equal(notes.count, 0);
	store_close(store);
	notes_free(&notes);
	close(fd);
}

static void it_is_cancelled(void **state)
{
	struct store *store = random_store(file, NULL);
	const struct store_batch *batch;

	(void)state;
	for (size_t max = 1; max < 90; max += 11) {
		atomic_bool stop = false;
		const struct store_scan scan = { .cancel = &stop };
		struct store_readahead *ahead =
			store_readahead_new(store, &scan, COLUMNS, 2);
		size_t count = 0;
		int result;

		while ((result = store_readahead_next(ahead, &batch)) == 1)
			atomic_store(&stop, ++count >= max);
		/* what was ready comes, and what the last chunk has left */
		assert_true(result == -ECANCELED || result == 0);
		assert_true(max > 64 || result == -ECANCELED);
		store_readahead_free(ahead);
	}
	store_close(store);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_are_those_of_a_cursor),
		cmocka_unit_test(one_thread_keeps_the_order),
		cmocka_unit_test(little_is_read_for_few_rows),
		cmocka_unit_test(damage_comes_in_its_place),
		cmocka_unit_test(damage_ahead_is_not_told),
		cmocka_unit_test(it_is_cancelled),
	};

	return cmocka_run_group_tests(tests, make_rows, free_rows);
}
